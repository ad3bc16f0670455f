"""For tests of agents, ours and yours: a scripted model, a frozen clock, a throw-away runtime.

with temporary_runtime() as runtime:
    model = ScriptedModel([call("core_append", block="human", content="Sam"), "Noted."])
    agent = runtime.agent("ada", model=model)
    assert agent.send("I am Sam.").text == "Noted."
"""

from collections.abc import Iterator
from contextlib import contextmanager

from pagemind.runtime.clock import Clock, FrozenClock
from pagemind.runtime.model import Embedder
from pagemind.runtime.models.hashing_embedder import HashingEmbedder
from pagemind.runtime.models.scripted_model import ScriptedModel, call
from pagemind.runtime.runtime import Runtime

__all__ = ["FrozenClock", "HashingEmbedder", "ScriptedModel", "call", "temporary_runtime"]


@contextmanager
def temporary_runtime(
    clock: Clock | None = None, embedder: Embedder | None = None
) -> Iterator[Runtime]:
    """A runtime in a folder that goes when it is closed, with a clock that stands still and an
    embedder that needs no model."""
    runtime = Runtime(
        ":memory:",
        clock=clock or FrozenClock(),
        embedder=embedder or HashingEmbedder(64),
        background=False,
    )
    with runtime:
        yield runtime
