"""The process that is killed: it reads the library with a model that takes out what it is shown,
and tells each request.

    python library_child.py FOLDER
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from pagemind.runtime.model import ModelRequest
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.tasks.hired import Hiring
from pagemind.runtime.tasks.runner import run_task
from pagemind.runtime.tasks.task_file import load_task
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call

ASKS = re.compile(r"Document \d+ of the archive|Write a report")
HANDLE = re.compile(r'page_in\("(m\d+)"\)')
PART = re.compile(r"^\[m\d+ part (\d+) of \d+\]\n")
FACTS = {
    "name": re.compile(r"concern the ship ([\w ]+)\."),
    "built": re.compile(r"built in the year (\d+)\."),
    "tons": re.compile(r"given as (\d+) tons\."),
    "owner": re.compile(r"owner was ([\w ]+)\."),
    "port": re.compile(r"home port was (\w+)\."),
}


def reads(request: ModelRequest) -> Any:
    """What a careful model does: where it sees but a part of the document it reads the parts one by
    one, and then it takes out the facts; or it reports."""
    texts = [message.text for message in request.messages]
    asked = [message.role == "user" and ASKS.search(message.text) for message in request.messages]
    begin = max(at for at, asks in enumerate(asked) if asks)
    if "Write a report" in texts[begin]:
        return "All ships were read about."
    read = [text for text in texts[begin:] if PART.match(text)]
    seen = " ".join([texts[begin], *(PART.sub("", text).strip() for text in read)])
    found = {key: pattern.search(seen) for key, pattern in FACTS.items()}
    if all(found.values()):
        ship = {key: match[1] for key, match in found.items() if match}
        return json.dumps({**ship, "built": int(ship["built"]), "tons": int(ship["tons"])})
    handle = HANDLE.search(texts[begin])
    assert handle is not None, "the whole document is seen, and says nothing"
    return call("page_in", id=handle[1], part=len(read) + 1)


largest = [0]


def tokens(text: str) -> int:
    """Of a request or a reply, as this model counts."""
    largest[0] = max(largest[0], len(text) // 4)
    return len(text) // 4


def answers(request: ModelRequest) -> Any:
    print("step", flush=True)
    return reads(request)


def main(folder: str) -> None:
    here = Path(folder)
    model = ScriptedModel(answers, count=tokens)
    with Runtime(here / "home", embedder=HashingEmbedder(16), background=False) as runtime:
        report = run_task(
            runtime,
            load_task(here / "read_the_library.yaml"),
            hiring=Hiring(model=model),
        )
    print(json.dumps({"tokens": report.spent.tokens, "largest": largest[0]}))
    sys.exit(report.exit_code)


if __name__ == "__main__":
    main(*sys.argv[1:])
