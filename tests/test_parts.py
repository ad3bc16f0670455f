"""Parts: a flush goes in order, and each mechanism of paging can be left out for a comparison."""

from kernel_kit import everything, last_asked, sentence, small

from pagemind.runtime.agent import Agent
from pagemind.runtime.parts import ALL, Parts
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import FrozenClock, HashingEmbedder, ScriptedModel, call
from pagemind.runtime.tool import Tool, tool


@tool(effect="none")
def forecast(place: str) -> str:
    """The weather, at length.

    Args:
        place: Where.
    """
    return f"In {place}: " + "wind from the west, rain later, sun between. " * 40


TOOLS: list[Tool] = [forecast]


def talked(parts: Parts, turns: int, *, every: int = 0) -> Agent:
    """An agent with so many turns behind it, each `every`th with a long result. Its runtime stays
    open: it is thrown away with the process."""
    runtime = Runtime(
        ":memory:",
        clock=FrozenClock(),
        embedder=HashingEmbedder(32),
        background=False,
        parts=parts,
    )
    model = ScriptedModel(after="I see.", summary=lambda _: "They spoke of many things.")
    definition = small(4096, "page_in", more="prefetch: {tokens: 0}\n")
    agent = runtime.agent("ada", definition, model=model, tools=TOOLS)
    for number in range(turns):
        if every and number % every == 0:
            model._answers = iter([call("forecast", place=f"Lagos {number}"), "It will rain."])
        agent.send(sentence(number, 12))
    return agent


def shown(agent: Agent) -> list[str]:
    """The texts of the next request's messages."""
    return [message.text for message in agent.context.render(128).messages]


def keep_of(agent: Agent) -> int:
    """What a flush leaves, with the sections that it may fill."""
    return agent.queue_manager.measure().keep_at


def test_results_become_handles_before_any_talk_leaves() -> None:
    """Stage 0: where long results are what fills the window, no message is paged out."""
    agent = talked(ALL, 4, every=1)
    said = [text for text in shown(agent) if text.startswith("Fact")]
    results = [text for text in shown(agent) if "wind from the west" in text]
    assert len(results) == 4
    flushed = agent.queue_manager.flush(None, keep=keep_of(agent))
    assert not flushed.pages
    assert flushed.freed > 1000
    assert [text for text in shown(agent) if text.startswith("Fact")] == said
    assert not any("wind from the west" in text for text in shown(agent))
    assert sum("page_in" in text for text in shown(agent)) == 4
    assert sum("wind from the west" in m.text for m in everything(agent)) == 4


def test_without_handles_talk_leaves_with_the_results() -> None:
    """The same flush pages out instead."""
    agent = talked(Parts(handles=False), 4, every=1)
    flushed = agent.queue_manager.flush(None, keep=keep_of(agent))
    assert flushed.pages


def test_the_newest_results_stay_while_their_turn_runs() -> None:
    """A model that called a function reads its result, whatever the flush."""
    agent = talked(ALL, 3, every=1)
    event = max(m.seq for m in everything(agent) if m.role == "user")
    agent.queue_manager.flush(event, keep=keep_of(agent))
    assert sum("wind from the west" in text for text in shown(agent)) == 1


def test_without_a_warning_there_is_no_notice() -> None:
    """The window still never overflows."""
    warned = [m for m in everything(talked(ALL, 100)) if m.kind == "notice"]
    agent = talked(Parts(warning=False), 100)
    assert warned
    assert not [m for m in everything(agent) if m.kind == "notice"]
    assert agent.state.pages.count() > 0


def test_without_a_table_or_a_summary_the_head_lacks_them() -> None:
    """Pages are written and can be read all the same."""
    for parts, has, lacks in (
        (ALL, ("<summary>", "<page_table>"), ()),
        (Parts(table=False), ("<summary>",), ("<page_table>",)),
        (Parts(summary=False), ("<page_table>",), ("<summary>",)),
        (Parts(summary=False, table=False), (), ("<summary>", "<page_table>", "<earlier")),
    ):
        agent = talked(parts, 100)
        head = agent.context.head()
        assert all(tag in head for tag in has), parts
        assert not any(tag in head for tag in lacks), parts
        model = agent.model
        assert isinstance(model, ScriptedModel)
        model._answers = iter([call("page_in", id="p1"), "There it is."])
        agent.send("What was first?")
        assert any("Fact 0:" in message.text for message in last_asked(model).messages)
