"""What Tab offers in the chat: commands, what each of them takes, and files in a message."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from pagemind.runtime.cli.commands import COMMANDS

if TYPE_CHECKING:
    from pagemind.runtime.agent import Agent
    from pagemind.runtime.runtime import Runtime

_NEWEST = 40  # ids of a kind that are offered
_ABOUT_CHARS = 50
_PATH = re.compile(r"(?:^|\s)((?:~|\.{1,2})?/\S*)$")

Offer = tuple[str, str]  # a word, and what it is
# Who is talked to; None while the agent opens.
Lookup = Callable[[], "tuple[Runtime, Agent] | None"]


class ChatCompleter(Completer):
    """Reads the agent's state at each Tab: a few rows, by their keys."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        text = document.text_before_cursor
        if text.startswith("/") and "\n" not in text:
            name, space, typed = text.partition(" ")
            if not space:
                offers: Iterable[Offer] = (
                    (each.name, f"{each.takes}  {each.about}".strip()) for each in COMMANDS.values()
                )
                yield from _matching(offers, name)
            elif name in COMMANDS and COMMANDS[name].completes == "file":
                inside = Document(typed, len(typed))
                yield from self._paths.get_completions(inside, event)
            elif (command := COMMANDS.get(name)) is not None and command.completes:
                yield from _matching(self._offers(command.completes), typed.lstrip())
        elif path := _PATH.search(text):
            inside = Document(path[1], len(path[1]))
            yield from self._paths.get_completions(inside, event)

    def _offers(self, kind: str) -> Iterable[Offer]:
        if kind == "command":
            return [(each.name[1:], each.about) for each in COMMANDS.values()]
        found = self._lookup()
        if found is None:
            return []
        runtime, agent = found
        return _KINDS[kind](runtime, agent)


def _matching(offers: Iterable[Offer], typed: str) -> Iterator[Completion]:
    """Those that begin with what is typed, whatever its case."""
    folded = typed.casefold()
    for word, about in offers:
        if word.casefold().startswith(folded):
            yield Completion(word, start_position=-len(typed), display_meta=_short(about))


def _short(text: str) -> str:
    from pagemind.runtime.cli.render import one_line

    line = one_line(text[: 4 * _ABOUT_CHARS])
    return line if len(line) <= _ABOUT_CHARS else line[: _ABOUT_CHARS - 1] + "…"


# --- what there is --------------------------------------------------------------------------------


def _agents(runtime: "Runtime", agent: "Agent") -> list[Offer]:
    return [(each.name, each.definition) for each in runtime.home.all() if each.name != agent.name]


def _blocks(runtime: "Runtime", agent: "Agent") -> list[Offer]:
    return [(block.label, block.description) for block in agent.context.core]


def _pages(runtime: "Runtime", agent: "Agent") -> list[Offer]:
    pages = agent.state.pages
    tops = [(each.short_id, each.gist) for each in pages.tops() if each.level]
    newest = [(each.short_id, each.gist) for each in reversed(pages.newest(_NEWEST))]
    return [*newest, *tops]


def _messages(runtime: "Runtime", agent: "Agent") -> list[Offer]:
    return [
        (message.short_id, f"{message.speaker or message.role}: {message.text[:200]}")
        for message in agent.state.journal.newest(_NEWEST)
        if message.kind in ("talk", "observation")
    ]


def _pinnable(runtime: "Runtime", agent: "Agent") -> list[Offer]:
    messages = _messages(runtime, agent)
    return [*messages, *(each for each in _pages(runtime, agent) if each[0].startswith("p"))]


def _pins(runtime: "Runtime", agent: "Agent") -> list[Offer]:
    return [(pin.target, f"{pin.tokens:,} tokens") for pin in agent.queue_manager.pinning.all()]


def _passages(runtime: "Runtime", agent: "Agent") -> list[Offer]:
    return [(each.short_id, each.text) for each in agent.state.passages.newest(_NEWEST)]


def _models(runtime: "Runtime", agent: "Agent") -> list[Offer]:
    """Those that can be used here: pulled, with a key in the environment, or used before."""
    from pagemind.runtime.model_choice import PROVIDERS
    from pagemind.runtime.models.litellm_library import known_models
    from pagemind.runtime.models.pull import installed

    found = {f"local/{each.name}": "pulled: runs here" for each in installed()}
    found |= {each.model: f"{each.name} runs on it" for each in runtime.home.all() if each.model}
    found |= {name: f"{key} is set" for key, name in PROVIDERS.items() if os.environ.get(key)}
    for name in known_models():
        found.setdefault(name, "")
    return list(found.items())


_KINDS: dict[str, Callable[["Runtime", "Agent"], list[Offer]]] = {
    "agent": _agents,
    "block": _blocks,
    "page": _pages,
    "message": _messages,
    "pinnable": _pinnable,
    "pin": _pins,
    "passage": _passages,
    "model": _models,
}
