"""What a definition comes to before an agent runs: blocks, functions, core memory; and whether they
fit the window that it names."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import tzinfo

from pagemind.runtime.clock import LocalZone
from pagemind.runtime.core_memory import Block, CoreMemory
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.definition_parts import BlockSpec
from pagemind.runtime.function_names import ALL_GROUPS, names
from pagemind.runtime.heartbeat import with_heartbeat
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.mcp.offered import KEY
from pagemind.runtime.mcp.servers import stored_tools
from pagemind.runtime.pressure import Thresholds, check_room, measure, window
from pagemind.runtime.settings import GUIDED_FUNCTIONS, GUIDED_TOOLS_TOKENS
from pagemind.runtime.state.state import State
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import Tool, ToolRegistry
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
