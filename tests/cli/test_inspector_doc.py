"""docs/inspector.md shows a real run: its words to the letter, numbers and ids of their kind."""

import re
from pathlib import Path

from cli_kit import Cli

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.inspector.page import asset
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, call

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "inspector.md").read_text(encoding="utf-8")
HARBOUR = """
name: ada
system: You keep the log of a small harbour. You are brief and exact.
embedding: none
context_window: 4096
blocks:
  persona: {value: "I keep the harbour log.", limit: 1000, description: Who I am.}
  human: {value: "Sam; the boat is called Nomad.", limit: 2000, description: Whom I talk to.}
tools: [core_append, core_edit, recall_search, archival_insert, page_in, page_pin]
prefetch: {tokens: 0}
timezone: UTC
"""
BOATS = "Nomad Zephyr Kittiwake Halcyon Petrel Marlin Curlew Osprey".split()


def talked(home: Path) -> None:
    """An agent that was told of boats coming and going until pages had left its window."""
    script = [
        call("archival_insert", content="Berth 42 is Nomad's."),
        *(f"Noted: {BOATS[number % 8]}, berth {number % 30}." for number in range(200)),
    ]
    model = ScriptedModel(
        script,
        summary=lambda request: "Sam logs boats that come and go; Nomad lies in berth 42.",
        count=lambda text: len(text) // 4 + 1,
    )
    with Runtime(home) as runtime:
        agent = runtime.agent("ada", definition=parse_definition(HARBOUR), model=model)
        for number in range(90):
            agent.send(
                f"{BOATS[number % 8]} came in at {8 + number % 9}:15 with {number % 5 + 1} aboard,"
                f" took berth {number % 30} and wants water, a mechanic for the engine, and the"
                " forecast for tomorrow."
            )
        agent.queue_manager.pinning.pin("m2")
        agent.queue_manager.flush(None)
        for number in range(24):
            agent.send(f"{BOATS[number % 8]} left at {8 + number % 9}:40 and paid for the night.")


def kind(text: str) -> str:
    """The text without what differs from run to run: numbers, how many ids, how long a bar is."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "DATE", text)
    text = re.sub(r" \([\d,]+ not in LanceDB yet\)", "", text)  # they are on their way
    text = re.sub(r"% (normal|warn|flush);", "% LEVEL;", text)
    text = re.sub(r"([█▓▚░▒])\1*", r"\1", text)
    text = re.sub(r"[\d,.]*\d", "0", text)
    text = re.sub(r"\b([mpd]0)(–m0)?(, [mpd]0(–m0)?)*( and 0 more)?", "IDS", text)
    return " ".join(text.split())


def test_the_page_shows_a_real_run(cli: Cli) -> None:
    """Every word that it shows of `pagemind inspect` is one that is printed."""
    talked(cli.home)
    (shown,) = re.findall(r"```console\n\$ pagemind inspect ada\n(.*?)```", PAGE, re.DOTALL)
    printed = cli("inspect", "ada").out
    assert kind(shown) == kind(printed), printed


def test_every_view_and_key_of_the_page_is_told() -> None:
    """The document names the views and the keys that the page has."""
    html = asset("page.html")
    for name in re.findall(r'<a href="#\w+">([\w ]+)</a>', html):
        assert f"**{name}**" in PAGE, name
    for key in re.findall(r"<kbd>(\S+?)</kbd>", html):
        assert f"`{key}`" in PAGE, key
