"""What an erasure leaves in state.db: nothing of the erased, all of the others, a whole agent."""

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from erasure_kit import Life, scan
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from laws import holds

from pagemind.runtime.erasure.closure import plan_of
from pagemind.runtime.erasure.plan import Counts, Plan
from pagemind.runtime.erasure.preview import preview
from pagemind.runtime.erasure.scrub import scrub
from pagemind.runtime.erasure.wanted import Wanted, wanted
from pagemind.runtime.errors import NotFound, UserError
from pagemind.runtime.invariants import check_state
from pagemind.runtime.message import ERASED
from pagemind.runtime.past_request import Otherwise, PastRequests
from pagemind.runtime.state.state import State
from pagemind.runtime.tokens import TokenCounter

FIRST = "mail:dana@example.org/1"  # an id that says who it was


def erase(life: Life, what: Wanted) -> tuple[Plan, Counts]:
    """As the eraser does it: of a closed agent."""
    state = State(life.folder, life.clock)
    try:
        plan = plan_of(state, what)
        key = state.audit.key_changed()
        assert Plan.from_json(plan.to_json()) == plan
        done = scrub(state, plan)
        assert scrub(state, plan) == done
        told = [row.op for row in state.audit.rows(after=key)][-2:]
        assert told == ["erased", "key changed"]
        assert not [each for each in check_state(state) if each.status == "wrong"]
    finally:
        state.close()
    return plan, done


def of(markers: dict[str, Counter[str]], person: str) -> set[str]:
    """Every marker of a person that stands anywhere."""
    return {mark for marks in markers.values() for mark in marks if mark.startswith(person)}


@settings(
    max_examples=2,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0, 10_000))
def test_no_text_of_the_erased_is_left_and_all_of_the_others(seed: int) -> None:
    """Whatever was said, kept, repeated, rewound, pinned and summarised: not a word of hers stands
    in any column of any table, every word of his does, and the agent goes on."""
    with tempfile.TemporaryDirectory() as home:
        life = Life(Path(home), seed)
        life.live(16)
        before = scan(life.folder)
        said = _said(life, "Robin")
        erase(life, wanted(subject="Dana"))
        after = scan(life.folder)
        assert not of(after, "DANA")
        assert of(after, "ROBIN") == of(before, "ROBIN")
        assert _said(life, "Robin") == said
        model = life.model()
        with life.runtime() as runtime:
            agent = life.agent(runtime, model)
            holds(agent)
            agent.send(life.text("Robin"), speaker="Robin")
            agent.flush()
            holds(agent)
            if agent.state.journal.lines.all()[-1].parent is not None:
                agent.bring_back()
                holds(agent)
                agent.send(life.text("Robin"), speaker="Robin")
            assert "DANA" not in str(model.requests)
            assert not [e for e in check_state(agent.state) if e.status == "wrong"]
        assert not of(scan(life.folder), "DANA")


def _said(life: Life, person: str) -> list[str]:
    state = State(life.folder, life.clock)
    try:
        rows = state.database.rows(
            "SELECT content FROM messages WHERE role = 'user' AND speaker = ? ORDER BY seq",
            (person,),
        )
        return [row["content"] for row in rows]
    finally:
        state.close()


@pytest.fixture
def life(lived: Life, tmp_path: Path) -> Life:
    """With one message of Dana's in the queue, and nothing paged out."""
    return lived.copied(tmp_path / "home")


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Life:
    """That life, which each test has a copy of."""
    made = Life(tmp_path_factory.mktemp("lived"), 1, window=16_000)
    with made.runtime() as runtime:
        agent = made.agent(runtime)
        agent.send("note the word DANA0001 for me, please", speaker="Dana", id=FIRST)
        agent.send("core the word ROBIN0002", speaker="Robin")
        agent.send("What about DANA0001? talk", speaker="Robin")
    return made


def test_a_tombstone_keeps_the_place_and_the_calls(life: Life) -> None:
    """seq, role, ids of calls and turns stay; text, arguments, speaker and trust do not."""
    plan, done = erase(life, wanted(ids=["m1"]))
    assert plan.messages[:4] == (1, 2, 3, 4)
    assert plan.passages == (1,)
    assert done.messages == len(plan.messages)
    state = State(life.folder, life.clock)
    stored = state.journal.get([1, 2, 3, 4])
    assert [m.text for m in stored.values()] == [ERASED] * 4
    assert stored[2].tool_calls[0].arguments == "{}"
    assert stored[3].tool_call_id == stored[2].tool_calls[0].id
    assert {m.speaker for m in stored.values()} == {""}
    assert all(m.erased for m in stored.values())
    assert "Dana" not in state.journal.speakers()
    state.close()


def test_who_asks_again_is_told_that_it_was_erased(life: Life) -> None:
    """The same id is not done again: what was erased does not come back so. Only its hash is
    kept."""
    erase(life, wanted(ids=["t1"]))
    state = State(life.folder, life.clock)
    ids = [row["client_id"] for row in state.database.rows("SELECT client_id FROM turns")]
    state.close()
    assert FIRST not in ids
    with life.runtime() as runtime:
        agent = life.agent(runtime)
        with pytest.raises(UserError, match="was erased"):
            agent.send("note the word DANA0001 for me, please", speaker="Dana", id=FIRST)


def test_what_another_person_said_stays(life: Life) -> None:
    """Robin's own question names the word, too: it has other evidence, and so has the answer."""
    erase(life, wanted(ids=["m1"]))
    state = State(life.folder, life.clock)
    texts = [m.text for m, _, _ in state.journal.range(1, state.journal.last_seq)]
    state.close()
    assert "What about DANA0001? talk" in texts
    assert texts[-1] != ERASED


def test_every_past_request_can_still_be_made_and_shows_nothing(life: Life) -> None:
    """Not to the letter, which it says."""
    erase(life, wanted(query="DANA0001"))
    state = State(life.folder, life.clock)
    past = PastRequests(state, TokenCounter(), Otherwise("UTC", True, None, ""))
    made = [past.of(step) for step in range(1, state.history.last_step + 1)]
    state.close()
    assert made
    assert not any("DANA0001" in str(each) for each in made)
    assert any(ERASED in str(each) for each in made)
    assert not any(each.exact for each in made if each and ERASED in str(each.request))


def test_core_memory_loses_the_line_in_every_version(life: Life) -> None:
    """A restore brings nothing back; what a person wrote beside it stays."""
    with life.runtime() as runtime:
        agent = life.agent(runtime)
        agent.write_block("human", agent.blocks()[0].value + "\nLikes rain.")
    erase(life, wanted(ids=["t2"]))
    state = State(life.folder, life.clock)
    values = [version.value for version in state.blocks.history("human")]
    state.close()
    assert values[-1] == "Likes rain."
    assert not any("ROBIN0002" in value for value in values)


def test_everything_leaves_an_empty_agent_that_goes_on(life: Life) -> None:
    """All messages and records; what its definition says of its blocks stays."""
    plan, _ = erase(life, wanted(everything=True))
    assert plan.everything
    assert not scan(life.folder)
    with life.runtime() as runtime:
        agent = life.agent(runtime)
        holds(agent)
        assert "ROBIN0009" in agent.send("talk ROBIN0009", speaker="Robin").text


def test_ids_of_nothing_are_named(life: Life) -> None:
    """Also what was erased before."""
    state = State(life.folder, life.clock)
    try:
        for id in ("m99", "a9", "p3", "t44"):
            with pytest.raises(NotFound, match=f"there is no .* {id}"):
                plan_of(state, wanted(ids=[id]))
        assert not plan_of(state, wanted(query="nobody ever said this"))
        assert not plan_of(state, wanted(subject="Zoe Unknown"))
        assert not plan_of(state, wanted(source="https://nowhere.example"))
    finally:
        state.close()
    erase(life, wanted(ids=["m1"]))
    state = State(life.folder, life.clock)
    try:
        with pytest.raises(NotFound, match="m1 was erased before"):
            plan_of(state, wanted(ids=["m1"]))
    finally:
        state.close()


def test_a_person_sees_what_would_go_and_nothing_else(life: Life) -> None:
    """Words, by kind and id, and what becomes of each; looking changes nothing."""
    state = State(life.folder, life.clock)
    before = scan(life.folder)
    items = preview(state, plan_of(state, wanted(query="ROBIN0002")))
    state.close()
    assert scan(life.folder) == before
    told = {(each.kind, each.what) for each in items if "ROBIN0002" in each.text}
    assert {("message", "erased"), ("block", "loses lines")} <= told
    assert not any("DANA0001" in each.text for each in items)
