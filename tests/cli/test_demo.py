"""`pagemind demo` does what it shows: every number it prints is checked against the others."""

import io
import json
import math
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import warm
from rich.console import Console

from pagemind.runtime.cli.demo_screen import Screen
from pagemind.runtime.demo.asking import Answered
from pagemind.runtime.demo.phrases import QUESTIONS
from pagemind.runtime.demo.talk import EXCHANGES, talk
from pagemind.runtime.demo.walk import QUESTION, TOLD, Step, Walked

ROOT = Path(__file__).resolve().parents[2]
DEMO = "from pagemind.runtime.cli.app import main; raise SystemExit(main())"
Report = dict[str, Any]


def run(*arguments: str, temporary: Path) -> str:
    environ = {**os.environ, "TMPDIR": str(temporary)}
    code, out, errors = warm.run(["-c", DEMO, "demo", *arguments], timeout=300, env=environ)
    assert code == 0, errors
    return out


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def report(temporary: Path) -> Report:
    found: Report = json.loads(run("--json", temporary=temporary))
    return found


def test_the_report_is_as_documented(report: Report) -> None:
    """docs/json.md has its keys and no others."""
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    section = text.partition("\n## demo\n")[2].partition("\n## ")[0]
    documented = set(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE))
    assert keys({k: v for k, v in report.items() if k != "schema"}) == documented


def keys(value: Any, path: str = "") -> set[str]:
    """`a.b[].c` for every value; lists of texts and arguments of calls stay whole."""
    if isinstance(value, dict) and not path.endswith("arguments"):
        return {k for name, v in value.items() for k in keys(v, f"{path}.{name}".lstrip("."))}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return {k for each in value for k in keys(each, f"{path}[]")}
    return {path}


def test_every_acknowledged_message_is_there_once(report: Report) -> None:
    """600, 600, 0: a kill in the middle of a flush loses nothing and doubles nothing."""
    check = report["check"]
    assert report["schema"] == 1
    assert report["messages"] == 2 * EXCHANGES == 600
    assert (check["acknowledged"], check["found"], check["twice"]) == (600, 600, 0)


def test_every_message_is_in_the_window_or_in_one_page(report: Report) -> None:
    """What was paged out is in exactly one page, and the window holds the rest."""
    check = report["check"]
    assert check["homeless"] == 0
    assert check["in_window"] + check["in_pages"] == 600
    assert 0 < check["in_window"] < check["in_pages"]


def test_the_kill_was_a_kill_in_a_flush(report: Report) -> None:
    """The process died of a signal, half-way, and what it had acknowledged was on disk."""
    kill = report["kill"]
    assert (kill["signal"], kill["during"]) == ("SIGKILL", "flush")
    assert kill["exit_code"] != 0
    assert kill["exchange"] >= EXCHANGES // 2
    assert 1 < kill["flush"] <= report["pour"]["flushes"]
    assert kill["acknowledged"] == 2 * (kill["exchange"] - 1)
    # The exchange under way may be on disk with its question, and with its answer.
    assert 0 <= kill["found_at_start"] - kill["acknowledged"] <= 2
    assert kill["reopened_ms"] > 0


def test_what_is_sent_again_is_answered_from_the_store(report: Report) -> None:
    """A client that repeats acknowledged messages with their ids gets the same answers."""
    kill = report["kill"]
    assert kill["resent"] == kill["answered_from_store"] == 6


def test_the_window_held_and_cost_less_than_replay(report: Report) -> None:
    """No request was larger than what is usable; all together are a fraction of replay."""
    pour = report["pour"]
    assert report["window"] == 2048
    assert pour["max_prompt_tokens"] <= pour["usable"] <= 2048
    assert pour["turns"] == EXCHANGES
    assert pour["model_calls"] >= EXCHANGES
    assert pour["tokens_sent"] <= pour["model_calls"] * pour["usable"]
    assert pour["tokens_sent"] < pour["tokens_replay"]
    ratio = pour["tokens_sent"] / pour["tokens_replay"]
    assert pour["tokens_vs_replay"] == pytest.approx(ratio, abs=1e-4)
    assert pour["tokens_vs_replay"] < 0.3


def test_the_warnings_were_heeded_and_flushes_made_pages(report: Report) -> None:
    """Each warning brought a passage, each flush its pages; the killed flush left none."""
    pour, check = report["pour"], report["check"]
    assert pour["warnings"] == pour["archived"] > 10
    assert 0 < check["passages"] <= pour["archived"]  # the same text is stored once
    assert pour["flushes"] > 10
    assert check["pages"] == pour["pages"] >= 2 * pour["flushes"]


def test_prepared_questions_are_answered_word_for_word(report: Report) -> None:
    """Search and page-in quote what was said, to the letter and with its time."""
    answers = dict(QUESTIONS)
    said = {each.said: each.at for each in talk()}
    assert len(report["questions"]) == 3
    for item in report["questions"]:
        assert answers[item["question"]] in item["quote"]
        assert item["exact"] is True
        assert item["quote"] in item["answer"]
        assert item["message"] in item["answer"]
        assert item["speaker"] == "Ines"
        at = said[item["quote"]]
        assert item["said_at"].startswith(f"{at:%Y-%m-%dT%H:%M}")
        assert f"{at.day} {at:%B %Y}" in item["answer"]
        names = [call["name"] for call in item["tool_calls"]]
        assert names[0] == "recall_search"
        assert names[-1] == "page_in"
        assert item["tool_calls"][-1]["arguments"]["id"] == item["page"]


def test_simpler_memories_have_lost_it(report: Report) -> None:
    """A window of the same size ends long before, and the summary lacks what was asked for."""
    answers = dict(QUESTIONS)
    for item in report["questions"]:
        window, summary = item["sliding_window"], item["summary"]
        assert window["knows"] is False
        assert window["messages"] < item["messages_ago"]
        assert item["said_at"] < window["since"]
        assert set(summary["has"]) < set(summary["telling_words"])
        assert answers[item["question"]] not in summary["has"]
        assert summary["tokens"] > 0


def test_an_old_page_is_reached_by_walking_the_tree(report: Report) -> None:
    """From the table down by page_in alone, within the bound, to the words of the minute asked."""
    walk = report["walk"]
    assert walk["question"] == QUESTION
    assert walk["found"] is True
    assert walk["quote"] == TOLD.said
    *directories, page = walk["ids"]
    assert directories[-1] == "d1"  # the oldest; before it the root, where the table is short
    assert set(directories) <= {"d0", "d1"}
    assert 1 <= int(page.removeprefix("p")) <= 16
    assert walk["pages"] >= report["check"]["pages"] > 16
    assert walk["bound"] == math.ceil(math.log(walk["pages"], 16)) + 1 == 3
    assert len(walk["ids"]) == walk["reads"] <= walk["bound"]
    assert walk["reads"] <= walk["calls"]
    assert TOLD.number < EXCHANGES // 10


def test_the_walk_is_shown_line_by_line() -> None:
    """Each read has a line with its id, span and gist; then come the words and the bound."""
    at = datetime(2026, 3, 4, 9, 31, tzinfo=UTC)
    answered = Answered(
        *(QUESTION, "You said: “teal” (m19, page p4)"),
        calls=tuple(("page_in", {"id": id}, "") for id in ("d1", "d1", "p4")),
        **{"quote": TOLD.said, "message": "m19", "page": "p4", "speaker": "Ines", "said_at": at},
        **{"exact": True, "messages_ago": 600, "window_knows": False, "window_messages": 20},
        **{"window_since": at, "telling": (), "summary_has": (), "summary_tokens": 0},
    )
    steps = (
        Step("d1", "[2026-03-03 10:04 – 2026-03-08 10:09]", "euros, until"),
        Step("p4", "[2026-03-04 09:27–09:32]", "“The new dehumidifier” " + "and so on " * 9),
    )
    console = Console(width=100, record=True, file=io.StringIO())
    Screen(console).walk(Walked(answered, steps, pages=178, bound=3))
    shown = console.export_text()
    assert "→ d1      [2026-03-03 10:04 – 2026-03-08 10:09] euros, until" in shown
    assert "→ p4      [2026-03-04 09:27–09:32] “The new dehumidifier” and so on" in shown
    assert "“teal”" in shown
    assert "2 reads, where the bound is ⌈log16(178 pages)⌉ + 1 = 3." in shown
    assert "3 calls" in shown


def test_nothing_is_left_behind(report: Report, temporary: Path) -> None:
    """The temporary home is gone when the demo ends."""
    assert report["home"] is None
    assert not list(temporary.glob("pagemind-demo-*"))


def test_a_home_with_a_demo_in_it_is_refused(tmp_path: Path) -> None:
    """A second demo would mix two talks; the home stays as it is."""
    from pagemind.runtime.cli.demo import demo
    from pagemind.runtime.demo.stage import AGENT, definition
    from pagemind.runtime.errors import AgentExists
    from pagemind.runtime.runtime import Runtime

    with Runtime(tmp_path) as runtime:
        runtime.create(AGENT, definition())
    with pytest.raises(AgentExists, match="already"):
        demo(home=str(tmp_path))
    with Runtime(tmp_path) as runtime:
        assert runtime.home.exists(AGENT)


def test_in_the_end_it_is_erased_and_proved(report: Report) -> None:
    """What the walk quoted is gone with what repeated it; asked again, nothing is quoted."""
    erasure = report["erasure"]
    assert erasure["question"] == QUESTION
    assert (erasure["verified"], erasure["gone"], erasure["quote"]) == (True, True, "")
    assert erasure["erased"]["messages"] >= 2
    assert erasure["looked"]["rows"] > 600
