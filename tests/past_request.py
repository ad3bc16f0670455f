"""A past request, made again from what is stored: what a step's epoch, blocks, views and prefetch
say. Its digest must be the one that the step has kept."""

from pagemind.runtime.agent import Agent
from pagemind.runtime.core_memory import CoreMemory
from pagemind.runtime.fifo_queue import Entry, FifoQueue
from pagemind.runtime.main_context import MainContext, Prefetched
from pagemind.runtime.message import Message
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.pins import Pinned
from pagemind.runtime.request_digest import RequestDigest
from pagemind.runtime.view import View, show


def digests(agent: Agent) -> dict[int, str]:
    """What each step has kept."""
    rows = agent.state.database.rows("SELECT step, request_sha256 FROM steps")
    return {row["step"]: row["request_sha256"] for row in rows}


def made_again(agent: Agent, step: int) -> str:
    """The digest of a step's request, made from the state."""
    return RequestDigest().of(request_of(agent, step))


def request_of(agent: Agent, step: int) -> ModelRequest:
    """The request of a step, made from the state. The functions are the agent's own of now."""
    state, counter = agent.state, agent.context.counter
    row = state.database.one("SELECT * FROM steps WHERE step = ?", (step,))
    assert row is not None
    epoch = state.history.epoch(row["epoch"])
    assert epoch is not None
    settings = state.database.number(
        "SELECT json_extract(settings, '$.max_tokens') FROM steps WHERE step = ?", (step,)
    )
    live = agent.context.core.live
    core = CoreMemory(state.blocks.at(state.history.blocks_of_step(step)), live=live)
    context = MainContext(
        state.history.text(epoch.system_sha256), core, agent.context.tools, counter
    )
    summary = state.pages.summary(epoch.summary)
    context.summary = summary.text if summary else ""
    context.table = state.history.text(epoch.table_sha256)
    context.pinned = Pinned(state.history.text(epoch.pinned_sha256))
    first = min(epoch.queue_start, epoch.held or epoch.queue_start)
    views = state.history.views(first, at_step=step)

    def entry(message: Message, pause: bool) -> Entry:
        view = views.get(message.seq, View())
        whole = counter.message(message)
        shown = show(
            message,
            view,
            pause=pause,
            whole=whole,
            zone=agent.zone,
            count=counter.count,
            read=agent.queue_manager._read,
        )
        return Entry(message, shown, 0, whole, view, pause)

    entries = [entry(m, p) for m, _, p in state.journal.range(epoch.queue_start, row["last_seq"])]
    context.queue = FifoQueue(e for e in entries if e.view.form != "gone")
    if epoch.held is not None:
        for message, _, pause in state.journal.range(epoch.held, epoch.held):
            context.held = entry(message, pause)
    event = state.database.number("SELECT first_seq FROM turns WHERE turn = ?", (row["turn"],))
    if text := state.history.text(row["prefetch_sha256"]):
        context.prefetch = Prefetched(event, text)
    return context.render(settings)
