"""Boot: builds an Agent from its state and definition, one part a line, in the order they start."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from pagemind.runtime import retold
from pagemind.runtime.agent import Agent
from pagemind.runtime.agent_archives import AgentArchives, SharedSearch
from pagemind.runtime.agent_facts import AgentFacts
from pagemind.runtime.approvals import Approvals
from pagemind.runtime.archives import Archives
from pagemind.runtime.clock import Clock
from pagemind.runtime.core_editor import CoreEditor, take_up
from pagemind.runtime.deep_recall import DeepRecall
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.earlier import Earlier
from pagemind.runtime.errand import Teamwork
from pagemind.runtime.function_executor import FunctionExecutor
from pagemind.runtime.gate import Gate
from pagemind.runtime.gist_writer import GistWriter
from pagemind.runtime.loop import Loop
from pagemind.runtime.made_of import core_of, registry_of, tools_cost, zone_of
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.mcp.servers import Servers
from pagemind.runtime.model import Embedder, Model
from pagemind.runtime.model_caller import ModelCaller
from pagemind.runtime.mould import cache_key, fences_of
from pagemind.runtime.nearness import Nearness
from pagemind.runtime.own_window import prefetch_tokens, summary_window, window_of
from pagemind.runtime.page_finder import PageFinder
from pagemind.runtime.page_reader import PageReader
from pagemind.runtime.paging import Paging
from pagemind.runtime.part_size import PartSize
from pagemind.runtime.parts import ALL, Parts
from pagemind.runtime.passage_reader import PassageReader
from pagemind.runtime.permitted import Permitted
from pagemind.runtime.prefetch import Lookup, Prefetcher
from pagemind.runtime.pressure import Thresholds
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.record_services import record_services
from pagemind.runtime.scope import seen
from pagemind.runtime.search_view import StateView
from pagemind.runtime.services import Recall, Timers
from pagemind.runtime.settings import (
    PAGE_IN_FRACTION,
    PAGE_INS_FRACTION,
    PREFETCH_FRACTION,
    RESULT_PART_TOKENS,
)
from pagemind.runtime.shared_archives import SharedArchives
from pagemind.runtime.shared_copies import SharedCopies
from pagemind.runtime.sleep.room import worker_of
from pagemind.runtime.state.shared_blocks import SharedBlocks
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import StepTrust, untrusted
from pagemind.runtime.summarizer import Summarizer
from pagemind.runtime.telling import Telling
from pagemind.runtime.tiers.search import Search, TierSearch
from pagemind.runtime.tiers.store import TierStore
from pagemind.runtime.tiers.write_back import WriteBack
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import Tool, ToolContext
from pagemind.runtime.trusting import Trusting
from pagemind.runtime.turn import TurnLimits


def boot(
    *,
    name: str,
    agent_id: str,
    state: State,
    definition: AgentDefinition,
    model: Model,
    summarizer: Model | None,
    sleeper: Model | None,
    protocol: str,
    embedder: Embedder | None,
    tools: Sequence[Tool],
    clock: Clock,
    counter: TokenCounter,
    write_back: WriteBack,
    archives: Archives,
    shared_blocks: SharedBlocks,
    timers: Timers | None = None,
    background: bool,
    closed: Callable[[Agent], None],
    seat: Callable[[Callable[[], object]], Teamwork],
    metered: Callable[[Model], Model] = lambda model: model,
    spent_beside: Callable[[datetime, str], float] = lambda since, purpose: 0.0,
    parts: Parts = ALL,
    servers: Servers | None = None,
) -> Agent:
    """The agent, with its queue loaded and its rows on their way to LanceDB."""
    zone = zone_of(definition)
    guided = protocol == "guided"

    # What the model sees: instructions, functions, core memory.
    registry = registry_of(definition, protocol, tools)
    copies = SharedCopies(state, shared_blocks, definition.shared_blocks, agent=name)
    core = core_of(state, definition, protocol)
    state.facts.set_single(definition.facts.single)
    if state.history.epoch() is None:  # what it sees first is what all see
        take_up(state, core, copies)
    schemas = registry.schemas()
    context = MainContext(definition.instructions(protocol), core, schemas, counter)
    context.tools_cost = tools_cost(protocol)
    context.core_trust = lambda: state.blocks.least_trust(core.shown_versions())
    if not guided:  # which reads its blocks one by one
        context.core_apart = lambda: untrusted(context.core_trust())
    step_trust = StepTrust()
    context.cache_key = cache_key(agent_id)
    context.fences = fences_of(state)  # what is from outside stands in them

    # How large its window is: what the definition says, the model, or a stated default.
    full = window_of(definition, model, state)
    caller = ModelCaller(model, state, context, full, zone)

    def room() -> int:
        return queue_manager.measure().room

    # The disk below: LanceDB's folder, the one search, and the thread that writes back.
    store = TierStore(state.tiers, (lambda: embedder.identity) if embedder else None, agent=name)
    write_back.register(agent_id, state.outbox, store, embedder, zone=zone)
    named = [each.name for each in definition.archives]
    shared = AgentArchives(archives, named, lambda: embedder)
    written_to = [each.name for each in definition.archives if each.mode == "write"]
    sight = definition.sight(agent_id)
    secrets = state.screen.rule = definition.trust.secrets
    writable = (
        SharedArchives(
            archives, written_to, agent=name, sight=sight, trust=step_trust, secrets=secrets
        )
        if written_to
        else None
    )
    view = StateView(state, context.in_view)
    engine = Search(
        store,
        embedder,
        view,
        zone=zone,
        now=clock.now,
        archives=shared.sources,
        weights=definition.search.all_weights,
        ranking=definition.search.ranking,
        sight=sight,
        per_source=definition.trust.per_source,
    )

    def written() -> None:
        write_back.kick(agent_id)

    # The services that functions are given.
    recall = TierSearch("recall", engine)
    passages = SharedSearch(TierSearch("archival", engine), shared)

    def deepened(shallow: Recall, of: Callable[[], Sequence[str]] = tuple) -> Recall:
        if definition.search.depth == "shallow":
            return shallow
        return DeepRecall(shallow, lambda: writer, lambda: clock.now().astimezone(zone), of)

    def scopes() -> list[str]:
        return [each for each in state.passages.scopes() if seen(each, sight.readable)]

    editor = CoreEditor(state, core, shared=copies, step_trust=step_trust)
    may = Permitted(definition.memory)
    records = record_services(
        state,
        definition,
        engine,
        search=deepened(passages, scopes),
        like=passages,
        sight=sight,
        trust=step_trust,
        written=written,
    )

    team = seat(lambda: agent.follow_within())

    part_tokens = PartSize(state, room)
    pages = PageReader(
        state, count=counter.count, zone=zone, part_tokens=part_tokens, fences=context.fences
    )
    whole = PassageReader(
        state,
        shared.sources,
        count=counter.count,
        part_tokens=part_tokens,
        sight=sight,
        fences=context.fences,
    )

    telling = Telling(state)
    finder = PageFinder(state, engine, telling)
    # What is named where a page_in is refused: a function that this agent has.
    finds = any(schema.name == "page_find" for schema in schemas)
    pages_in = any(schema.name == "page_in" for schema in schemas)
    earlier = Earlier(state, lambda: context.queue, readable=pages_in)

    def tool_context(call_id: str, turn: int) -> ToolContext:
        return ToolContext(
            agent=name,
            core=may.core(editor),
            # What was asked in this turn would be its own best answer.
            recall=may.recall(
                deepened(TierSearch("recall", engine, lambda: context.said_in(turn)))
            ),
            archival=may.archival(records.archival),
            pages=may.pages(
                Paging(
                    reader=pages,
                    passages=may.passages(whole),
                    finder=finder,
                    pinning=queue_manager.pinning,
                    shown=lambda: context.queue,
                    own=lambda: context.said_in(turn),
                    share=lambda: int(room() * PAGE_INS_FRACTION),
                    count=counter.count,
                    searching="page_find" if finds else "recall_search",
                    turn=turn,
                )
            ),
            now=lambda: clock.now().astimezone(zone),
            result_tokens=min(RESULT_PART_TOKENS, max(64, int(room() * PAGE_IN_FRACTION))),
            turn=turn,
            call_id=call_id,
            reading_tokens=part_tokens(),
            folder=definition.folder,
            earlier=earlier,
            team=team,
            shared=writable,
            timers=timers,
            episodes=records.episodes if may.reads("episodic") else None,
            facts=may.facts(
                AgentFacts(
                    state,
                    turn=turn,
                    written=written,
                    sight=sight,
                    trust=step_trust,
                    stores=definition.trust.archival == "store",
                )
            ),
            skills=records.skills if may.reads("procedural") else None,
            store=records.items,
        )

    # The queue, and what folds its head into the summary.
    thresholds = Thresholds(
        definition.pressure.warn, definition.pressure.flush, definition.pressure.keep
    )
    # An embedded model is too slow and too weak to summarise unless it is asked for by name.
    writer = summarizer or (None if model.name.startswith("local/") else model)
    writer = metered(writer) if writer is not None else None
    queue_manager = QueueManager(
        state,
        context,
        Summarizer(writer, counter.count, lambda: summary_window(writer, full)),
        thresholds=thresholds,
        window=caller.own_window,
        zone=zone,
        read=pages.text_of,
        written=written,
        parts=parts,
    )

    def prefetch_room() -> int:
        asked = prefetch_tokens(definition, full(), slow=guided or model.name.startswith("local/"))
        return min(asked, int(room() * PREFETCH_FRACTION)) if asked and parts.prefetch else 0

    wanted = definition.prefetch
    prefetcher = Prefetcher(
        [
            Lookup(
                passages.search,
                wanted.archival * may.reads("semantic"),
                lambda: not (named or records.archival.count()),
            ),
            # What was said is in the window until the first flush.
            Lookup(
                recall.search,
                wanted.recall * may.reads("episodic"),
                lambda: not state.pages.count(),
            ),
            Lookup(
                records.episodes.offered,
                definition.episodes.offer * may.reads("episodic"),
                records.episodes.nothing,
            ),
            Lookup(
                TierSearch("pages", engine).search,
                # A guided model is given facts, not where to look.
                0 if guided else wanted.pages * may.reads("episodic"),
                lambda: not state.pages.count(),
                spare=True,  # where the words themselves are found, nobody needs to be told where
            ),
        ],
        tokens=prefetch_room,
        near=Nearness(state, embedder).get,
        telling=telling.of,
        in_view=context.readable,
        count=counter.count,
        zone=zone,
        monotonic=clock.monotonic,
        fences=context.fences,
    )
    approvals = Approvals(state.database, queue_manager)
    gate = Gate(definition.trust, context, queue_manager, state.database)
    loop = Loop(
        state=state,
        caller=caller,
        queue_manager=queue_manager,
        executor=FunctionExecutor(
            registry,
            state.database,
            clock,
            approvals=approvals,
            said_in=state.journal.of_turn,
            blobs=state.blobs,
            gate=gate,
        ),
        tool_context=tool_context,
        approvals=approvals,
        gate=gate,
        step_trust=step_trust,
        heartbeat=protocol == "heartbeat",
        day_budget=definition.budget.day_usd,
        spent_beside=lambda since: spent_beside(since, ""),
        zone=zone,
    )

    def let_go(agent: Agent) -> None:
        if servers is not None:
            servers.close()
        shared.close()
        closed(agent)

    # A scripted model could only echo.
    thinks = None if model.name == "scripted/echo" else writer
    improves = definition.gists.model and not model.name.startswith("scripted/")
    agent = Agent(
        name=name,
        id=agent_id,
        state=state,
        loop=loop,
        context=context,
        queue_manager=queue_manager,
        prefetch=prefetcher.fetch,
        limits=TurnLimits(**definition.limits.model_dump()),
        zone=zone,
        background=background,
        archival=records.archival,
        items=records.items,
        shared_blocks=copies,
        team=team,
        trusting=Trusting(state, partial(retold.around, state, count=counter.count)),
        engine=engine,
        gists=GistWriter(
            writer if improves else None,
            state,
            counter.count,
            window=lambda: summary_window(writer, full),
            affordable=lambda: (left := loop.day_left()) is None or left > 0,
        ),
        sleep=lambda lock: worker_of(
            name=name,
            state=state,
            definition=definition,
            model=metered(sleeper) if sleeper is not None else thinks,
            engine=engine,
            zone=zone,
            count=counter.count,
            window=lambda: summary_window(sleeper or writer, full),
            written=written,
            left=loop.day_left,
            spent=lambda since: spent_beside(since, "background"),
            lock=lock,
            core=lambda trust: CoreEditor(
                state,
                core,
                author="worker",
                trust=trust,
                tell=queue_manager.append,
                shared=copies,
            ),
        ),
        notes=lambda: [
            *shared.warnings(),
            *(servers.notes() if servers is not None else ()),
            *_closed_note(name, definition),
            *gate.missing([schema.name for schema in schemas]),
        ],
        closed=let_go,
    )
    state.database.set_meta("model", model.name)
    state.database.set_meta("protocol", protocol)
    queue_manager.load()
    queue_manager.grow_tree()
    agent.recover()
    return agent


def _closed_note(name: str, definition: AgentDefinition) -> list[str]:
    """What it may not use, since nobody has accepted its definition."""
    if not definition.closed:
        return []
    names = ", ".join(definition.closed)
    return [f"{names}: closed until `pagemind agents accept {name}`, since {name} was imported"]
