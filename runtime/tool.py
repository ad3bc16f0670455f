"""Tools: plain functions with a docstring that the model reads.

    @tool(effect="memory")
    def archival_insert(ctx: ToolContext, content: str, tags: list[str] | None = None) -> str:
        \"\"\"Store a passage for later search.

        Args:
            content: One self-contained fact, with names and dates.
            tags: Words to filter by later.
        \"\"\"

The schema comes from the signature, the descriptions from the docstring. `effect` says what a
call may change: nothing, the agent's memory (then effect and result commit in one transaction),
or the world (the default: never repeated silently after a crash).
"""

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_type_hints

from pagemind.runtime.errors import BadArguments, UnknownTool
from pagemind.runtime.image_header import read_header
from pagemind.runtime.model import ToolSchema
from pagemind.runtime.settings import TOOL_SECONDS

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pagemind.runtime.cancel import CancelToken
    from pagemind.runtime.earlier import Earlier
    from pagemind.runtime.item_store import ItemStore
    from pagemind.runtime.person import Person
    from pagemind.runtime.services import (
        Archival,
        Core,
        Episodes,
        Facts,
        Hit,
        Pages,
        Recall,
        Shared,
        Skills,
        Team,
        Timers,
    )
    from pagemind.runtime.tool_use import Terms

Effect = Literal["none", "memory", "world"]
_ARGUMENT = re.compile(r"^(\w+):\s*(.*)$")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may touch. `result_tokens` is how long its answer may be before it is cut.

    `terms` is what the definition says about this function, with paths relative to `folder`; `env`
    holds the variables that it may see, and no others; `person` is who can be asked something, if
    somebody is there; `earlier` knows what a function answered before; `team` are the other agents,
    and `shared` the archives shared with them that it may write to; `episodes` is what was tried
    in earlier turns, `facts` what is known of whom, `skills` what the agent has learned to do,
    `store` its JSON values under keys; `prepared` is what the function's `before` came to.
    """

    agent: str
    core: "Core"
    recall: "Recall"
    archival: "Archival"
    pages: "Pages"
    now: Callable[[], Any]  # datetime in the agent's time zone
    result_tokens: int
    turn: int
    call_id: str = ""
    reading_tokens: int = 0  # of one part of something that is read; 0: as result_tokens
    terms: "Terms | None" = None
    folder: Path = Path()
    env: Mapping[str, str] = field(default_factory=dict)
    person: "Person | None" = None
    cancel: "CancelToken | None" = None
    earlier: "Earlier | None" = None
    team: "Team | None" = None
    shared: "Shared | None" = None
    timers: "Timers | None" = None
    episodes: "Episodes | None" = None
    facts: "Facts | None" = None
    skills: "Skills | None" = None
    prepared: Any = None
    store: "ItemStore | None" = None
    trust: int = 100  # of the step that makes the call: the least of what was in its window


@dataclass(frozen=True, slots=True)
class File:
    """What a tool gives that is no text: kept beside the database, shown as its caption."""

    data: bytes
    media_type: str = "application/octet-stream"
    caption: str = ""


def file_of(data: bytes, caption: str = "") -> File:
    """Bytes as what they are: an image with its size, or just bytes."""
    header = read_header(data)
    if header is None:
        return File(data, caption=caption or f"{len(data):,} bytes")
    size = f"{header.width}×{header.height}"
    return File(data, header.media_type, f"{caption}, {size}" if caption else size)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answers when a plain string is not enough."""

    text: str
    reference: dict[str, Any] | None = None  # a reading of a page or message: stored as reference
    speech: str | None = None  # protocol heartbeat: text for the person
    shown: "tuple[Hit, ...]" = ()  # what of memory the model sees in it
    files: tuple[File, ...] = ()
    trust: int = 100  # the least of what it repeats of memory, beside what is `shown`


class Arguments(Protocol):
    """What checks arguments: a pydantic model, or a JSON schema that came from elsewhere."""

    def model_validate(self, obj: Any, /) -> Any: ...


@dataclass(frozen=True)
class Tool:
    """A function the model may call."""

    name: str
    description: str
    function: Callable[..., str | ToolResult]
    parameters: dict[str, Any]
    effect: Effect
    arguments: "type[BaseModel] | Arguments"
    # What it answers comes from outside and is trusted as little as what the world says.
    foreign: bool = False
    seconds: float | None = TOOL_SECONDS  # that a call may take; None: it keeps to a time itself
    terms: "Terms | None" = None  # as the definition says; None: allowed without more
    # Of an effect "memory": what takes its time, done before the transaction.
    before: Callable[..., Any] | None = None

    @property
    def schema(self) -> ToolSchema:
        return ToolSchema(self.name, self.description, self.parameters)

    def without(self, names: Collection[str]) -> "Tool":
        """The same function, without these optional arguments."""
        if not names:
            return self
        properties = self.parameters["properties"]
        kept = {name: each for name, each in properties.items() if name not in names}
        return replace(self, parameters={**self.parameters, "properties": kept})

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments in the function's types. Raises BadArguments naming each wrong one.

        Lenient where a weak model is merely sloppy: "5" for 5, "true" for true, "null" or "" for
        an optional argument left out.
        """
        from pydantic import ValidationError

        properties = self.parameters["properties"]
        required = self.parameters.get("required", [])
        free = self.parameters.get("additionalProperties", False)
        unknown = [] if free else [name for name in arguments if name not in properties]
        if unknown:
            allowed = ", ".join(properties) or "none"
            raise BadArguments(
                f"{self.name} does not take {', '.join(unknown)}; its arguments: {allowed}"
            )
        given = {
            name: value
            for name, value in arguments.items()
            if name in required or value not in (None, "null", "None")
        }
        try:
            model = self.arguments.model_validate(given)
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(map(str, e['loc']))}: {e['msg'].lower()}" for e in error.errors()
            )
            raise BadArguments(f"{self.name}: {wrong}") from None
        return {name: getattr(model, name) for name in given}


def _docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The description and the `Args:` section of a Google-style docstring."""
    text = inspect.getdoc(function) or ""
    head, _, tail = text.partition("\nArgs:\n")
    described: dict[str, str] = {}
    current = ""
    for line in tail.splitlines():
        if line and not line.startswith(" "):
            break  # another section
        if match := _ARGUMENT.match(line.strip()):
            current = match[1]
            described[current] = match[2]
        elif current and line.strip():
            described[current] += " " + line.strip()
    return head.strip(), described


def _slim(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop what costs tokens and tells a model nothing: titles, null branches, null defaults."""
    schema.pop("title", None)
    if "anyOf" in schema:
        branches = [b for b in schema["anyOf"] if b.get("type") != "null"]
        if len(branches) == 1:
            del schema["anyOf"]
            schema = {**branches[0], **schema}
    if schema.get("default", 0) is None:
        del schema["default"]
    return schema


def tool(
    effect: Effect = "world",
    name: str | None = None,
    *,
    foreign: bool = False,
    seconds: float | None = TOOL_SECONDS,
    before: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., str | ToolResult]], Tool]:
    """Make a function a Tool. It may take `ctx: ToolContext`; the rest are the model's arguments.
    A call that takes longer than `seconds` is given up (one with effect "memory" is not). `before`
    takes the same arguments; what it returns is the context's `prepared`.

    Raises TypeError for a function without a docstring or with an unannotated parameter.
    """

    def wrap(function: Callable[..., str | ToolResult]) -> Tool:
        made = make_tool(function, effect=effect, name=name, foreign=foreign, seconds=seconds)
        return replace(made, before=before)

    return wrap


def make_tool(
    function: Callable[..., str | ToolResult],
    *,
    effect: Effect = "world",
    name: str | None = None,
    foreign: bool = False,
    seconds: float | None = TOOL_SECONDS,
) -> Tool:
    """The Tool of a plain function; see `tool`."""
    from pydantic import ConfigDict, Field, create_model

    description, described = _docstring(function)
    if not description:
        raise TypeError(f"{function.__name__} needs a docstring: it is what the model reads")
    hints = get_type_hints(function, localns={"ToolContext": ToolContext})
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "ctx":
            continue
        if parameter.name not in hints:
            raise TypeError(f"{function.__name__}: parameter {parameter.name!r} has no type")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (
            hints[parameter.name],
            Field(default, description=described.get(parameter.name) or None),
        )
    model = create_model(
        function.__name__,
        __config__=ConfigDict(extra="forbid", coerce_numbers_to_str=True),
        **fields,
    )
    schema = model.model_json_schema()
    parameters = {
        "type": "object",
        "properties": {k: _slim(v) for k, v in schema.get("properties", {}).items()},
        "required": schema.get("required", []),
    }
    called = name or function.__name__
    return Tool(called, description, function, parameters, effect, model, foreign, seconds)


def takes_context(function: Callable[..., Any]) -> bool:
    """Whether the function wants the ToolContext as its first argument."""
    return "ctx" in inspect.signature(function).parameters


class ToolRegistry:
    """The functions of one agent, by name, in a fixed order (the prompt's prefix depends on it).
    `withheld` says why it may not have some others."""

    def __init__(
        self, tools: Iterable[Tool] = (), *, withheld: Mapping[str, str] | None = None
    ) -> None:
        self._tools: dict[str, Tool] = {}
        self._withheld = dict(withheld or {})
        for each in tools:
            if each.name in self._tools:
                raise ValueError(f"two functions are called {each.name!r}")
            self._tools[each.name] = each

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def names(self) -> list[str]:
        return [each.name for each in self._offered()]

    def schemas(self) -> tuple[ToolSchema, ...]:
        return tuple(each.schema for each in self._offered())

    def _offered(self) -> list[Tool]:
        """Those that are not denied: the model need not know of what it cannot have."""
        return [t for t in self._tools.values() if t.terms is None or t.terms.rule != "deny"]

    def find(self, name: str) -> Tool:
        """The tool of that name. Raises UnknownTool with the valid names and the nearest."""
        if name in self._tools:
            return self._tools[name]
        if why := self._withheld.get(name):
            raise UnknownTool(f"{name} is not for this agent: {why}.")
        close = get_close_matches(name, self._tools, n=1)
        nearest = f" Did you mean {close[0]}?" if close else ""
        valid = ", ".join(self.names()) or "none"
        raise UnknownTool(f"no function is called {name!r}.{nearest} Functions: {valid}.")
