"""Profiles in an agent's life: set by the model, refused where they do not fit, kept for ever."""

import json
from pathlib import Path

import pytest
from kernel_kit import agent_at, runtime_at, sentence
from profile_kit import YAML, keeper, sam

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.definition import AgentDefinition, load_definition, parse_definition
from pagemind.runtime.errors import DefinitionError, ProfileMismatch
from pagemind.runtime.invariants import check_state
from pagemind.runtime.past import Past
from pagemind.runtime.recorder import Recorder
from pagemind.runtime.replay import replay
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.sleep import room
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.testing import ScriptedModel, call


def test_a_model_sets_fields_and_reads_what_is_wrong(tmp_path: Path) -> None:
    """core_set by either notation; a refusal says what to do and leaves the block as it is."""
    model = ScriptedModel(
        [
            call("core_set", block="sam", path="name", value="Sam"),
            call("core_set", block="sam", path="/pets/0/name", value="Biscuit"),
            [
                call("core_set", block="sam", path="nam", value="S"),
                call("core_set", block="persona", path="name", value="S"),
                call("core_append", block="sam", content="Sam likes tea."),
                call("core_edit", block="sam", old_text="Sam", new_text="Ben"),
                call("core_rewrite", block="sam", content="Sam likes tea."),
                call("core_rewrite", block="sam", content="{}"),
                call("core_set", block="sam", path="name", value="x" * 400),
            ],
            "No?",
            call("core_set", block="sam", path="age", value="null"),
            call("core_rewrite", block="sam", content='{"age": 7, "name": "Sam"}'),
            "Done.",
        ]
    )
    with agent_at(tmp_path, model, keeper()) as agent:
        agent.send("I am Sam, my dog is Biscuit.")
        agent.send("Go on.")
        results = [m.text for m, _, _ in agent.state.journal.range(1, 99) if m.role == "tool"]
        assert results[:2] == ["sam: name is set", "sam: /pets/0/name is set"]
        told = (
            "did you mean 'name'",
            "persona is text, not a profile: use core_append",
            "use core_set with the path of a field",
            "use core_set with the path of a field",
            "sam: it is no JSON",
            "would empty it",
            "of 400 characters",
            "there is nothing at age to delete",
        )
        for result, part in zip(results[2:10], told, strict=True):
            assert part in result
        assert sam(agent) == {"age": 7, "name": "Sam"}
        history = agent.state.blocks.history("sam")
        assert [each.reason for each in history] == [
            "created",
            "set name",
            "set /pets/0/name",
            "rewrite",
        ]
        request = model.requests[0]
        offered = {tool.name: tool for tool in request.tools}["core_set"]
        assert "Fields of sam: {name: text, pets: [{name: text, …}], age: whole number}" in (
            offered.description
        )
        assert offered.parameters["properties"]["block"]["enum"] == ["sam"]
        assert (
            '<block label="sam" description="Who Sam is." chars="2/400" format="json">\n{}\n'
            in ("\n".join(request.system))
        )
        assert check_state(agent.state) == []


def test_without_a_profile_nothing_is_offered(tmp_path: Path) -> None:
    """The functions of an agent that has none are those of before; naming core_set says why."""
    text = YAML.replace("profile: {profile}", "")
    plain = text.format(more="", limit=400, window=2400)
    assert "core_set" not in parse_definition(plain).functions
    read_only = keeper(more="read_only: true")
    assert "core_set" not in read_only.functions
    with pytest.raises(DefinitionError, match="no block has one"):
        parse_definition(plain.replace("[core, ", "[core_set, "))


@pytest.mark.parametrize(
    ("profile", "more", "told"),
    [
        ("persn", "", "did you mean 'person'"),
        ("{type: array}", "", "its type must be object"),
        ("person", "value: {nam: Sam}", "did you mean 'name'"),
        ("person", "value: Sam", "it is no JSON"),
        ("person", "value: [Sam]", "must be a JSON object"),
        ("person", f"value: {{name: {'x' * 500}}}", "of 400 characters"),
    ],
)
def test_a_bad_profile_in_a_definition_is_told(profile: str, more: str, told: str) -> None:
    """With file and line, as any fault of a definition."""
    with pytest.raises(DefinitionError, match=told) as refused:
        keeper(profile, more)
    assert "definition:" in refused.value.message
    assert refused.value.message.count("\n") == 0


def test_a_first_value_may_be_a_mapping(tmp_path: Path) -> None:
    """It is the block's text as JSON; what is stored of the definition stays as written."""
    definition = keeper("person", "value: {likes: [tea], name: Sam}")
    assert definition.blocks["sam"].value == '{\n "name": "Sam",\n "likes": ["tea"]\n}'
    again = AgentDefinition.from_json(definition.to_json())
    assert again.raw["blocks"]["sam"]["profile"] == "person"
    assert again.blocks == definition.blocks
    with agent_at(tmp_path, ScriptedModel(["Hm."]), definition) as agent:
        assert sam(agent) == {"name": "Sam", "likes": ["tea"]}


def test_past_requests_and_the_time_machine_know_profiles(tmp_path: Path) -> None:
    """Undo gives the value of before; a request from before a flush is made again to the byte."""
    clock = FrozenClock()
    script = [
        *(call("core_set", block="sam", path="name", value="Sam"), "Noted."),
        *(call("core_set", block="sam", path="age", value=7), "Seven."),
    ]
    model = ScriptedModel(script, after="I see.", summary=lambda request: "They talked.")
    with agent_at(tmp_path, model, keeper(), clock) as agent:
        agent.send("I am Sam.")
        agent.send("I am seven.")
        agent.undo()
        assert sam(agent) == {"name": "Sam"}
        for number in range(12):
            agent.send(sentence(number))
        assert agent.state.pages.count()
        assert check_state(agent.state) == []
    with runtime_at(tmp_path, clock) as runtime, runtime.reader("ada") as reader:
        past = Past(reader, runtime.counter)
        for step, asked in enumerate(model.requests[:3], 1):
            made = past.request(f"s{step}")
            assert made.exact
            assert made.request.system == asked.system


def test_a_replay_sets_the_same_fields(tmp_path: Path) -> None:
    """A recorded talk with a profile comes out the same, refusals too."""
    clock, trace = FrozenClock(), tmp_path / "talk.jsonl"
    script = [
        call("core_set", block="sam", path="pets[-]", value={"name": "Biscuit </block>"}),
        call("core_append", block="sam", content="He barks."),
        "Noted.",
    ]
    recorder = Recorder(trace, clock)
    with Runtime(tmp_path / "home", clock=clock, background=False, trace=recorder) as runtime:
        runtime.agent("ada", keeper(), model=ScriptedModel(script)).send("My dog is Biscuit.")
    replayed = replay(trace)
    assert (replayed.difference, replayed.requests) == (None, 3)


def test_the_worker_sets_fields_within_the_declared_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It knows what it may write, edits a profile as its own author at the trust of its sources,
    and cannot empty it; the prompt shows the new value."""
    seen: list[SleepContext] = []

    class Looks:
        name = "looks"

        def due(self, context: SleepContext) -> bool:
            return not seen

        def run(self, context: SleepContext, cancel: CancelToken) -> None:
            seen.append(context)
            assert context.core is not None
            core = context.core(60)
            with context.held():
                core.patch("sam", {"name": "Sam", "pets[-].name": "Biscuit"}, "from m1")
                for nothing in ("{}", "No data."):
                    with pytest.raises(ProfileMismatch):
                        core.rewrite("sam", nothing)

    monkeypatch.setattr(room, "jobs_of", lambda spec: [Looks()])
    definition = keeper(and_then="memory: {semantic: r}\nsemantic: profile\nsleep: idle\n")
    with agent_at(tmp_path, ScriptedModel(after="Hm."), definition) as agent:
        agent.send("I am Sam.")
        agent.sleep()
        (context,) = seen
        assert (context.may_write("working"), context.may_write("semantic")) == (True, False)
        assert (context.semantic, list(context.profiles)) == ("profile", ["sam"])
        assert '"pets": [{"name": "Biscuit"}]' in agent.context.core.render()
        row = agent.state.database.one(
            "SELECT author, trust, reason FROM block_versions WHERE label = 'sam' AND version = 2"
        )
        assert row is not None
        assert tuple(row) == ("worker", 60, "from m1")


def test_a_guided_model_notes_nothing_into_a_profile() -> None:
    """It appends lines: to the first block that is text."""
    from pagemind.runtime.core_memory import Block, CoreMemory
    from pagemind.runtime.models.guided_turn import person_block, read_blocks

    profiles = keeper().profiles
    core = CoreMemory([Block("sam", "{}", 200), Block("notes", "", 200)], profiles=profiles)
    found = person_block(read_blocks([core.render()]))
    assert found is not None
    assert found.label == "notes"


def test_the_shipped_secretary_keeps_a_person(tmp_path: Path) -> None:
    """What it is told goes into fields, and is corrected there; what fits none is refused."""
    script = [
        [
            call("core_set", block="human", path="people[0].name", value="Ines"),
            call("core_set", block="human", path="people[0].birthday", value="1990-05-17"),
            call("core_set", block="human", path="likes[-]", value="rain"),
            call("core_set", block="human", path="favourite", value="rain"),
        ],
        "Noted.",
        *(call("core_set", block="human", path="people[0].birthday", value="05-18"), "The 18th."),
    ]
    with agent_at(tmp_path, ScriptedModel(script), load_definition("secretary")) as agent:
        agent.send("My sister Ines was born on 17 May 1990. I like rain.")
        agent.send("No, on the 18th.")
        assert json.loads(agent.context.core.get("human").value) == {
            "people": [{"name": "Ines", "birthday": "05-18"}],
            "likes": ["rain"],
        }
