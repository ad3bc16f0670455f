"""The embedded model answers for real: one turn, and one flush with a small window."""

import pytest

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.errors import LocalModelError
from pagemind.runtime.models.pull import find
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder

MODEL = "smollm2-135m"


def _present() -> bool:
    try:
        find(MODEL)
    except LocalModelError:
        return False
    return True


pytestmark = [
    pytest.mark.local_model,
    pytest.mark.skipif(not _present(), reason=f"{MODEL} is not pulled"),
]

DEFINITION = parse_definition(
    """
name: small
context_window: 1024
output_reserve: 128
blocks: {human: {limit: 300, description: What I know about the person.}}
tools: [core_append, recall_search]
"""
)


def test_the_embedded_model_answers_and_its_window_is_flushed(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real reply comes; a full window is paged out without a model, and the next one comes."""
    monkeypatch.setenv("PAGEMIND_MODELS", str(find(MODEL).parent))
    home = tmp_path_factory.mktemp("home")
    with Runtime(home, embedder=HashingEmbedder(64), background=False) as runtime:
        agent = runtime.agent("ada", DEFINITION, model=f"local/{MODEL}")
        assert agent.model.name == f"local/{MODEL}"
        first = agent.send("Hello, what is two plus two?")
        assert first.error is None
        assert first.text
        for number in range(12):
            agent.observe(
                f"Log entry {number}: all boats are in the harbour and the wind comes from west.",
                source="log",
            )
        assert agent.state.pages.count() >= 1
        second = agent.send("Thank you.")
        assert second.error is None
        assert second.text
        pressure = agent.queue_manager.measure()
        assert pressure.used <= pressure.usable
