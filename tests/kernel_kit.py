"""What tests of the kernel share: a small agent, a home that outlives its runtime, a busy reply."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import Clock, FrozenClock
from pagemind.runtime.definition import AgentDefinition, parse_definition
from pagemind.runtime.message import Message
from pagemind.runtime.model import Embedder, Model, ModelRequest
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel

SMALL = """
name: small
system: You are a test agent with a small window.
context_window: {window}
output_reserve: {reserve}
blocks:
  human: {{value: "", limit: {limit}, description: The person.}}
tools: [{tools}]
timezone: Europe/Lisbon
"""


def small(
    window: int = 2048,
    *tools: str,
    reserve: int = 128,
    limit: int = 400,
    more: str = "",
) -> AgentDefinition:
    """A definition with little in its head, so that most of the window is room: `window` is what
    it has beside the words on data that end all instructions."""
    named = ", ".join(tools or ("core_append", "recall_search", "archival_insert", "page_in"))
    text = SMALL.format(window=window + WORDS_ON_DATA, reserve=reserve, limit=limit, tools=named)
    return parse_definition(text + more)


WORDS_ON_DATA = 76  # tokens of prompts/data.md
_CLOCKS: dict[Path, FrozenClock] = {}  # a home opened again goes on with its clock


@contextmanager
def runtime_at(
    home: Path, clock: Clock | None = None, embedder: Embedder | None = None
) -> Iterator[Runtime]:
    """A runtime whose home stays when it is closed."""
    runtime = Runtime(
        home,
        clock=clock or _CLOCKS.setdefault(home, FrozenClock()),
        embedder=embedder or HashingEmbedder(32),
        background=False,
    )
    with runtime:
        yield runtime


@contextmanager
def agent_at(
    home: Path, model: Model, definition: AgentDefinition | None = None, clock: Clock | None = None
) -> Iterator[Agent]:
    """The agent "ada" of a home, made if it is not there."""
    with runtime_at(home, clock) as runtime:
        yield runtime.agent("ada", definition=definition or small(), model=model)


def everything(agent: Agent) -> list[Message]:
    """The whole journal, notices and readings included."""
    journal = agent.state.journal
    return [message for message, _, _ in journal.range(1, journal.last_seq)]


def sentence(number: int, words: int = 30) -> str:
    """A message that no other is like."""
    filler = " ".join(f"word{(number * 7 + at) % 97}" for at in range(words))
    return f"Fact {number}: the value of item K{number:04d} is {number * 13}. {filler}."


def last_asked(model: ScriptedModel) -> ModelRequest:
    """The newest request of a turn; an idle flush may have asked for a summary after it."""
    return next(r for r in reversed(model.requests) if r.purpose == "turn")


def last_result(model: ScriptedModel) -> Message:
    """The newest tool result that a model was shown."""
    return next(m for m in reversed(last_asked(model).messages) if m.role == "tool")
