"""The defences, and how each is switched off alone: by YAML where a definition may, else by a patch
here, which is said (`how`). ALL_OFF is the run without any of them, which utility is measured by.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import PropertyMock, patch

from pagemind.runtime import gate
from pagemind.runtime.function_names import tells_new
from pagemind.runtime.mcp.offered import ServerSeen
from pagemind.runtime.message import TRUST, Message
from pagemind.runtime.settings import OWN_RESULT_TRUST
from pagemind.runtime.state.journal import Journal
from pagemind.runtime.state.passages import Passages
from pagemind.runtime.step_trust import StepTrust
from pagemind.runtime.untrusted import Fences

Patch = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Defence:
    """`terms` go into the section `trust`, `patches` are in force while the attacks are played."""

    name: str
    how: str
    terms: Mapping[str, Any] = field(default_factory=dict)
    patches: tuple[Patch, ...] = ()


@contextmanager
def _open_memory() -> Iterator[None]:
    """Core memory, timers and pins are open to tainted steps."""
    with (
        patch.object(gate, "STANDING", frozenset()),
        patch.object(StepTrust, "tainted", PropertyMock(return_value=False)),
    ):
        yield


@contextmanager
def _no_fences() -> Iterator[None]:
    """Text from outside is shown as it is."""
    with patch.object(Fences, "around", lambda self, id, text, source="": text):
        yield


@contextmanager
def _all_accepted() -> Iterator[None]:
    """What a server of functions says is shown as it says it."""
    with patch.object(ServerSeen, "standing", lambda self, tool: "accepted"):
        yield


@contextmanager
def _no_inheritance() -> Iterator[None]:
    """What the agent says, finds in its memory and keeps is trusted as its own, whatever was in
    view; what comes from the world is not."""
    append, insert = Journal.append, Passages.insert

    def as_its_own(self: Journal, message: Message, **more: Any) -> Any:
        made = message.provenance
        if made.origin == "model":
            made = replace(made, trust=TRUST["model"])
        elif made.origin == "tool" and not tells_new(message.name):
            made = replace(made, trust=OWN_RESULT_TRUST)
        return append(self, replace(message, provenance=made), **more)

    def kept(self: Passages, *given: Any, **more: Any) -> Any:
        made = more["provenance"]
        raised = replace(made, trust=max(made.trust, TRUST[made.origin]))
        return insert(self, *given, **{**more, "provenance": raised})

    with patch.object(Journal, "append", as_its_own), patch.object(Passages, "insert", kept):
        yield


DEFENCES = (
    Defence(
        "gate", "world: allow; patch: core memory, timers and pins are open to tainted steps",
        {"world": "allow"}, (_open_memory,),
    ),
    Defence("argument provenance", "arguments: allow", {"arguments": "allow"}),
    Defence("quarantine", "archival: store", {"archival": "store"}),
    Defence(
        "inheritance", "patch: own words, finds and records get the trust of their origin",
        patches=(_no_inheritance,),
    ),
    Defence("rendering", "patch: text from outside is shown as it is", patches=(_no_fences,)),
    Defence(
        "acceptance", "patch: what servers say of functions is accepted", patches=(_all_accepted,)
    ),
    Defence("setting aside", "aside: never", {"aside": "never"}),
    Defence("quota", "per_source: 1000", {"per_source": 1000}),
)  # fmt: skip
ALL_OFF = Defence(
    "all of them", "all of the above",
    {"world": "allow", "arguments": "allow", "archival": "store", "aside": "never",
     "per_source": 1000},
    (_open_memory, _no_inheritance, _no_fences, _all_accepted),
)  # fmt: skip
