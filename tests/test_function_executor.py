"""The executor: every error is a result that the model can act on, and effects are atomic."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import LostAgent, ToolFailed
from pagemind.runtime.function_executor import FunctionExecutor, Outcome
from pagemind.runtime.message import Message, ToolCall
from pagemind.runtime.services import Hit
from pagemind.runtime.state.state import State
from pagemind.runtime.tool import ToolContext, ToolRegistry, ToolResult, make_tool


class Kit:
    """Some functions, a database they write to, and the results that were stored."""

    def __init__(self, folder: Path) -> None:
        self.state = State(folder, FrozenClock())
        self.stored: list[Message] = []
        database = self.state.database

        def note(ctx: ToolContext, key: str) -> str:
            """Write a key.

            Args:
                key: The key.
            """
            database.set_meta(key, "written")
            return f"wrote {key}"

        def note_and_fail(key: str) -> str:
            """Write a key, then fail."""
            database.set_meta(key, "written")
            raise ToolFailed(f"{key} is not wanted; try another")

        def crash() -> str:
            """Has a fault."""
            raise ZeroDivisionError("division by zero")

        def add(left: int, right: int = 1) -> str:
            """Add."""
            return str(left + right)

        def table() -> Any:
            """Give something that is no text."""
            return {"höhe": 3, "list": [1, 2]}

        def silent() -> str:
            """Say nothing."""
            return ""

        def half() -> str:
            """Give half a character and a NUL."""
            return "a\ud83c\x00"

        def reading() -> ToolResult:
            """Read a page."""
            return ToolResult("[read p1]", reference={"target": "p1"})

        def lose() -> str:
            """Lose the disk."""
            raise LostAgent("another process took it")

        def shows() -> ToolResult:
            """Show a message."""
            return ToolResult(
                "m7 boat", shown=(Hit("m7", "recall", "boat", 1.0, origin="document", trust=30),)
            )

        memory = [make_tool(f, effect="memory") for f in (note, note_and_fail)]
        world = [make_tool(f) for f in (crash, add, table, silent, half, lose)]
        none = [make_tool(f, effect="none") for f in (reading, shows)]
        registry = ToolRegistry([*memory, *world, *none])
        self.executor = FunctionExecutor(registry, database, FrozenClock())

    def store(self, message: Message) -> Message:
        self.stored.append(message)
        return message

    def run(self, name: str, arguments: str = "{}", **more: Any) -> Outcome:
        context = cast(
            ToolContext,
            SimpleNamespace(
                cancel=None,
                person=None,
                turn=1,
                agent="ada",
                trust=100,
            ),
        )
        return self.executor.execute(ToolCall("c1", name, arguments), context, self.store, **more)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    kit = Kit(tmp_path)
    yield kit
    kit.state.close()


def test_a_result_answers_its_call(kit: Kit) -> None:
    """Role, call id, name and provenance say what it answers and where it comes from."""
    outcome = kit.run("note", '{"key": "k"}')
    (result,) = kit.stored
    assert outcome.ok
    assert (result.role, result.tool_call_id, result.name) == ("tool", "c1", "note")
    assert result.text == "wrote k"
    assert result.provenance.origin == "tool"


def test_what_a_search_shows_is_noted_with_its_result(kit: Kit) -> None:
    """In one transaction: a result that cannot be stored was never seen."""

    def full(message: Message) -> Message:
        if message.ok:
            raise LostAgent("another process took it")
        return message

    with pytest.raises(LostAgent):
        kit.executor.execute(
            ToolCall("c1", "shows", "{}"),
            cast(
                ToolContext,
                SimpleNamespace(
                    cancel=None,
                    person=None,
                    turn=1,
                    agent="ada",
                    trust=100,
                ),
            ),
            full,
        )
    assert not kit.state.accesses.read("recall", [7])
    assert kit.run("shows").ok
    assert list(kit.state.accesses.read("recall", [7])) == [7]


def test_effect_and_result_commit_together(kit: Kit) -> None:
    """If the result cannot be stored, what a memory function did is undone."""

    def full(message: Message) -> Message:
        if message.ok:
            raise LostAgent("another process took it")
        return message

    with pytest.raises(LostAgent):
        kit.executor.execute(
            ToolCall("c1", "note", '{"key": "k"}'),
            cast(
                ToolContext,
                SimpleNamespace(
                    cancel=None,
                    person=None,
                    turn=1,
                    agent="ada",
                    trust=100,
                ),
            ),
            full,
        )
    assert kit.state.database.meta("k") == ""


def test_a_refused_memory_call_changes_nothing(kit: Kit) -> None:
    """What it wrote before it failed is undone; the refusal is the result."""
    outcome = kit.run("note_and_fail", '{"key": "k"}')
    assert not outcome.ok
    assert not kit.stored[0].ok
    assert kit.stored[0].text == "k is not wanted; try another"
    assert kit.state.database.meta("k") == ""


def test_an_unknown_function_brings_the_nearest(kit: Kit) -> None:
    """The valid names and the most similar one are in the result."""
    outcome = kit.run("notte")
    assert "Did you mean note?" in (outcome.error or "")
    assert "add" in (outcome.error or "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("{}", "left"),
        ('{"left": "many"}', "left"),
        ('{"left": 1, "middle": 2}', "does not take middle; its arguments: left, right"),
        ("[1, 2]", "not a JSON object"),
        ('"left"', "not a JSON object"),
        ("left is 1", "not a JSON object"),
        ('{"_unparsed": "left: 1,"}', "left: 1,"),
        ("[" * 5000, "not a JSON object"),
    ],
)
def test_bad_arguments_say_which_and_why(kit: Kit, arguments: str, told: str) -> None:
    """The model reads what is wrong with which argument."""
    outcome = kit.run("add", arguments)
    assert not outcome.ok
    assert told in (outcome.error or "")


@pytest.mark.parametrize(
    "arguments", ['{"left": "2"}', '{"left": 2, "right": null}', '{"left": 2.0}']
)
def test_sloppy_arguments_are_understood(kit: Kit, arguments: str) -> None:
    """A number as text, a null for what is optional."""
    assert kit.run("add", arguments).message.text == "3"


def test_no_arguments_at_all_are_an_empty_object(kit: Kit) -> None:
    """Some servers send an empty text."""
    assert kit.run("silent", "").ok


def test_a_fault_of_a_function_is_a_result(kit: Kit, caplog: pytest.LogCaptureFixture) -> None:
    """Its kind and message are told, and the person finds a traceback in the log."""
    outcome = kit.run("crash")
    assert outcome.error == "crash failed: ZeroDivisionError: division by zero"
    assert "Traceback" in caplog.text


def test_a_fault_of_the_disk_is_not_the_models_business(kit: Kit) -> None:
    """StorageError leaves; nothing is stored."""
    with pytest.raises(LostAgent):
        kit.run("lose")
    assert kit.stored == []


def test_a_cut_off_call_is_not_run(kit: Kit) -> None:
    """Arguments that the output limit ended are never carried out, even if they parse."""
    outcome = kit.run("note", '{"key": "k"}', cut_off=True)
    assert "cut off" in (outcome.error or "")
    assert kit.state.database.meta("k") == ""


def test_what_is_no_text_becomes_json(kit: Kit) -> None:
    """Readable, without escapes."""
    assert kit.run("table").message.text == '{"höhe": 3, "list": [1, 2]}'


def test_an_empty_answer_says_done(kit: Kit) -> None:
    """No result is ever empty: providers refuse it."""
    assert kit.run("silent").message.text == "done"


def test_odd_characters_are_cleaned(kit: Kit) -> None:
    """Half a character from a function reaches neither disk nor provider."""
    assert kit.run("half").message.text == "a\ufffd\u2400"


def test_half_a_character_in_an_argument_is_cleaned(kit: Kit) -> None:
    """An escape that is no character is replaced before the function sees it."""
    kit.run("note", '{"key": "a\\ud83c"}')
    assert kit.state.database.meta("a\ufffd") == "written"


def test_a_note_follows_the_result(kit: Kit) -> None:
    """The nudge stands on a line after what the function said, also after an error."""
    assert kit.run("add", '{"left": 1}', note="[again]").message.text == "2\n[again]"
    assert kit.run("crash", note="[again]").message.text.endswith("\n[again]")


def test_results_of_the_world_have_less_trust(kit: Kit) -> None:
    """What memory functions say is the agent's own; what the world says is a stranger's."""
    own = kit.run("note", '{"key": "k"}').message.provenance.trust
    world = kit.run("add", '{"left": 1}').message.provenance.trust
    assert own > 60 > world


def test_what_memory_gives_back_is_no_better_for_it(kit: Kit) -> None:
    """A document that was found is a document still."""
    assert kit.run("shows").message.provenance.trust == 30


def test_a_reading_is_a_reference(kit: Kit) -> None:
    """It is stored as what it refers to, not as text."""
    message = kit.run("reading").message
    assert (message.kind, message.reference) == ("reading", {"target": "p1"})


def test_an_unknown_function_might_have_done_anything(kit: Kit) -> None:
    """Its effect is the world's."""
    assert kit.executor.effect("nonsense") == "world"
    assert kit.executor.effect("note") == "memory"


def test_an_error_of_the_world_is_as_foreign_as_its_answer(kit: Kit) -> None:
    """It may hold a stranger's text; that a call was not run is the runtime's own word."""
    assert kit.run("crash").message.provenance.trust == 40
    assert kit.run("add", '{"wrong": 1}').message.provenance.trust == 80
    assert kit.run("note_and_fail", '{"key": "k"}').message.provenance.trust == 80
