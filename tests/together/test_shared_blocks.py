"""Shared blocks: one text in the main context of several agents."""

import random
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from kernel_kit import runtime_at
from processes import python
from together_kit import Teller, does, model_of, sees, sharing

from pagemind.runtime.agent import Agent
from pagemind.runtime.cli.moved_view import lines_of
from pagemind.runtime.clock import SystemClock
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.errors import BlockLimitExceeded, DefinitionError
from pagemind.runtime.invariants import check_state
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.models.scripted_model import Answer
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import call


def team(runtime: Runtime, *names: str, more: str = "") -> list[Agent]:
    """Agents that share a plan."""
    return [runtime.agent(name, sharing(more=more), model=Teller()) for name in names]


def test_the_first_agent_makes_the_block_and_the_next_joins_it(tmp_path: Path) -> None:
    """A definition's value counts for who is first; the others see what there is."""
    with runtime_at(tmp_path) as runtime:
        ada, ben = team(runtime, "ada", "ben")
        does(ada, "core_append", block="plan", content="Ada takes the north.")
        assert "Ada takes the north." in sees(ben)
        cat = runtime.agent("cat", sharing(), model=Teller())
        assert "Ada takes the north." in sees(cat)
        block = runtime.shared_blocks.find("team_plan")
        assert (block.version, block.newest.author) == (2, "ada")


def test_others_see_an_edit_at_their_next_turn_with_its_author(tmp_path: Path) -> None:
    """In an agent's own history it stands as made by the other, and is trusted as that."""
    with runtime_at(tmp_path) as runtime:
        ada, ben = team(runtime, "ada", "ben")
        does(ada, "core_rewrite", block="plan", content="Sound the depths.")
        assert "Sound the depths." not in ben.context.core.render()
        assert "Sound the depths." in sees(ben)
        newest = ben.state.blocks.history("plan")[-1]
        assert (newest.author, newest.reason) == ("ada", "team_plan version 2: rewrite")
        row = ben.state.database.one(
            "SELECT origin FROM block_versions WHERE label = 'plan' ORDER BY version DESC"
        )
        assert row is not None
        assert row["origin"] == "agent"


def test_an_append_to_what_another_has_changed_keeps_both(tmp_path: Path) -> None:
    """It is made to the text of now, which the result shows."""
    with runtime_at(tmp_path) as runtime:
        ada, ben = team(runtime, "ada", "ben")
        model = model_of(ben)

        def meanwhile(_: ModelRequest) -> Answer:
            does(ada, "core_append", block="plan", content="Ada was first.")
            return call("core_append", block="plan", content="Ben was second.")

        model.say(meanwhile, "Done.")
        turn = ben.send("Go on.")
        value = runtime.shared_blocks.find("team_plan").value
        assert value == "Map the harbour.\nAda was first.\nBen was second."
        assert turn.tool_calls[0].ok
        assert "Ada was first." in model.requests[-1].messages[-1].text


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("core_rewrite", {"content": "Ben alone."}),
        ("core_edit", {"old_text": "Map", "new_text": "Draw"}),
    ],
)
def test_writing_over_what_one_has_not_seen_is_refused_with_the_text_of_now(
    tmp_path: Path, function: str, arguments: dict[str, str]
) -> None:
    """Nothing is lost, and the second try, which knows it, goes through."""
    with runtime_at(tmp_path) as runtime:
        ada, ben = team(runtime, "ada", "ben")
        model = model_of(ben)

        def meanwhile(_: ModelRequest) -> Answer:
            does(ada, "core_rewrite", block="plan", content="Sound the depths.")
            return call(function, block="plan", **arguments)

        again = call("core_rewrite", block="plan", content="Sound the depths. Ben helps.")
        model.say(meanwhile, again, "Done.")
        turn = ben.send("Go on.")
        refused, written = turn.tool_calls
        assert "changed by ada" in (refused.error or "")
        assert "Sound the depths." in (refused.error or "")
        assert written.ok
        assert [v.value for v in runtime.shared_blocks.history("team_plan")] == [
            "Map the harbour.",
            "Sound the depths.",
            "Sound the depths. Ben helps.",
        ]


def test_an_edit_of_a_place_that_nobody_else_touched_is_merged(tmp_path: Path) -> None:
    """The text around it may have changed."""
    with runtime_at(tmp_path) as runtime:
        ada, ben = team(runtime, "ada", "ben")
        does(ada, "core_append", block="plan", content="Ada helps.")
        edited = ben.editor().edit("plan", "Map", "Draw")
        assert edited == "Draw the harbour.\nAda helps."


def test_the_limit_is_that_of_the_shared_block(tmp_path: Path) -> None:
    """Whoever joins with another limit has that of all, and what is too long is refused."""
    with runtime_at(tmp_path) as runtime:
        team(runtime, "ada")
        ben = runtime.agent("ben", sharing(limit=20), model=Teller())
        assert ben.write_block("plan", "x" * 390)
        with pytest.raises(BlockLimitExceeded, match="401 of 400"):
            ben.write_block("plan", "x" * 401)


def test_read_only_is_each_agents_own(tmp_path: Path) -> None:
    """One may write the plan, and another only read it."""
    with runtime_at(tmp_path) as runtime:
        (ada,) = team(runtime, "ada")
        ben = runtime.agent("ben", sharing(read_only=True), model=Teller())
        turn = does(ben, "core_append", block="plan", content="I may not.")
        assert "read-only" in (turn.tool_calls[0].error or "")
        assert does(ada, "core_append", block="plan", content="I may.").tool_calls[0].ok


def test_a_prompt_that_stays_until_the_flush_is_told_in_a_notice(tmp_path: Path) -> None:
    """With refresh_blocks: on_flush the head keeps its bytes."""
    with runtime_at(tmp_path) as runtime:
        more = "prompt: {refresh_blocks: on_flush}\n"
        ada, ben = team(runtime, "ada", "ben", more=more)
        before = sees(ben)
        does(ada, "core_append", block="plan", content="Ada helps.")
        assert sees(ben) == before
        assert any("Ada helps." in m.text for m in model_of(ben).requests[-1].messages)


def test_a_rewind_does_not_take_back_what_is_shared(tmp_path: Path) -> None:
    """Others have it, too; the agent's own blocks go back. Past requests are as they were."""
    with runtime_at(tmp_path) as runtime:
        (ada,) = team(runtime, "ada")
        sees(ada)
        does(ada, "core_append", block="human", content="Sam.")
        does(ada, "core_append", block="plan", content="Ada helps.")
        moved = ada.rewind(2)
        assert [each.id for each in moved.reverted] == ["human"]
        assert moved.shared == ("plan",)
        assert "other agents share it: block plan" in "\n".join(lines_of(moved))
        assert "Ada helps." in sees(ada)
        ada.close()
        with runtime.reader("ada") as reader:
            assert not check_state(reader.state)


def test_a_person_restores_a_version_for_all(tmp_path: Path) -> None:
    """Versions are those of the shared block."""
    with runtime_at(tmp_path) as runtime:
        ada, ben = team(runtime, "ada", "ben")
        does(ada, "core_rewrite", block="plan", content="Wrong.")
        ben.restore_block("plan", 1)
        assert "Map the harbour." in sees(ada)
        assert [v.author for v in runtime.shared_blocks.history("team_plan")] == [
            "ada",
            "ada",
            "user",
        ]


def test_an_agent_that_died_between_the_two_commits_is_like_the_block_again(
    tmp_path: Path,
) -> None:
    """What stands in the home counts; the copy follows at the next turn."""
    with runtime_at(tmp_path) as runtime:
        (ada,) = team(runtime, "ada")
        sees(ada)
        runtime.shared_blocks.change(
            "team_plan", lambda now: "Committed.", author="ada", reason="append", origin="model"
        )
        assert "Committed." in sees(ada)


@pytest.mark.parametrize(
    ("shared", "told"), [(True, "it may have happened"), (False, "it did not happen")]
)
def test_an_edit_that_was_cut_off_may_have_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: bool, told: str
) -> None:
    """All may have it before the agent's own state has the result: the model is not told that it
    did not happen, as of a block of its own."""

    def killed(*_: object, **more: object) -> None:
        raise KeyboardInterrupt

    label = "plan" if shared else "human"
    with runtime_at(tmp_path) as runtime:
        (ada,) = team(runtime, "ada")
        sees(ada)
        monkeypatch.setattr(ada.state.blocks, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            does(ada, "core_append", block=label, content="Rope is short.")
        monkeypatch.undo()
        assert told in ada.state.journal.newest(1)[0].text
        assert ("Rope is short." in sees(ada)) == shared


_APPENDS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from kernel_kit import runtime_at
from together_kit import Teller, does, sharing
from pagemind.runtime.clock import SystemClock

home, name = sys.argv[1:3]
with runtime_at(Path(home), SystemClock()) as runtime:
    agent = runtime.agent(name, sharing(limit=100_000), model=Teller())
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(12):
        assert does(agent, "core_append", block="plan", content=f"{name} {number}").tool_calls[0].ok
"""


def test_processes_that_append_at_once_lose_nothing(tmp_path: Path) -> None:
    """Every line is there once, and versions are linear."""
    with runtime_at(tmp_path) as runtime:
        runtime.shared_blocks.make(
            "team_plan", "", limit=100_000, description="", author="user", origin="user"
        )
    kit = Path(__file__).parents[1]
    children = [python(_APPENDS, tmp_path, name, kit) for name in ("ada", "ben")]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.communicate("go\n", timeout=120)[1] == ""
    with runtime_at(tmp_path) as runtime:
        lines = runtime.shared_blocks.find("team_plan").value.splitlines()
        versions = runtime.shared_blocks.history("team_plan")
    assert sorted(lines) == sorted(f"{n} {i}" for n in ("ada", "ben") for i in range(12))
    assert [v.version for v in versions] == list(range(1, 26))
    for before, after in pairwise(versions):
        assert after.value.startswith(before.value)


@pytest.mark.parametrize("seed", range(2))
def test_no_update_is_lost_whatever_three_agents_do_at_once(tmp_path: Path, seed: int) -> None:
    """What was said to be done is there, once, and versions are linear; who is refused has changed
    nothing."""
    with runtime_at(tmp_path) as runtime:
        agents = [
            runtime.agent(name, sharing(limit=100_000), model=Teller())
            for name in ("ada", "ben", "cat")
        ]
        done: dict[str, list[str]] = {agent.name: [] for agent in agents}

        def work(agent: Agent) -> None:
            rng = random.Random(f"{seed} {agent.name}")
            for number in range(10):
                token = f"<{agent.name}{number}>"

                def change(_: ModelRequest, token: str = token) -> Answer:
                    shown = agent.context.core.get("plan").value
                    kind = rng.choice(["append", "edit", "rewrite"])
                    if kind == "append":
                        return call("core_append", block="plan", content=token)
                    if kind == "edit":
                        line = rng.choice(shown.splitlines())
                        new = f"{line}\n{token}"
                        return call("core_edit", block="plan", old_text=line, new_text=new)
                    return call("core_rewrite", block="plan", content=f"{shown}\n{token}")

                model_of(agent).say(change, "Done.")
                if agent.send("Go on.").tool_calls[0].ok:
                    done[agent.name].append(token)

        threads = [threading.Thread(target=work, args=(agent,)) for agent in agents]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        versions = runtime.shared_blocks.history("team_plan")
        assert [v.version for v in versions] == list(range(1, len(versions) + 1))
        made = [token for tokens in done.values() for token in tokens]
        assert len(made) >= 10
        assert sorted(versions[-1].value.splitlines()[1:]) == sorted(made)
        for agent in agents:
            assert sees(agent).count(made[0]) == 1


def test_an_export_carries_the_text_as_an_ordinary_block(tmp_path: Path) -> None:
    """An imported agent shares nothing until a person accepts that. In a home without the shared
    block it makes it then; in one that has it, it joins."""
    file = tmp_path / "ada.pmz"
    with runtime_at(tmp_path / "one", SystemClock()) as runtime:
        (ada,) = team(runtime, "ada")
        does(ada, "core_rewrite", block="plan", content="Sound the depths.")
        runtime.export_agent("ada", file)
    with runtime_at(tmp_path / "two", SystemClock()) as runtime:
        runtime.import_agent(file)
        with runtime.agent("ada", model=Teller()) as ada:
            does(ada, "core_append", block="plan", content="Mine.")
        assert runtime.shared_blocks.get("team_plan") is None
        lines = runtime.accept("ada")
        assert lines == [
            "read and change the shared block team_plan, which other agents always see"
        ]
        assert "Sound the depths." in sees(runtime.agent("ada", model=Teller()))
        assert runtime.shared_blocks.find("team_plan").value == "Sound the depths.\nMine."
    with runtime_at(tmp_path / "three", SystemClock()) as runtime:
        team(runtime, "ben")
        runtime.import_agent(file)
        runtime.accept("ada")
        ada = runtime.agent("ada", model=Teller())
        assert "Map the harbour." in sees(ada)
        assert "Sound the depths." in [v.value for v in ada.state.blocks.history("plan")]


def test_a_fork_shares_what_the_original_shares(tmp_path: Path) -> None:
    """The value of now, wherever it was forked."""
    with runtime_at(tmp_path) as runtime:
        (ada,) = team(runtime, "ada")
        sees(ada)
        does(ada, "core_rewrite", block="plan", content="Sound the depths.")
        ada.close()
        runtime.fork("ada", "eve", at=2)
        assert "Sound the depths." in sees(runtime.agent("eve", model=Teller()))


def test_two_labels_cannot_be_one_block() -> None:
    """An edit of one would change the other unseen."""
    with pytest.raises(DefinitionError, match=r"blocks\.b\.shared: a is 'x' already; keep one"):
        parse_definition("name: n\nblocks: {a: {shared: x}, b: {shared: x}}\n")
