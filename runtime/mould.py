"""The mould of a request: what it is made with besides messages, pages and the values of blocks.

Instructions, functions, the frames and fences around texts, the time zone: all of it changes with a
definition, a version of pagemind or a journey, and then no past request could be made again. So
each step records its mould, which is stored once for as long as it stays the same.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo

from pagemind.runtime.clock import zone_name
from pagemind.runtime.core_memory import Block
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.model import ToolSchema
from pagemind.runtime.profile import Profile
from pagemind.runtime.state.state import State
from pagemind.runtime.template import load
from pagemind.runtime.untrusted import KEY, NONE, Fences

# The prompts that put a frame around what a request shows.
FRAMES = ("aside", "context_head", "core_memory", "core_memory_on_flush", "excerpt", "handle")


@dataclass(frozen=True, slots=True)
class Frame:
    """A block without its value; frames stand in the order of their blocks."""

    label: str
    limit: int
    description: str
    read_only: bool
    profile: bool = False

    def around(self, value: str, version: int) -> Block:
        return Block(self.label, value, self.limit, self.description, self.read_only, version)


@dataclass(frozen=True, slots=True)
class Mould:
    """`tools_cost` as in MainContext; `live`: an edit of a block is shown at once; `zone` is a
    name for clock.zone_named()."""

    system: str
    tools: tuple[ToolSchema, ...]
    tools_cost: int | None
    live: bool
    blocks: tuple[Frame, ...]
    zone: str
    prompts: dict[str, str]
    cache_key: str
    apart: bool = False  # core memory stood outside the system role
    fences: str = ""  # the secret of what fences texts from outside; "" of a time before it

    @property
    def profiles(self) -> dict[str, Profile]:
        """The blocks that hold JSON; by which schema, a request does not show."""
        return {each.label: Profile(each.label, {}) for each in self.blocks if each.profile}

    def to_json(self, keep: Callable[[str], str]) -> str:
        """`keep` stores a long text and gives its hash."""
        return _dumps(
            {
                "system": keep(self.system),
                "tools": keep(_dumps([[t.name, t.description, t.parameters] for t in self.tools])),
                "tools_cost": self.tools_cost,
                "live": self.live,
                "blocks": [_written(each) for each in self.blocks],
                "zone": self.zone,
                "prompts": keep(_dumps(self.prompts)),
                "cache_key": self.cache_key,
                **({"fences": self.fences} if self.fences else {}),
                **({"apart": True} if self.apart else {}),
            }
        )

    @classmethod
    def from_json(cls, text: str, kept: Callable[[str], str]) -> "Mould":
        """`kept` gives the text of a hash."""
        body = json.loads(text)
        return cls(
            system=kept(body["system"]),
            tools=tuple(ToolSchema(*each) for each in json.loads(kept(body["tools"]) or "[]")),
            tools_cost=body["tools_cost"],
            live=body["live"],
            blocks=tuple(Frame(*each) for each in body["blocks"]),
            zone=body["zone"],
            prompts=json.loads(kept(body["prompts"]) or "{}"),
            cache_key=body["cache_key"],
            fences=body.get("fences", ""),
            apart=body.get("apart", False),
        )


class Moulding:
    """Keeps the mould of each step of one agent: asked at every step, changed at hardly any."""

    def __init__(self, state: State, context: MainContext, zone: tzinfo) -> None:
        self._state = state
        self._context = context
        self._zone = zone_name(zone, state.clock.now())
        self._prompts = {name: load(name).text for name in FRAMES}
        self._kept: tuple[Mould, str] | None = None

    def keep(self) -> str:
        """The hash of what the next request is made with, which is stored if it is new."""
        mould = self._now()
        if self._kept is not None and self._kept[0] == mould:
            return self._kept[1]
        database, store = self._state.database, self._state.history.keep_text
        with database.transaction():
            kept = mould, store(mould.to_json(store))

            def follow() -> None:
                self._kept = kept

            database.after_commit(follow)
        return kept[1]

    def _now(self) -> Mould:
        context = self._context
        return Mould(
            context.system,
            context.tools,
            context.tools_cost,
            context.core.live,
            tuple(
                Frame(
                    b.label, b.limit, b.description, b.read_only, b.label in context.core.profiles
                )
                for b in context.core.shown()
            ),
            self._zone,
            self._prompts,
            context.cache_key,
            context.core_apart(),
            context.fences.key,
        )


def fences_of(state: State) -> Fences:
    """The fences of an agent. One that has no secret yet is given one; a reader does without."""
    key = state.database.meta(KEY)
    if not key and not state.database.read_only:
        noise = state.clock.new_id() + state.clock.new_id()
        key = hashlib.sha256(noise.encode()).hexdigest()
        state.database.set_meta(KEY, key)
    return Fences("" if key == NONE else key)


def cache_key(agent_id: str) -> str:
    """What all requests of an agent have in common for a provider's cache; it says nothing of whose
    they are."""
    return hashlib.sha256(agent_id.encode()).hexdigest()[:32]


def _written(frame: Frame) -> list[object]:
    """A frame as a step keeps it: what a profile adds stands only where there is one."""
    said: list[object] = [frame.label, frame.limit, frame.description, frame.read_only]
    return [*said, True] if frame.profile else said


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
