"""Directories on disk: made in the flush, kept for ever, checked and made anew by a repair."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernel_kit import agent_at, runtime_at, sentence, small
from laws import holds
from page_kit import page as a_page

from pagemind.runtime.cli.doctor_deep import mend
from pagemind.runtime.clock import FrozenClock, SystemClock
from pagemind.runtime.finding import Finding
from pagemind.runtime.invariants import check_state
from pagemind.runtime.settings import HEAT_DECAY, HEAT_HIT
from pagemind.runtime.state.state import State
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.tokens import TokenCounter

count = TokenCounter().count
PAGES = 40


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    state = State(tmp_path, FrozenClock())
    yield state
    state.close()


def grow(state: State, pages: int) -> None:
    """So many pages more, one after the other."""
    first = state.pages.last_number + 1
    for number in range(first, first + pages):
        state.pages.add([a_page(number)], line=1, epoch=1)
        state.pages.close_directories(count, line=1, epoch=1)


def tree(state: State) -> str:
    """All of it, for comparing."""
    nodes = [*state.pages.all(), *state.pages.directories()]
    return json.dumps(
        [[n.short_id, n.parent, n.first_seq, n.last_seq, n.gist, list(n.keywords)] for n in nodes]
    )


def test_the_sixteenth_sibling_closes_a_directory(state: State) -> None:
    """Not before; its parent column says so."""
    grow(state, 15)
    assert state.pages.directories() == []
    grow(state, 1)
    assert [page.parent for page in state.pages.all()] == [1] * 16
    assert [top.short_id for top in state.pages.tops()] == ["d1"]
    grow(state, 240)
    assert [top.short_id for top in state.pages.tops()] == ["d17"]
    assert state.pages.count() == 256


def test_closed_directories_do_not_change(state: State) -> None:
    """Whatever comes after."""
    grow(state, 40)
    before = [(d, state.pages.children(d.number)) for d in state.pages.directories()]
    grow(state, 300)
    after = [(d, state.pages.children(d.number)) for d in state.pages.directories()][:2]
    assert [(d.gist, [c.number for c in held]) for d, held in before] == [
        (d.gist, [c.number for c in held]) for d, held in after
    ]


def test_looking_at_the_tree_reads_few_rows(state: State) -> None:
    """The indices are used: no look at the tops or children goes through all pages."""
    for sql in (
        "SELECT * FROM pages WHERE parent IS NULL ORDER BY first_seq",
        "SELECT * FROM pages WHERE parent = 3 ORDER BY first_seq",
        "SELECT * FROM pages WHERE heat > 0 ORDER BY heat_turn DESC LIMIT 256",
        "SELECT level, count(*) AS tops FROM pages WHERE parent IS NULL GROUP BY level",
        "SELECT * FROM pages INDEXED BY pages_author WHERE gist_author = 'runtime'"
        " AND kind = 'page' ORDER BY number DESC LIMIT 8",
    ):
        plan = " ".join(row["detail"] for row in state.database.rows(f"EXPLAIN QUERY PLAN {sql}"))
        assert "USING INDEX pages_" in plan or "USING COVERING INDEX pages_" in plan, plan


def test_heat_rises_with_reads_and_decays_by_the_turn(state: State) -> None:
    """What was read of late is hotter than what was read often long ago."""
    grow(state, 20)
    for _ in range(3):
        state.pages.warm(2)
    state.pages.warm(1, kind="directory")
    assert [page.short_id for page in state.pages.hot(4)] == ["p2", "d1"]
    turn(state, 10)
    state.pages.warm(9, 2.0)
    assert [page.short_id for page in state.pages.hot(4)] == ["p9", "p2"]
    heat = {page.number: page.heat for page in state.pages.all() if page.heat}
    assert heat[9] == 2
    assert heat[2] == pytest.approx(3 * HEAT_DECAY**10)


def turn(state: State, number: int) -> None:
    state.database.write(
        "INSERT INTO turns (turn, event, conversation, speaker, first_seq, started_at, ended_at,"
        " stop_reason) VALUES (?, 'x', 1, 'Sam', 1, '', '', 'answered')",
        (number,),
    )


# --- in an agent ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose agent has some forty pages."""
    home = tmp_path_factory.mktemp("directories") / "home"
    model = ScriptedModel(after="Noted.", summary=lambda _: "They talked.")
    with agent_at(home, model, small(1600, "page_in")) as agent:
        number = 0
        while agent.state.pages.count() < PAGES:
            agent.send(sentence(number, 60))
            number += 1
        holds(agent)
        assert check_state(agent.state) == []
    return home


def database(home: Path) -> Path:
    return next(home.glob("agents/*/state.db"))


def copied(used: Path, tmp_path: Path, *changes: str) -> Path:
    """The same home after some changes by hand."""
    home = tmp_path / "home"
    for path in [used / "home.db", database(used)]:
        target = home / path.relative_to(used)
        target.parent.mkdir(parents=True, exist_ok=True)
        with sqlite3.connect(path) as source, sqlite3.connect(target) as copy:
            source.backup(copy)
            for change in changes if path.name == "state.db" else ():
                copy.execute(change)
    return home


def test_a_flush_makes_them(used: Path, tmp_path: Path) -> None:
    """They are there when an agent is opened again, and stand in its table, or what lists them."""
    with runtime_at(copied(used, tmp_path)) as runtime, runtime.reader("ada") as reader:
        assert len(reader.state.pages.directories()) == PAGES // 16
        assert {"d0", "d1"} & {row.split()[0] for row in reader.context.table.splitlines()}


def test_the_walk_down_reaches_the_first_page(used: Path, tmp_path: Path) -> None:
    """From the table by page_in alone, each answer naming the next."""
    script = [call("page_in", id="d1"), call("page_in", id="p1"), "Found."]
    model = ScriptedModel(script, after="Yes.", summary=lambda _: "They talked.")
    with agent_at(copied(used, tmp_path), model, small(1600, "page_in"), SystemClock()) as agent:
        agent.send("What was the first fact?")
        asked = [r for r in model.requests if r.purpose == "turn"]
        assert any("p1 [" in m.text for m in asked[1].messages if m.role == "tool")
        assert any("K0000" in m.text for m in asked[2].messages if m.role == "tool")
        agent.flush()
        assert "[read d1 part 1]" in {m.text for m, _, _ in agent.state.journal.range(1, 999)}
        holds(agent)


BREACHES = [
    "UPDATE pages SET parent = NULL WHERE kind = 'page' AND number = 3",
    "UPDATE pages SET parent = 2 WHERE kind = 'page' AND number = 3",
    "UPDATE pages SET parent = 99 WHERE kind = 'page' AND number = 3",
    "UPDATE pages SET last_seq = last_seq - 1 WHERE kind = 'directory' AND number = 1",
    "UPDATE pages SET tokens = 1 WHERE kind = 'directory' AND number = 2",
    "DELETE FROM pages WHERE kind = 'directory' AND number = 1",
]


@pytest.mark.parametrize("breach", BREACHES)
def test_a_breach_is_found_and_repaired(used: Path, tmp_path: Path, breach: str) -> None:
    """Directories are made from pages alone: making them anew gives the same ones again."""
    with runtime_at(copied(used, tmp_path / "whole")) as runtime, runtime.reader("ada") as reader:
        wanted = tree(reader.state)
    home = copied(used, tmp_path, breach)
    with runtime_at(home) as runtime:
        with runtime.reader("ada") as reader:
            found = check_state(reader.state)
        assert {f.repair for f in found if f.check == "directories"} == {"directories"}
        with runtime.writer("ada") as writer:
            writer.state.pages.rebuild_directories(count)
            assert tree(writer.state) == wanted
            assert check_state(writer.state) == []


def test_the_doctor_repairs_them(used: Path, tmp_path: Path) -> None:
    """What `doctor --deep --repair` does about a broken tree, and says of it."""
    home = copied(used, tmp_path, BREACHES[0])
    with runtime_at(home) as runtime:
        with runtime.reader("ada") as reader:
            found = check_state(reader.state)
        told = list(mend(runtime, "ada", found, 0.0))
        assert any(line.startswith("directories of pages made anew") for line in told)
        with runtime.reader("ada") as reader:
            assert check_state(reader.state) == []


def test_what_a_search_shows_gets_warmer(tmp_path: Path) -> None:
    """The pages of its results: less than by reading them."""
    model = ScriptedModel(after="Noted.", summary=lambda _: "They talked.")
    with agent_at(tmp_path, model, small(2400, "page_in", "recall_search")) as agent:
        for number in range(6):
            agent.send(sentence(number))
        agent.flush()
        model._answers = iter([call("recall_search", query="K0003"), "Found."])
        agent.send("What is item three worth?")
        journal = agent.state.journal
        said = next(m.seq for m, _, _ in journal.range(1, 12) if "K0003" in m.text)
        warm = {page.number: page.heat for page in agent.state.pages.all() if page.heat}
        assert agent.state.pages.of([said])[said] in warm
        assert max(warm.values()) <= HEAT_HIT


def test_a_home_without_directories_gets_them_when_it_is_opened(used: Path, tmp_path: Path) -> None:
    """The first version had none: the same are made as if they had always been."""
    bare = [
        "UPDATE pages SET parent = NULL",
        "DELETE FROM pages WHERE kind = 'directory'",
        "DELETE FROM gist_versions WHERE kind = 'directory'",
    ]
    home = copied(used, tmp_path, *bare)
    with runtime_at(copied(used, tmp_path / "whole")) as runtime, runtime.reader("ada") as reader:
        wanted = tree(reader.state)
    with runtime_at(home) as runtime:
        with runtime.reader("ada") as reader:
            assert check_state(reader.state) == [
                Finding("directories", "note", "not closed yet: level 0", "open")
            ]
            assert reader.state.pages.count() >= PAGES
        agent = runtime.agent("ada", model=ScriptedModel())
        assert tree(agent.state) == wanted
        holds(agent)


def test_a_clock_that_jumps_back_breaks_nothing(tmp_path: Path) -> None:
    """Order is that of seq; a span holds all of its messages."""
    clock = FrozenClock()
    model = ScriptedModel(after="Noted.", summary=lambda _: "They talked.")
    with agent_at(tmp_path, model, small(1600, "page_in"), clock) as agent:
        for number in range(60):
            clock.advance(days=-1 if number % 2 else 0.5)
            agent.send(sentence(number, 60))
        holds(agent)
        assert check_state(agent.state) == []
        assert agent.state.pages.directories()
        assert all(p.first_at <= p.last_at for p in agent.state.pages.directories())
