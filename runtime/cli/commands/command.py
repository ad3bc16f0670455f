"""A command of the chat: its name, what it takes, what it does; and what commands act on."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pagemind.runtime.errors import UserError

if TYPE_CHECKING:
    from pagemind.runtime.agent import Agent
    from pagemind.runtime.cli.opening import Opening
    from pagemind.runtime.person import Consent

# What stands for one word of a usage line; whatever else it names may have spaces.
ONE_WORD = frozenset({"AGENT", "BLOCK", "COMMAND", "ID", "MODEL", "N", "LINE", "NAME", "TURN"})


class Leave(Exception):
    """The person is done."""


@dataclass
class Scene:
    """What the commands act on. `send`, `retry` and `approve` run a turn; `ask` puts a question to
    the person ("" where nobody is there to answer); within `cooked` another program has the
    terminal."""

    opening: "Opening"
    agent: "Agent"
    send: Callable[[str], None]
    retry: Callable[[], None]
    approve: Callable[["Consent"], None]
    ask: Callable[[str], str]
    cooked: Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Command:
    """`takes` is what a usage line says: `ID`, `[ID]` where it may be left out, "" for nothing.
    `completes` names what completion.py offers for it."""

    name: str
    takes: str
    about: str
    run: Callable[[Scene, str], None]
    completes: str = ""

    @property
    def usage(self) -> str:
        return f"{self.name} {self.takes}".rstrip()

    def check(self, rest: str) -> None:
        """Raises UserError with the usage line for arguments that do not fit."""
        optional = self.takes.startswith("[")
        word = self.takes.strip("[]")
        fault = ""
        if rest and not self.takes:
            fault = f"{self.name} takes nothing after it"
        elif not rest and self.takes and not optional:
            fault = f"{self.name} needs {_article(word)}{word}"
        elif word in ONE_WORD and len(rest.split()) > 1:
            fault = f"{self.name} takes one {word}"
        if fault:
            raise UserError(fault, hint=f"usage: {self.usage}")


def _article(word: str) -> str:
    if word == "IDS":
        return ""
    return "an " if word[0] in "AEIOU" else "a "
