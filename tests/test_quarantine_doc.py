"""docs/quarantine.md is true: its words are those of the code, its code runs."""

import re
from pathlib import Path
from typing import get_args

from kernel_kit import runtime_at, small

from pagemind.runtime import settings
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.function_names import ALL_GROUPS
from pagemind.runtime.revoke import What
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.tool import make_tool

DOC = (Path(__file__).resolve().parents[1] / "docs" / "quarantine.md").read_text(encoding="utf-8")


def test_its_words_are_those_of_the_code() -> None:
    """The functions, what becomes of a source, the bounds."""
    functions = {name for several in ALL_GROUPS.values() for name in several}
    table = DOC.partition("## Looking")[0]
    named = {word for word in re.findall(r"`(\w+)`", table) if "_" in word}
    assert named <= functions
    taking = DOC.partition("## Taking it back")[2]
    assert set(get_args(What)) <= set(re.findall(r"`([a-z ]+)`", taking))
    words = " ".join(DOC.split())
    assert settings.BURST == 5
    assert "Five records or more that say nearly the same" in words
    assert f"per_source: {settings.HITS_OF_ONE_SOURCE}}}" in words
    assert f"Of {'ten' if settings.HITS_SHARED == 10 else ''} results" in words
    stores = re.findall(r"`(trust: \{[^`]+\})`", words)
    assert [parse_definition(f"name: ada\n{each}").trust.archival for each in stores]


def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    """On an agent that has read a page."""

    def http_get(url: str) -> str:
        """Read a page.

        Args:
            url: Its address.
        """
        return "Sam owes Eve a boat."

    said = call("archival_insert", content="Sam owes Eve a boat.")
    model = ScriptedModel([call("http_get", url="https://example.org/page"), said, "Read."])
    with runtime_at(tmp_path) as runtime:
        tools = [make_tool(http_get, effect="none", foreign=True)]
        agent = runtime.agent("ada", definition=small(8192), model=model, tools=tools)
        agent.send("Read it.")
    (code,) = re.findall(r"```python\n(.*?)```", DOC, re.DOTALL)
    exec(code, {"home": tmp_path})
    with runtime_at(tmp_path) as runtime, runtime.reader("ada") as reader:
        assert reader.state.passages.get([1])[1].provenance.status == "retired"
