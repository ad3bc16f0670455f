"""What else reads an agent gets along with what was erased from it."""

from pathlib import Path

import pytest
from erasure_kit import Life, scan
from kernel_kit import agent_at, small
from laws import holds

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.erasure.closure import plan_of
from pagemind.runtime.erasure.scrub import scrub
from pagemind.runtime.erasure.wanted import wanted
from pagemind.runtime.errors import ModelUnreachable, ToolFailed, UserError
from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.lineage_walk import LineageWalk
from pagemind.runtime.message import ERASED
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.state.state import State
from pagemind.runtime.testing import ScriptedModel, call


@pytest.fixture
def life(lived: Life, tmp_path: Path) -> Life:
    """In which Dana was erased, after pages were written and turns taken back."""
    return lived.copied(tmp_path / "home")


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Life:
    """That life, which each test has a copy of."""
    made = Life(tmp_path_factory.mktemp("lived"), 11)
    with made.runtime() as runtime:
        agent = made.agent(runtime)
        for at in range(4):
            for person in ("Dana", "Robin"):
                agent.send(f"talk {person.upper()}{at:04d} {'and so on ' * 20}", speaker=person)
        agent.undo()
        agent.send("note the word DANA0100", speaker="Dana")
        agent.send("note the word ROBIN0100", speaker="Robin")
        agent.flush()
        runtime.drain(agent)
    state = State(made.folder, made.clock)
    scrub(state, plan_of(state, wanted(subject="Dana")))
    state.close()
    return made


def test_the_search_follows(life: Life) -> None:
    """Nothing of hers is found, and the tiers are what the state says."""
    with life.runtime() as runtime:
        agent = life.agent(runtime)
        assert runtime.drain(agent)
        assert not [f for f in check_tiers(agent.state, agent.engine.store) if f.status == "wrong"]
        for tier in ("recall", "archival", "pages"):
            hits = agent.engine.search(tier, "DANA0000 DANA0100", SearchFilters(), 20).hits
            assert "DANA" not in str(hits)


def test_a_page_with_tombstones_is_read_as_ever(life: Life) -> None:
    """page_in shows that something was erased, in its place; nobody can pin that."""
    with life.runtime() as runtime:
        agent = life.agent(runtime)
        pages = agent.state.pages.all()
        erased = [m.seq for m, _, _ in agent.state.journal.live(1) if m.erased]
        for seq in erased:
            with pytest.raises(ToolFailed, match="was erased"):
                agent.pin(f"m{seq}")
        read = "\n".join(agent.send(f"page {p.short_id}").text for p in pages[:1])
        assert ERASED in read
        for each in pages:
            assert "DANA" not in each.gist
        holds(agent)


def test_an_export_and_a_fork_are_whole(life: Life, tmp_path: Path) -> None:
    """They carry the tombstones, and no word."""
    with life.runtime() as runtime:
        exported = tmp_path / "ada.pmz"
        runtime.export_agent("ada", exported)
        runtime.import_agent(exported, name="eve")
        runtime.fork("ada", "fay")
        for name in ("eve", "fay"):
            with runtime.agent(name, model=life.model()) as agent:
                holds(agent)
                assert not [f for f in check_state(agent.state) if f.status == "wrong"]
                messages = [m for m, _, _ in agent.state.journal.live(1)]
                assert any(m.erased and m.text == ERASED for m in messages)
                agent.send("talk ROBIN0200", speaker="Robin")
            assert "DANA" not in str(scan(runtime.path(name)))


def test_the_time_machine_brings_nothing_back(life: Life) -> None:
    """Neither what was taken back before, nor a rewind to before it was said, or after."""
    model = life.model()
    with life.runtime() as runtime:
        agent = life.agent(runtime, model)
        agent.bring_back()
        holds(agent)
        agent.send("talk ROBIN0300", speaker="Robin")
        agent.rewind(6)
        holds(agent)
        agent.send("look the word ROBIN0301", speaker="Robin")
        agent.flush()
        agent.bring_back()
        holds(agent)
        agent.send("talk ROBIN0302", speaker="Robin")
        assert "DANA" not in str(model.requests)
        assert not [f for f in check_state(agent.state) if f.status == "wrong"]
    assert "DANA" not in str(scan(life.folder))


def erase(folder: Path, **way: object) -> None:
    """Of a closed agent."""
    state = State(folder, FrozenClock())
    scrub(state, plan_of(state, wanted(**way)))  # type: ignore[arg-type] # as the test says
    assert not [f for f in check_state(state) if f.status == "wrong"]
    state.close()


def test_a_call_that_waits_for_consent_lapses(tmp_path: Path) -> None:
    """Nobody can consent to what is not there any more; the agent goes on, and runs nothing."""
    ran = tmp_path / "ran"
    shell = small(4096, "{shell: {seconds: 5}}")
    model = ScriptedModel([call("shell", command=f"touch {ran}"), "Well."], after="Well.")
    with agent_at(tmp_path / "home", model, shell) as agent:
        assert agent.send("Touch it for Dana.").stop_reason == "approval"
        folder = agent.state.folder
    erase(folder, query="touch it for dana")
    with agent_at(tmp_path / "home", model) as agent:
        assert agent.pending() is None
        with pytest.raises(UserError, match="no call of ada waits"):
            agent.approve()
        with pytest.raises(UserError, match="was erased"):
            agent.retry()
        assert agent.send("Hello.").text == "Well."
        holds(agent)
    assert not ran.exists()


def test_a_turn_that_failed_is_not_taken_up_again(tmp_path: Path) -> None:
    """Its question is gone: it is asked anew, or not at all."""
    model = ScriptedModel([ModelUnreachable("no line")], after="Well.")
    with agent_at(tmp_path, model) as agent:
        assert agent.send("Tell Dana.", id="one").stop_reason == "model_error"
        folder = agent.state.folder
    erase(folder, ids=["t1"])
    with agent_at(tmp_path, model) as agent:
        for again in (agent.retry, lambda: agent.send("Tell Dana.", id="one")):
            with pytest.raises(UserError, match="was erased"):
                again()
        assert agent.send("Hello.").text == "Well."


def test_no_lineage_leads_to_what_is_gone(life: Life) -> None:
    """Neither up nor down."""
    state = State(life.folder, life.clock)
    walk = LineageWalk(state)
    for row in state.database.rows("SELECT number FROM passages"):
        for id in walk.all_sources([f"a{row['number']}"]):
            if id[0] == "m":
                seq = int(id[1:])
                assert not state.journal.get([seq])[seq].erased
    state.close()
