"""Boot: builds an Agent from its state and definition, one part a line, in the order they start."""

from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, tzinfo

from pagemind.runtime.agent import Agent
from pagemind.runtime.agent_archives import AgentArchives, SharedSearch
from pagemind.runtime.agent_facts import AgentFacts
from pagemind.runtime.approvals import Approvals
from pagemind.runtime.archival_memory import ArchivalMemory
from pagemind.runtime.archives import Archives
from pagemind.runtime.clock import Clock, LocalZone
from pagemind.runtime.core_editor import CoreEditor, take_up
from pagemind.runtime.core_memory import Block, CoreMemory
from pagemind.runtime.deep_recall import DeepRecall
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.definition_parts import BlockSpec
from pagemind.runtime.earlier import Earlier
from pagemind.runtime.episodes import Episodes
from pagemind.runtime.errand import Teamwork
from pagemind.runtime.function_executor import FunctionExecutor
from pagemind.runtime.function_names import ALL_GROUPS, names
from pagemind.runtime.gist_writer import GistWriter
from pagemind.runtime.heartbeat import with_heartbeat
from pagemind.runtime.item_store import ItemStore, Shelf
from pagemind.runtime.loop import Loop
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.mcp.offered import KEY
from pagemind.runtime.mcp.servers import Servers, stored_tools
from pagemind.runtime.model import Embedder, Model
from pagemind.runtime.model_caller import ModelCaller
from pagemind.runtime.mould import cache_key
from pagemind.runtime.nearness import Nearness
from pagemind.runtime.page_finder import PageFinder
from pagemind.runtime.page_reader import PageReader
from pagemind.runtime.paging import Paging
from pagemind.runtime.part_size import PartSize
from pagemind.runtime.parts import ALL, Parts
from pagemind.runtime.passage_reader import PassageReader
from pagemind.runtime.permitted import Permitted
from pagemind.runtime.prefetch import Lookup, Prefetcher
from pagemind.runtime.pressure import Thresholds, Window, check_room, measure, window
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.scope import seen
from pagemind.runtime.search_view import StateView
from pagemind.runtime.services import Recall, Timers
from pagemind.runtime.settings import (
    DEFAULT_WINDOW_TOKENS,
    GUIDED_FUNCTIONS,
    GUIDED_TOOLS_TOKENS,
    LOCAL_MAX_TOKENS,
    LOCAL_PREFETCH_TOKENS,
    PAGE_IN_FRACTION,
    PAGE_INS_FRACTION,
    PREFETCH_BELOW_TOKENS,
    PREFETCH_FRACTION,
    RESULT_PART_TOKENS,
)
from pagemind.runtime.shared_archives import SharedArchives
from pagemind.runtime.shared_copies import SharedCopies
from pagemind.runtime.skills import Skills
from pagemind.runtime.sleep.room import worker_of
from pagemind.runtime.state.shared_blocks import SharedBlocks
from pagemind.runtime.state.state import State
from pagemind.runtime.summarizer import Summarizer
from pagemind.runtime.telling import Telling
from pagemind.runtime.tiers.search import Search, TierSearch
from pagemind.runtime.tiers.store import TierStore
from pagemind.runtime.tiers.write_back import WriteBack
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import Tool, ToolContext, ToolRegistry
from pagemind.runtime.turn import TurnLimits
from pagemind.runtime.turn_rules import described


def first_blocks(state: State, definition: AgentDefinition, without: Collection[str] = ()) -> None:
    """Core memory as the definition says, when the agent is made; not the blocks it has."""
    for label, spec in definition.blocks.items():
        if label in without:
            continue
        state.blocks.save(
            _block(label, spec),
            author="definition",
            reason="created",
            seq=0,
            origin="operator",
            trust=None,
        )


def _block(label: str, spec: BlockSpec) -> Block:
    return Block(label, spec.value, spec.limit, spec.description, spec.read_only)


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
    context.cache_key = cache_key(agent_id)

    # How large its window is: what the definition says, the model, or a stated default.
    full = _window(definition, model, state)
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
    writable = SharedArchives(archives, written_to, agent=name, sight=sight) if written_to else None
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
    )

    def written() -> None:
        write_back.kick(agent_id)

    # The services that functions are given.
    from pagemind.tools.skill_process import run_skills

    recall = TierSearch("recall", engine)
    passages = SharedSearch(TierSearch("archival", engine), shared)

    def scopes() -> list[str]:
        return [each for each in state.passages.scopes() if seen(each, sight.readable)]

    def deepened(shallow: Recall, of: Callable[[], Sequence[str]] = tuple) -> Recall:
        if definition.search.depth == "shallow":
            return shallow
        return DeepRecall(shallow, lambda: writer, lambda: clock.now().astimezone(zone), of)

    # An insert waits for no server: what is nearly the same only an embedder in the house tells.
    near = engine.near if definition.embedding.startswith("local/") else None
    archival = ArchivalMemory(
        state, deepened(passages, scopes), written=written, near=near, sight=sight, like=passages
    )
    editor = CoreEditor(state, core, shared=copies)
    may = Permitted(definition.memory)
    experience = TierSearch("archival", engine.seeing(sight.own))
    episodes = Episodes(
        state,
        experience,
        written=written,
        makes=definition.memory.writes("episodic"),
    )
    skills = Skills(
        state,
        experience,
        definition.skills,
        run=run_skills,
        trust=context.min_trust,
        written=written,
    )

    shelf = Shelf(state, engine, written)
    items = ItemStore(
        lambda: nullcontext(shelf),
        lambda: nullcontext(shelf),
        sight=sight,
        origin="model",
    )

    team = seat(lambda: agent.follow_within())

    part_tokens = PartSize(state, room)
    pages = PageReader(state, count=counter.count, zone=zone, part_tokens=part_tokens)
    whole = PassageReader(
        state, shared.sources, count=counter.count, part_tokens=part_tokens, sight=sight
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
            archival=may.archival(archival),
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
            episodes=episodes if may.reads("episodic") else None,
            facts=may.facts(AgentFacts(state, turn=turn, written=written, sight=sight)),
            skills=skills if may.reads("procedural") else None,
            store=items,
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
        Summarizer(writer, counter.count, lambda: _summary_window(writer, full)),
        thresholds=thresholds,
        window=caller.own_window,
        zone=zone,
        read=pages.text_of,
        written=written,
        parts=parts,
    )

    def prefetch_tokens() -> int:
        asked = _prefetch_tokens(definition, full(), slow=guided or model.name.startswith("local/"))
        return min(asked, int(room() * PREFETCH_FRACTION)) if asked and parts.prefetch else 0

    wanted = definition.prefetch
    prefetcher = Prefetcher(
        [
            Lookup(
                passages.search,
                wanted.archival * may.reads("semantic"),
                lambda: not (named or archival.count()),
            ),
            # What was said is in the window until the first flush.
            Lookup(
                recall.search,
                wanted.recall * may.reads("episodic"),
                lambda: not state.pages.count(),
            ),
            Lookup(
                episodes.offered,
                definition.episodes.offer * may.reads("episodic"),
                episodes.nothing,
            ),
            Lookup(
                TierSearch("pages", engine).search,
                # A guided model is given facts, not where to look.
                0 if guided else wanted.pages * may.reads("episodic"),
                lambda: not state.pages.count(),
                spare=True,  # where the words themselves are found, nobody needs to be told where
            ),
        ],
        tokens=prefetch_tokens,
        near=Nearness(state, embedder).get,
        telling=telling.of,
        in_view=context.readable,
        count=counter.count,
        zone=zone,
        monotonic=clock.monotonic,
    )
    approvals = Approvals(state.database, queue_manager)
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
        ),
        tool_context=tool_context,
        approvals=approvals,
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
        archival=archival,
        items=items,
        shared_blocks=copies,
        team=team,
        engine=engine,
        gists=GistWriter(
            writer if improves else None,
            state,
            counter.count,
            window=lambda: _summary_window(writer, full),
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
            window=lambda: _summary_window(sleeper or writer, full),
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
        ],
        closed=let_go,
    )
    state.database.set_meta("model", model.name)
    state.database.set_meta("protocol", protocol)
    queue_manager.load()
    queue_manager.grow_tree()
    agent.recover()
    return agent


def registry_of(
    definition: AgentDefinition,
    protocol: str,
    tools: Sequence[Tool] | None = None,
    state: State | None = None,
) -> ToolRegistry:
    """The functions as the protocol offers them; the definition's own by default, and with the
    `state` of an agent those that its servers said last."""
    from pagemind.tools import of_definition, send_message

    chosen = of_definition(definition) if tools is None else list(tools)
    if state is not None and definition.servers:
        chosen += stored_tools(definition.servers, state.database.meta(KEY))
    chosen = [replace(tool, description=described(tool)) for tool in chosen]
    if protocol == "guided":
        chosen = [tool for tool in chosen if tool.name in GUIDED_FUNCTIONS]
    if protocol == "heartbeat":
        chosen = with_heartbeat([send_message, *chosen])
    return ToolRegistry(chosen, withheld=definition.memory.forbidden(names(ALL_GROUPS)))


def _closed_note(name: str, definition: AgentDefinition) -> list[str]:
    """What it may not use, since nobody has accepted its definition."""
    if not definition.closed:
        return []
    names = ", ".join(definition.closed)
    return [f"{names}: closed until `pagemind agents accept {name}`, since {name} was imported"]


def core_of(state: State, definition: AgentDefinition, protocol: str) -> CoreMemory:
    """Core memory as the prompt will show it once the queue manager has loaded. A guided model
    reads what was noted from the blocks: for it they are always current."""
    live = protocol == "guided" or definition.prompt.refresh_blocks == "on_edit"
    blocks = state.blocks.all() if definition.memory.reads("working") else []
    return CoreMemory(blocks, live=live, profiles=definition.profiles)


def tools_cost(protocol: str) -> int | None:
    """Tokens of the functions where schemas are not sent as such; None: count the schemas."""
    return GUIDED_TOOLS_TOKENS if protocol == "guided" else None


def zone_of(definition: AgentDefinition) -> tzinfo:
    """The agent's time zone, or the machine's."""
    return definition.zone or LocalZone()


def _window(definition: AgentDefinition, model: Model, state: State) -> Callable[[], Window]:
    """The window, found once, when it is first needed: asking a model may import a library."""
    found: list[Window] = []

    def get() -> Window:
        """Found once; kept in the state for readers."""
        if not found:
            tokens, source = definition.context_window, "definition"
            if tokens is None:
                info = model.window()
                tokens, source = (
                    (info.tokens, info.source) if info else (DEFAULT_WINDOW_TOKENS, "default")
                )
            reserve = definition.output_reserve
            if reserve is None and model.name.startswith("local/"):
                reserve = LOCAL_MAX_TOKENS
            found.append(window(tokens, source, reserve))
            one = found[0]
            state.database.set_meta("window", f"{one.tokens} {one.reserve} {one.source}")
        return found[0]

    return get


def _prefetch_tokens(definition: AgentDefinition, own: Window, *, slow: bool) -> int:
    """What memories before an event may cost: as the definition says; else only small windows
    have them, and less of them where a prompt is read slowly."""
    if definition.states("prefetch") or definition.episodes.offer:
        return definition.prefetch.tokens
    if own.usable >= PREFETCH_BELOW_TOKENS:
        return 0
    return LOCAL_PREFETCH_TOKENS if slow else definition.prefetch.tokens


def _summary_window(writer: Model | None, own: Callable[[], Window]) -> int:
    """Usable tokens of the model that summarises: its own window if it is not the agent's."""
    info = writer.window() if writer is not None else None
    return min(info.tokens, own().tokens) if info else own().tokens


def check_fits(definition: AgentDefinition, protocol: str, counter: TokenCounter) -> None:
    """Refuse a definition whose fixed part leaves too little of its context_window.

    Raises WindowTooSmall.
    """
    tokens = definition.context_window
    assert tokens is not None
    blocks = [_block(label, spec) for label, spec in definition.blocks.items()]
    core = CoreMemory(blocks, profiles=definition.profiles)
    schemas = registry_of(definition, protocol).schemas()
    context = MainContext(definition.instructions(protocol), core, schemas, counter)
    context.tools_cost = tools_cost(protocol)
    usable = window(tokens, "definition", definition.output_reserve).usable
    check_room(measure(context.sections(), usable, Thresholds()), tokens)
