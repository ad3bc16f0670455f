"""`pagemind usage`: what was spent, on what, when, and what is not known of it."""

from pathlib import Path

import pytest
from cli_kit import Cli
from kernel_kit import small

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.model import Embedder, EmbeddingIdentity, ModelReply, ModelRequest, Usage
from pagemind.runtime.models.metered import bill
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel


class Billed:
    """An embedder of a provider that bills each request."""

    def __init__(self) -> None:
        self._inner: Embedder = HashingEmbedder(32)

    @property
    def identity(self) -> EmbeddingIdentity:
        return self._inner.identity

    def embed(self, texts: list[str]) -> list[list[float]]:
        bill(7 * len(texts), 0.0001)
        return self._inner.embed(texts)

    def close(self) -> None:
        self._inner.close()


def reply(request: ModelRequest) -> ModelReply:
    priced = None if len(request.messages) == 1 else 0.002
    return ModelReply("The boat. " * 90, usage=Usage(900, 100, 50), model="m", cost=priced)


@pytest.fixture
def spent(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Two days of an agent: turns, a summary, embeddings."""
    monkeypatch.setattr(
        "pagemind.runtime.runtime.make_embedder", lambda name: Billed() if name != "none" else None
    )
    clock = FrozenClock()
    definition = small(2048, more="embedding: acme/embed\n")
    with Runtime(cli.home, clock=clock, background=False) as runtime:
        model = ScriptedModel(reply, name="acme/large")
        agent = runtime.agent("ada", definition, model=model)
        for _ in range(4):
            agent.send("Go on about the boat")
        clock.advance(days=1)
        for _ in range(14):
            agent.send("Go on about the boat")
        runtime.drain(agent)
    return cli


def test_background_work_and_embeddings_are_counted(spent: Cli) -> None:
    """Beside the turns, which keep their keys; the total is of all three."""
    item = spent("usage", "--json").json["items"][0]
    assert (item["agent"], item["steps"], item["prompt_tokens"]) == ("ada", 18, 18 * 900)
    assert item["cost"]["known"] is False
    assert item["background"]["calls"] >= 1
    assert item["background"]["prompt_tokens"] == 900 * item["background"]["calls"]
    assert item["background"]["cost"]["known"] is False
    assert item["embeddings"]["calls"] >= 1
    assert item["embeddings"]["prompt_tokens"] >= 7
    assert item["embeddings"]["cost"]["known"] is True
    parts = [item[part] for part in ("background", "embeddings")]
    whole = item["cost"]["amount"] + sum(part["cost"]["amount"] for part in parts)
    assert item["total_cost"]["amount"] == pytest.approx(whole)


def test_it_is_listed_by_day_model_and_purpose(spent: Cli) -> None:
    """Each is a way to add up the same calls."""
    days = spent("usage", "--by", "day", "--json").json["items"]
    assert [item["day"] for item in days] == ["2026-01-05", "2026-01-06"]
    models = {i["model"] for i in spent("usage", "--by", "model", "--json").json["items"]}
    assert models == {"acme/large", "acme/embed"}
    purposes = spent("usage", "--by", "purpose", "--json").json["items"]
    assert {item["purpose"] for item in purposes} == {"turn", "summary", "embedding"}
    for other in (days, purposes):
        assert sum(i["calls"] for i in other) == sum(i["calls"] for i in days)
    later = spent("usage", "--by", "day", "--since", "2026-01-06", "--json").json["items"]
    assert later == days[1:]


def test_what_is_not_known_is_said(spent: Cli) -> None:
    """A sum that lacks something has ≥ before it, and how many calls are missing is told."""
    ran = spent("usage")
    assert "≥ $" in ran.out
    assert "without a known price" in ran.err
    by = spent("usage", "--by", "purpose")
    assert [line.split()[-1] for line in by.out.splitlines()[1:]] == [
        "embedding",
        "summary",
        "turn",
    ]


def test_what_was_spent_stays_spent(spent: Cli) -> None:
    """Deleting an agent takes its steps, and not what it cost beside them."""
    assert spent("agents", "delete", "ada", "--yes").code == 0
    item = spent("usage", "--json").json["items"][0]
    assert item["agent"] == "ada"
    assert item["steps"] == 0
    assert item["background"]["calls"] >= 1


def test_a_day_that_is_none_is_refused(cli: Cli) -> None:
    """One line, with an example."""
    ran = cli("usage", "--since", "whenever")
    assert ran.code == 1
    assert "--since 2026-05-08" in ran.err
    assert cli("usage", "--by", "colour").code == 2


def test_local_embeddings_cost_nothing(cli: Cli, tmp_path: Path) -> None:
    """They are counted, and their price is known."""
    definition = small(2048, more="embedding: hashing\n")
    with Runtime(cli.home, background=False) as runtime:
        agent = runtime.agent("ada", definition, model=ScriptedModel(["Hi."]))
        agent.send("Hello")
        runtime.drain(agent)
    item = cli("usage", "--json").json["items"][0]
    assert item["embeddings"]["calls"] >= 1
    assert item["embeddings"]["cost"] == {"amount": 0.0, "currency": "USD", "known": True}


def test_background_work_counts_in_the_budget_of_a_day(tmp_path: Path) -> None:
    """A summary that costs more than the day allows ends the next turn; tomorrow it goes on."""

    def dear(request: ModelRequest) -> ModelReply:
        price = 0.0001 if request.purpose == "turn" else 5.0
        return ModelReply("The boat. " * 90, usage=Usage(900, 100), model="m", cost=price)

    clock = FrozenClock()
    definition = small(2048, more="budget: {day_usd: 1.00}\n")
    with Runtime(tmp_path, clock=clock, embedder=HashingEmbedder(16), background=False) as runtime:
        agent = runtime.agent("ada", definition, model=ScriptedModel(dear, name="acme/large"))
        reasons = [agent.send("Go on about the boat").stop_reason for _ in range(16)]
        assert reasons[0] == "answered"
        assert reasons[-1] == "cost"
        clock.advance(days=1)
        assert agent.send("And today?").stop_reason == "answered"
