"""How large an agent's window is, and what prefetched memories and summaries may take of it."""

from collections.abc import Callable

from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.model import Model
from pagemind.runtime.pressure import Window, window
from pagemind.runtime.settings import (
    DEFAULT_WINDOW_TOKENS,
    LOCAL_MAX_TOKENS,
    LOCAL_PREFETCH_TOKENS,
    PREFETCH_BELOW_TOKENS,
)
from pagemind.runtime.state.state import State


def window_of(definition: AgentDefinition, model: Model, state: State) -> Callable[[], Window]:
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


def prefetch_tokens(definition: AgentDefinition, own: Window, *, slow: bool) -> int:
    """What memories before an event may cost: as the definition says; else only small windows
    have them, and less of them where a prompt is read slowly."""
    if definition.states("prefetch") or definition.episodes.offer:
        return definition.prefetch.tokens
    if own.usable >= PREFETCH_BELOW_TOKENS:
        return 0
    return LOCAL_PREFETCH_TOKENS if slow else definition.prefetch.tokens


def summary_window(writer: Model | None, own: Callable[[], Window]) -> int:
    """Usable tokens of the model that summarises: its own window if it is not the agent's."""
    info = writer.window() if writer is not None else None
    return min(info.tokens, own().tokens) if info else own().tokens
