"""Rewind, undo, bring back and fork: one fact each. That all of them hold together after any walk
is in test_time_machine.py."""

import sys
import tarfile
import textwrap
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import warm
from kernel_kit import agent_at, runtime_at, sentence, small
from laws import holds

from pagemind.runtime.agent import Agent
from pagemind.runtime.errors import ModelUnreachable, NotFound, UserError
from pagemind.runtime.fingerprint import fingerprint
from pagemind.runtime.ingest import ingest
from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.lines_seen import lines_seen
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.state.lines import without
from pagemind.runtime.testing import FrozenClock, ScriptedModel, call
from pagemind.runtime.tool import make_tool


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    with runtime_at(tmp_path / "home") as runtime:
        yield runtime


def found(agent: Agent, query: str) -> list[str]:
    return [hit.id for hit in agent.engine.search("recall", query, SearchFilters(), 5).hits]


def ring(number: int) -> str:
    """Ring the bell of the harbour."""
    return "rung"


def test_an_undo_takes_the_memory_edits_of_its_turns_back(runtime: Runtime) -> None:
    """Blocks, passages inserted, edited and deleted; each as a new version that says why."""
    model = ScriptedModel(
        [
            [call("archival_insert", content="Berth 42."), call("archival_insert", content="Old.")],
            "Noted.",
            [
                call("core_append", block="human", content="Sam."),
                call("archival_insert", content="Nomad."),
                call("archival_edit", id="a1", content="Berth 43."),
                call("archival_delete", id="a2"),
            ],
            "Changed.",
        ]
    )
    functions = ("core_append", "archival_insert", "archival_edit", "archival_delete")
    agent = runtime.agent("ada", small(2048, *functions), model=model)
    agent.send("Remember.")
    agent.send("Change it.")
    moved = agent.undo()
    changes = {(each.id, each.change, each.author) for each in moved.reverted}
    assert changes == {
        ("human", "reverted", "model"),
        ("a1", "reverted", "model"),
        ("a2", "shown again", "model"),
        ("a3", "hidden", "model"),
    }
    state = agent.state
    assert [p.text for p in state.passages.newest(9)] == ["Old.", "Berth 42."]
    assert state.blocks.all()[0].value == ""
    newest = state.passages.history(1)[-1]
    assert (newest.value, newest.author) == ("Berth 42.", "user")
    assert newest.reason == "undo of 1 turn, before m6"
    assert [v.value for v in state.passages.history(1)] == ["Berth 42.", "Berth 43.", "Berth 42."]
    assert [v.value for v in state.blocks.history("human")] == ["", "Sam.", ""]


def test_calls_on_the_world_are_named_and_not_undone(runtime: Runtime) -> None:
    """What has no effect, or one on memory, is not among them."""
    model = ScriptedModel(
        [[call("ring", number=3), call("archival_insert", content="Rung.")], "Done."]
    )
    agent = runtime.agent(
        "ada", small(2048, "archival_insert"), model=model, tools=[make_tool(ring)]
    )
    agent.send("Ring three times.")
    [outside] = agent.undo(apply=False).world
    assert (outside.id, outside.name, outside.arguments, outside.ok) == (
        "m2",
        "ring",
        {"number": 3},
        True,
    )
    assert agent.state.turns.count() == 1  # only looked at


def test_what_a_person_kept_before_the_turn_stays(runtime: Runtime) -> None:
    """And what they kept after it goes, for the memory is that of then."""
    agent = runtime.agent("ada", small(), model=ScriptedModel(after="Yes."))
    agent.send("One.")
    agent.insert("Before.")
    agent.send("Two.")
    agent.insert("After.")
    [change] = agent.undo().reverted
    assert (change.id, change.author) == ("a2", "user")
    assert [p.text for p in agent.state.passages.newest(9)] == ["Before."]


def test_a_rewind_is_to_the_end_of_the_turn_that_is_named(runtime: Runtime) -> None:
    """Whichever of its messages is named; 0 is before everything."""
    model = ScriptedModel([[call("recall_search", query="x")], "Found.", "Two."])
    agent = runtime.agent("ada", small(), model=model)
    agent.send("One.")
    agent.send("Two?")
    for seq in (1, 2, 3, 4):
        assert agent.rewind(seq).seq == 4
        agent.bring_back()
    assert agent.rewind(0).messages == 0
    with pytest.raises(NotFound, match="m4 was taken back"):
        agent.rewind(4)
    with pytest.raises(UserError, match="nothing was said yet"):
        agent.rewind(0)


def test_a_rewind_to_a_time(tmp_path: Path) -> None:
    """Whatever was said later goes."""
    clock = FrozenClock()
    with runtime_at(tmp_path / "home", clock) as runtime:
        agent = runtime.agent("ada", small(), model=ScriptedModel(after="Yes."))
        agent.send("One.")
        then = clock.now()
        clock.advance(hours=1)
        agent.send("Two.")
        assert agent.rewind(then + timedelta(minutes=30)).seq == 2


def test_a_turn_taken_up_again_goes_whole(runtime: Runtime) -> None:
    """A turn that failed and was asked for again after another one straddles it: both go."""
    agent = runtime.agent("ada", small(), model=ScriptedModel([ModelUnreachable("no"), "Two."]))
    agent.send("One.", id="first")
    agent.send("Two?")
    agent.loop.caller.model._answers = iter(["One, at last."])  # type: ignore[attr-defined]
    agent.send("One.", id="first")
    moved = agent.undo()
    assert [turn.text for turn in moved.taken_back] == ["One.", "Two?"]
    assert moved.seq == 0
    assert check_state(agent.state) == []


def test_what_was_rewound_is_hidden_everywhere(runtime: Runtime) -> None:
    """Search, pages, readings, pins, counts, speakers, turns; and it is back with its line."""
    agent = runtime.agent("ada", small(1280), model=ScriptedModel(after="Yes."))
    for number in range(30):
        agent.send(sentence(number), speaker="Sam" if number < 20 else "Ana")
    assert runtime.drain(agent)
    state, pages = agent.state, agent.state.pages
    late = found(agent, "K0025")[0]
    known = [page.short_id for page in pages.all()]
    before = fingerprint(state)
    agent.rewind(20)
    assert late not in found(agent, "K0025")
    assert found(agent, "K0005")
    assert state.journal.speakers() == ["Sam", "assistant"]
    assert state.journal.count() == state.turns.count() * 2
    assert len(pages.all()) < len(known)
    assert pages.of([int(late[1:])]) == {}
    gone = agent.engine.search("pages", "K0025", SearchFilters(), 50).hits
    assert {hit.id for hit in gone} <= {page.short_id for page in pages.all()}
    agent.bring_back()
    assert late in found(agent, "K0025")
    assert [page.short_id for page in pages.all()] == known
    assert fingerprint(state) == before
    assert runtime.drain(agent)
    assert check_tiers(state, agent.engine.store) == []


def test_directories_follow_the_line(runtime: Runtime) -> None:
    """One that holds pages taken back is hidden, its other pages close another one, and it is back
    with all of them."""
    agent = runtime.agent("ada", small(1280), model=ScriptedModel(after="Yes."))
    while not agent.state.pages.directories():
        agent.send(sentence(agent.state.journal.last_seq))
    [first] = agent.state.pages.directories()
    held = [page.short_id for page in agent.state.pages.children(first.number)]
    agent.rewind(agent.state.pages.all()[9].last_seq)
    assert agent.state.pages.directories() == []
    while not agent.state.pages.directories():
        agent.send(sentence(agent.state.journal.last_seq))
    [second] = agent.state.pages.directories()
    children = [page.short_id for page in agent.state.pages.children(second.number)]
    assert children[:5] == held[:5]
    assert children[-1] not in held
    holds(agent)
    agent.bring_back(1)
    assert agent.state.pages.directories()[0].short_id == first.short_id
    assert [page.short_id for page in agent.state.pages.children(first.number)] == held
    holds(agent)


def test_files_are_known_as_they_were(runtime: Runtime, tmp_path: Path) -> None:
    """A file that was read in after the rewind's moment is new to the next reading."""
    path = tmp_path / "log.md"
    path.write_text("# Log\n\nThe mast was mended.\n", encoding="utf-8")
    with runtime.agent("ada", small(), model=ScriptedModel(after="Yes.")) as agent:
        agent.send("One.")
        agent.send("Two.")
    with runtime.writer("ada") as writer:
        ingest(writer, [path])
        moved = writer.time_machine.undo()
        assert {each.kind for each in moved.reverted} == {"passage", "document"}
        assert ingest(writer, [path]).unchanged == 0
        writer.time_machine.bring_back()
        assert ingest(writer, [path]).unchanged == 1


def test_lines_say_what_was_taken_back(runtime: Runtime) -> None:
    """The current one has nothing that it does not have."""
    agent = runtime.agent("ada", small(), model=ScriptedModel(after="Yes."))
    for text in ("One.", "Two.", "Three."):
        agent.send(text)
    agent.undo(2)
    agent.send("Other.")
    first, second = lines_seen(agent.state)
    assert (first.line, first.hidden, first.turns, first.text) == (1, 4, 2, "Two.")
    assert first.left_by == "undo of 2 turns, before m3"
    assert (second.line, second.current, second.hidden) == (2, True, 0)
    agent.bring_back()
    assert [each.hidden for each in agent.lines()] == [0, 2]


def test_hundreds_of_undos_are_searched(runtime: Runtime) -> None:
    """Each adds a range to the line, and a filter over all of them still works."""
    agent = runtime.agent("ada", small(4096), model=ScriptedModel(after="Yes."))
    agent.send(sentence(0))
    agent.send(sentence(1))
    assert runtime.drain(agent)
    agent.undo()
    at, database = agent.state.journal.last_seq, agent.state.database
    with database.transaction():  # as if 400 more had been said and taken back
        database.write("UPDATE line_ranges SET last_seq = ? WHERE last_seq IS NULL", (at,))
        for seq in range(at + 2, at + 802, 2):
            database.write("INSERT INTO line_ranges VALUES (2, ?, ?)", (seq, seq))
        database.write("INSERT INTO line_ranges VALUES (2, ?, NULL)", (at + 900,))
    assert len(agent.state.journal.live_ranges() or ()) > 400
    assert found(agent, "K0000")[0] == "m1"
    assert "m3" not in found(agent, "K0001")


def test_a_fork_is_whole_or_not_there(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure at its end leaves no agent and no folder."""
    agent = runtime.agent("ada", small(), model=ScriptedModel(after="Yes."))
    agent.send("One.")
    folders = set(runtime.home.path.glob("agents/*"))
    with monkeypatch.context() as patch:
        patch.setattr(runtime.home, "add", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            runtime.fork(agent, "bob")
    assert set(runtime.home.path.glob("agents/*")) == folders
    assert not runtime.home.exists("bob")
    made = runtime.fork("ada", "bob")
    assert made.indexed
    assert runtime.reader("bob").state.history.usage()[0] == 0  # what ada paid is ada's


CHILD = """
    import sys
    from pathlib import Path
    from kernel_kit import agent_at, sentence, small
    from pagemind.runtime.clock import SystemClock
    from pagemind.runtime.state.database import Database
    from pagemind.runtime.testing import ScriptedModel
    import os, signal

    home, statement = Path(sys.argv[1]), int(sys.argv[2])
    with agent_at(home, ScriptedModel(after="Yes."), small(1280), SystemClock()) as agent:
        count, write = 0, Database.write

        def dying(self, *words):
            global count
            count += 1
            if count == statement:
                os.kill(os.getpid(), signal.SIGKILL)
            return write(self, *words)

        Database.write = dying
        getattr(agent, sys.argv[3])(*map(int, sys.argv[4:]))
        print("done", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_kill_leaves_either_state(tmp_path: Path) -> None:
    """Killed at any statement of an undo or of a bring-back, or just after it: the agent is where
    it was, or where it was to go, and whole."""
    home = tmp_path / "home"
    states: set[str] = set()

    def look() -> str:
        with agent_at(home, ScriptedModel(after="Yes."), small(1280)) as agent:
            holds(agent)
            assert [f for f in check_state(agent.state) if f.status == "wrong"] == []
            return fingerprint(agent.state)

    with runtime_at(home) as runtime:
        model = ScriptedModel(
            [[call("archival_insert", content="Berth 42.")], "Noted."], after="Yes."
        )
        agent = runtime.agent("ada", small(1280), model=model)
        for number in range(12):
            agent.send(sentence(number))
        there = fingerprint(agent.state)
        agent.undo(7)
        back = fingerprint(agent.state)
        agent.bring_back()
        assert fingerprint(agent.state) == there
    for statement in (2, 9, 20, 10_000):
        for doing in (("undo", "7"), ("bring_back",)):
            before = look()
            if (doing[0] == "undo") != (before == there):
                continue
            code, out, errors = warm.run(
                ["-c", textwrap.dedent(CHILD), str(home), str(statement), *doing],
                cwd=Path(__file__).parent,
            )
            assert code == -9, errors
            after = look()
            assert after in (there, back)
            assert after == before or out == "done\n"
            states.add(after)
    assert states == {there, back}


@pytest.mark.parametrize(
    ("these", "those", "left"),
    [
        ([(1, 9)], [(3, 5)], [(1, 2), (6, 9)]),
        ([(1, 4), (8, 9)], [(4, 8)], [(1, 3), (9, 9)]),
        ([(1, 4)], [], [(1, 4)]),
        ([(2, 3)], [(1, 9)], []),
        ([(1, 9)], [(1, 1), (9, 9)], [(2, 8)]),
    ],
)
def test_ranges_without_others(
    these: list[tuple[int, int]], those: list[tuple[int, int]], left: list[tuple[int, int]]
) -> None:
    """What is in both goes."""
    assert without(these, those) == left


def test_an_agent_of_the_first_version_is_rewound(tmp_path: Path) -> None:
    """What it did not record is taken to have been later: its window of then may be a little
    longer, and all is whole; bringing back restores it."""
    with tarfile.open(Path(__file__).parent / "frozen" / "home-v1.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    Runtime.upgrade(tmp_path / "home")
    with Runtime(tmp_path / "home", background=False) as runtime:
        agent = runtime.agent("Zoë", model=ScriptedModel(after="Yes."), tools=[make_tool(ring)])
        before, request = fingerprint(agent.state), str(agent.context.render(100))
        live = [m.seq for m, _, _ in agent.state.journal.live(1)]
        for seq in (live[-20], live[len(live) // 2], 7, 0):
            agent.rewind(seq)
            assert [f for f in check_state(agent.state) if f.status == "wrong"] == []
            agent.send("And now?")
            agent.bring_back(1)
            assert fingerprint(agent.state) == before
            assert str(agent.context.render(100)) == request
