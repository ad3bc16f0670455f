"""What runs skills in the confined process: its text goes there, with what is asked, as code.

Each skill has a namespace of its own with the skills that it calls. How it ended is the last line
of the output, after a word that only this run knows. Nothing of pagemind is imported.
"""

import inspect
import json
import linecache
from typing import Any


def main(asked: "dict[str, Any]", word: str) -> None:
    """Load the skills, then run the tests or the skill."""
    functions: dict[str, Any] = {}
    for skill in asked["skills"]:
        space = {"__name__": skill["name"], **{each: functions[each] for each in skill["calls"]}}
        execute(skill["code"], skill["name"], space)
        functions[skill["name"]] = space[skill["name"]]
    if "tests" in asked:
        space = {"__name__": "tests", **functions}
        execute(asked["tests"], "tests", space)
        for name, test in list(space.items()):
            if name.startswith("test_") and inspect.isfunction(test):
                test()
        tell(word, "passed", None)
        return
    function = functions[asked["name"]]
    try:
        inspect.signature(function).bind(**asked["arguments"])
    except TypeError as error:
        tell(word, "arguments", str(error))
        return
    tell(word, "result", function(**asked["arguments"]))


def execute(code: str, name: str, space: "dict[str, Any]") -> None:
    """Run code in a namespace; a traceback shows its lines."""
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    exec(compile(code, name, "exec"), space)  # what is run here is confined by the process


def tell(word: str, kind: str, value: Any) -> None:
    """The last line."""
    print(f"\n{word}{json.dumps({'kind': kind, 'value': value}, default=repr)}", flush=True)
