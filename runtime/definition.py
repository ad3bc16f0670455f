"""AgentDefinition: the checked value of a YAML agent, from a shipped name, a file or stored JSON.

What a definition leaves out has the defaults of settings.py. `${VAR}` in text is resolved when a
definition is loaded and never stored: `to_json` keeps what was written, `from_json` resolves anew.
Shipped prompts follow the installed version; the text of a prompt given by path is stored, so that
an agent survives the move of a file. Every fault is a DefinitionError: all of them, each with its
line.
"""

import json
import os
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError, ValidationInfo

from pagemind.runtime import settings, yaml_reader
from pagemind.runtime.definition_faults import Fault, complain, from_validation, written_keys
from pagemind.runtime.definition_parts import (
    ArchiveUse,
    BlockSpec,
    Budget,
    FactTerms,
    Gists,
    Label,
    Limits,
    ModelName,
    ModelSpec,
    Name,
    Offering,
    Prefetch,
    Pressure,
    Prompting,
    Protocol,
    Searching,
    Section,
    Semantic,
    Skilling,
    Sleeping,
    TimerSpec,
    Timezone,
    Whole,
    Words,
    read_sleep,
)
from pagemind.runtime.errors import DefinitionError, TemplateError, UnknownDefinition
from pagemind.runtime.function_names import ALL_GROUPS, GROUPS, STANDING, expand, names
from pagemind.runtime.interpolation import resolve_all
from pagemind.runtime.mcp_use import ServerUse, read_servers, server_of
from pagemind.runtime.memory_bounds import (
    Duration,
    Forgetting,
    HomeScope,
    Scopes,
    fault_of,
    sight_of,
)
from pagemind.runtime.memory_kinds import MemoryKinds
from pagemind.runtime.naming import folded
from pagemind.runtime.profile import Profile
from pagemind.runtime.scope import ROOT
from pagemind.runtime.sight import Sight
from pagemind.runtime.template import Template, available, load
from pagemind.runtime.tool_use import ToolUse, entry_fault, read_uses
from pagemind.runtime.trust_terms import TrustTerms
from pagemind.runtime.written_path import expanded
from pagemind.runtime.yaml_reader import Document

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

STORED_VERSION = 1
_PACKAGE = "pagemind.agents"
_MEMORY = frozenset(name for names in GROUPS.values() for name in names)
Groups = Mapping[str, tuple[str, ...]]


def _default_blocks() -> dict[str, BlockSpec]:
    return {"persona": BlockSpec(), "human": BlockSpec()}


def _one_or_more(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _variable(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("must be text or a number")
    return str(value)


def _entry(value: Any, info: ValidationInfo) -> Any:
    if fault := entry_fault(value, (info.context or {}).get("groups", ALL_GROUPS)):
        raise ValueError(fault)
    return value


class AgentDefinition(Section):
    """What an agent is made from. Frozen; made by `load_definition` or `parse_definition`."""

    name: Name
    description: Words = ""
    model: ModelSpec | None = None
    summarizer: ModelName | None = None
    embedding: ModelName = "local/minilm"
    context_window: Whole | None = Field(
        default=None, ge=settings.MIN_WINDOW_TOKENS, le=100_000_000
    )
    output_reserve: Whole | None = Field(default=None, ge=settings.RESERVE_MIN_TOKENS)
    pressure: Pressure = Pressure()
    protocol: Protocol = "default"
    # Names of prompts, paths or texts; joined by an empty line.
    system: Annotated[tuple[Words, ...], BeforeValidator(_one_or_more)] = ()
    tags: tuple[Name, ...] = ()  # by which other agents find it
    vars: dict[str, Annotated[str, BeforeValidator(_variable)]] = Field(default_factory=dict)
    blocks: dict[Label, BlockSpec] = Field(default_factory=_default_blocks)
    tools: tuple[Annotated[Any, BeforeValidator(_entry)], ...] = tuple(GROUPS)  # see tool_use.py
    archives: tuple[ArchiveUse, ...] = ()
    memory: MemoryKinds = MemoryKinds()
    semantic: Semantic = "collection"  # where the worker keeps facts: passages, profiles or both
    prefetch: Prefetch = Prefetch()
    episodes: Offering = Offering()
    facts: FactTerms = FactTerms()
    skills: Skilling = Skilling()
    gists: Gists = Gists()
    prompt: Prompting = Prompting()
    search: Searching = Searching()
    scope: HomeScope = ROOT  # where it writes; `infer`: where the like of it stands
    scopes: Scopes = Scopes()
    forget: Forgetting = Forgetting()
    timezone: Timezone | None = None
    schedules: tuple[TimerSpec, ...] = ()
    inbox: Words | None = None
    sleep: Annotated[Sleeping, BeforeValidator(read_sleep)] = Sleeping()
    trust: TrustTerms = TrustTerms()
    keep: Duration | None = None  # what is older is erased
    budget: Budget = Budget()
    limits: Limits = Limits()
    local_only: bool = False

    _document: Document = PrivateAttr()
    _prompts: dict[str, str] = PrivateAttr(default_factory=dict)
    _groups: Groups = PrivateAttr(default=ALL_GROUPS)
    _uses: tuple[ToolUse, ...] = PrivateAttr(default=())
    _servers: tuple[ServerUse, ...] = PrivateAttr(default=())
    _closed: tuple[str, ...] = PrivateAttr(default=())
    _folder: str = PrivateAttr(default="")

    @property
    def raw(self) -> dict[str, Any]:
        """What was written, with `${VAR}` unresolved: what may be stored and shown."""
        return self._document.value

    @property
    def source(self) -> str:
        """The file it came from, as errors name it."""
        return self._document.source

    def states(self, key: str) -> bool:
        """Whether the definition says this itself; otherwise the value is a default."""
        return key in self.model_fields_set

    def stating(self, **values: str) -> Self:
        """The same with these said, as if they stood in it. Raises DefinitionError."""
        stored = json.loads(self.to_json())
        stored["definition"].update(values)
        return self.from_json(json.dumps(stored))

    @property
    def summarizer_name(self) -> str | None:
        """The model that writes summaries, if it is not the agent's own."""
        return self.summarizer or (self.model.summarizer if self.model else None)

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions the model may call, in the order of the table. Those of the
        person's own, by import path, have names only once they are imported."""
        return expand((use.name for use in self._uses if not use.own), self._groups)

    @property
    def uses(self) -> tuple[ToolUse, ...]:
        """The functions with what each may touch and its rules."""
        return self._uses

    def where(self, name: str) -> str:
        """File and line of a function's entry under `tools`."""
        for at, entry in enumerate(self.raw.get("tools") or ()):
            if (next(iter(entry), "") if isinstance(entry, dict) else entry) == name:
                return self._document.where(("tools", at))
        return self.source

    def within(self, functions: Collection[str]) -> Self:
        """The same with no other functions than these, no servers, no inbox and nothing shared
        that it could write to; `closed` names what it does without."""
        own = {
            label: spec.model_copy(update={"shared": None}) for label, spec in self.blocks.items()
        }
        read = tuple(each.model_copy(update={"mode": "read"}) for each in self.archives)
        narrowed = self.model_copy(update={"inbox": None, "blocks": own, "archives": read})
        narrowed._uses = tuple(use for use in self._uses if use.name in functions)
        narrowed._servers = ()
        closed = [use.name for use in self._uses if use.name not in functions]
        closed += [f"MCP server {server.name}" for server in self._servers]
        closed += [f"shared block {name}" for name in self.shared_blocks.values()]
        narrowed._closed = (*closed, *(["inbox"] if self.inbox else []))
        return narrowed

    @property
    def closed(self) -> tuple[str, ...]:
        """What it names and does not have."""
        return self._closed

    @property
    def servers(self) -> tuple[ServerUse, ...]:
        """The MCP servers whose functions it has, too."""
        return self._servers

    @property
    def folder(self) -> Path:
        """Where relative paths of `tools` begin: the folder of the file, wherever the agent is
        run later."""
        return Path(self._folder)

    @property
    def shared_blocks(self) -> dict[str, str]:
        """The shared block that a block is, for each label that has one."""
        return {label: spec.shared for label, spec in self.blocks.items() if spec.shared}

    @property
    def profiles(self) -> dict[str, Profile]:
        """The profile of each block that has one."""
        return {
            label: Profile(label, spec.profile)
            for label, spec in self.blocks.items()
            if spec.profile is not None
        }

    @property
    def zone(self) -> "ZoneInfo | None":
        """The agent's time zone; None is the machine's."""
        from zoneinfo import ZoneInfo

        return ZoneInfo(self.timezone) if self.timezone else None

    def sight(self, viewer: str | None = None) -> Sight:
        """Which passages the agent of this id sees, and where it writes."""
        return sight_of(self.scope, self.scopes, viewer)

    @property
    def named_schedules(self) -> dict[str, TimerSpec]:
        """Its timers by name; one without a name is called by its place."""
        return {each.name or str(at): each for at, each in enumerate(self.schedules, 1)}

    @property
    def inbox_folder(self) -> "Path | None":
        """The folder whose files come to the agent."""
        return self.folder / expanded(self.inbox) if self.inbox else None

    def prompts(self, protocol: str | None = None) -> tuple[Template, ...]:
        """The parts of the system instructions: those named, else the protocol's own.

        `protocol` stands in for the definition's where the runtime chose another.
        """
        protocol = protocol or self.protocol
        own = "guided" if protocol == "guided" else "memgpt"
        parts = tuple(self._prompt(each) for each in self.system or (own,))
        return (*parts, load("heartbeat")) if protocol == "heartbeat" else parts

    def instructions(self, protocol: str | None = None) -> str:
        """The system instructions with `vars` filled in, and what text from outside looks like."""
        filled = []
        for template in self.prompts(protocol):
            wanted = {name: self.vars[name] for name in template.variables if name in self.vars}
            filled.append(template.fill(**wanted))
        filled.append(load("data").fill().strip())
        return "\n\n".join(filled)

    def to_json(self) -> str:
        """For the agent's state: what was written, and the prompts that were given by path."""
        stored = {
            "v": STORED_VERSION,
            "source": self.source,
            "prompts": self._prompts,
            "definition": self.raw,
        }
        beyond = not _MEMORY.issuperset((*(use.name for use in self._uses), *self._closed))
        if beyond or self._servers or self.inbox is not None:
            stored["folder"] = self._folder
        return json.dumps(stored, ensure_ascii=False)

    @classmethod
    def from_json(
        cls, text: str, *, environ: Mapping[str, str] | None = None, groups: Groups = ALL_GROUPS
    ) -> Self:
        """The inverse of `to_json`. Raises DefinitionError, also for a variable no longer set."""
        stored = json.loads(text)
        if stored["v"] > STORED_VERSION:
            raise DefinitionError(
                f"{stored['source']}: stored by a newer pagemind (format {stored['v']})",
                hint="upgrade pagemind",
            )
        document = Document(stored["definition"], stored["source"], {})
        definition = cls._checked(document, stored["prompts"], environ, groups)
        definition._folder = stored.get("folder") or definition._folder
        return definition

    @classmethod
    def _checked(
        cls,
        document: Document,
        prompts: dict[str, str],
        environ: Mapping[str, str] | None,
        groups: Groups,
    ) -> Self:
        value, unset = resolve_all(document.value, os.environ if environ is None else environ)
        faults: list[Fault] = [
            (path, f"${{{name}}} is not set; set it, or write ${{{name}:-default}} for a default")
            for path, name in unset.items()
        ]
        try:
            definition = cls.model_validate(_spelt_out(value), context={"groups": groups})
        except ValidationError as error:
            found = [fault for fault in from_validation(error, cls) if fault[0] not in unset]
            found += _faults_of_tools(value.get("tools"), groups)
            raise complain(document, [*faults, *found]) from None
        definition._document = document
        definition._prompts = dict(prompts)
        definition._groups = groups
        uses, wrong = read_uses(definition._entries(), groups)
        definition._uses = tuple(use for use in uses if not definition._withheld(use.name))
        definition._folder = str(Path(document.source).parent.absolute())
        named = [use.name.rpartition(":")[2] for use in definition._uses]
        written = document.value.get("tools")
        definition._servers, unreachable = read_servers(definition.tools, named, written)
        faults.extend([*wrong, *unreachable])
        faults.extend(definition._cross_checks())
        if faults:
            raise complain(document, faults)
        return definition

    def _entries(self) -> tuple[Any, ...]:
        """What `tools` says, and what an archive that may be written to brings with it."""
        brings = self._writes and not any(map(_of_archives, self.tools))
        return (*self.tools, "archives") if brings else self.tools

    def _withheld(self, function: str) -> str:
        """Why the agent does not have a function whose group it names; "" where it has it."""
        if function == "core_set" and not self._sets:
            return "it sets fields of a profile, and no block has one: blocks: {sam: {profile: …}}"
        return self.memory.forbids(function)

    @property
    def _sets(self) -> bool:
        return any(spec.profile and not spec.read_only for spec in self.blocks.values())

    @property
    def _writes(self) -> bool:
        return any(archive.mode == "write" for archive in self.archives)

    def _prompt(self, written: str) -> Template:
        """One part of `system`: text if it has several words, a path if it has a slash or a
        suffix other than .md, else the name of a shipped prompt."""
        if any(character.isspace() for character in written.strip()):
            return Template.from_text(written.strip("\n"), f"{self.source}: system")
        if "/" not in written and written.removesuffix(".md") in available():
            return load(written)
        if "/" not in written and "." not in written:
            return load(written)  # raises, with the nearest name
        if written not in self._prompts:
            path = Path(self.source).parent / expanded(written)
            self._prompts[written] = load(path).text
        return Template.from_text(self._prompts[written], written)

    def _cross_checks(self) -> Iterator[Fault]:
        """Faults that need more than one section, a prompt, or what was written, to be seen."""
        yield from written_keys(self.raw.get("model"))
        if self.summarizer and self.model and self.model.summarizer not in (None, self.summarizer):
            yield (
                ("summarizer",),
                f"model.summarizer already says {self.model.summarizer}; keep one",
            )
        if self.context_window and self.output_reserve:
            most = self.context_window // 2
            if self.output_reserve > most:
                yield (
                    ("output_reserve",),
                    f"must leave half of the window: at most {most:,} of {self.context_window:,}, "
                    f"not {self.output_reserve:,}",
                )
        if self.protocol == "guided" and self.prompt.refresh_blocks == "on_flush":
            yield (
                ("prompt", "refresh_blocks"),
                "protocol guided reads what was edited from the blocks; keep on_edit",
            )
        if unusable := fault_of(self.scope, self.scopes):
            yield ("scope" if self.states("scope") else "scopes",), unusable
        for at, entry in enumerate(self.tools):
            if _of_archives(entry) and not self._writes:
                yield (
                    ("tools", at),
                    "no archive may be written to: archives: [{name: handbook, mode: write}]",
                )
        yield from self._faults_of_memory()
        yield from self._faults_of_trust()
        labels: dict[str, str] = {}
        for label, name in self.shared_blocks.items():
            if labels.setdefault(name, label) != label:
                yield ("blocks", label, "shared"), f"{labels[name]} is {name!r} already; keep one"
        named = [each.name for each in self.schedules if each.name]
        for at, each in enumerate(self.schedules):
            if each.name and named.count(each.name) > 1:
                yield ("schedules", at, "name"), f"{each.name!r} names two timers"
        first: dict[str, int] = {}
        for at, archive in enumerate(self.archives):
            if first.setdefault(folded(archive.name), at) != at:
                yield ("archives", at), f"{archive.name!r} is listed twice; keep one"
        try:
            templates = self.prompts()
        except TemplateError as error:
            hint = f"; {error.hint}" if error.hint else ""
            yield ("system",), f"{error.message}{hint}"
            return
        used = {name: template for template in templates for name in template.variables}
        for name, template in used.items():
            if name not in self.vars:
                yield (
                    ("vars",) if self.vars else ("system",),
                    f"{template.source} needs {name!r}; add it under vars",
                )
        for name in self.vars:
            if name not in used:
                close = get_close_matches(name, used, n=1)
                nearest = f"; did you mean {close[0]!r}?" if close else "; take it out"
                yield ("vars", name), f"no prompt of this definition uses it{nearest}"

    def _faults_of_trust(self) -> Iterator[Fault]:
        """Functions under `allow` that the agent has not. A name of its own may be that of one that
        a program gives it: whether there is one is seen when it is opened."""
        own = [use.name.rpartition(":")[2] for use in self._uses]
        servers = [server.name for server in self._servers]
        groups = [group for group, inside in self._groups.items() if set(inside) & set(own)]
        known = [*own, *groups, *servers]
        written = self.raw.get("trust")
        listed = isinstance(written, dict) and isinstance(written.get("allow"), list)
        for at, name in enumerate(self.trust.allow):
            path = ("trust", "allow", at) if listed else ("trust", "allow")
            if name in STANDING:
                yield path, f"{name} writes what acts later: nothing allows that then; take it out"
            elif name not in known and server_of(name) not in servers:
                close = get_close_matches(name, known, n=1)
                if close or name in names(self._groups) or not name.isidentifier():
                    nearest = f"; did you mean {close[0]!r}?" if close else ""
                    yield path, f"this agent has no function {name!r}{nearest}"

    def _faults_of_memory(self) -> Iterator[Fault]:
        """What the declared kinds, or a profile that is not there, leave nothing of."""
        for at, entry in enumerate(self.tools if self.states("tools") else ()):
            name = next(iter(entry)) if isinstance(entry, dict) else entry
            reasons = [self._withheld(each) for each in self._groups.get(name, (name,))]
            if all(reasons):
                first = self._groups.get(name, (name,))[0]
                if why := self.memory.forbids(first):
                    why += f"; {self.memory.allowing(first)} would let it"
                yield ("tools", at), f"{name}: {why or reasons[0]}"
        for at, archive in enumerate(self.archives):
            needed = "archival_search" if archive.mode == "read" else "archive_insert"
            if why := self.memory.forbids(needed):
                allowing = self.memory.allowing(needed)
                yield ("archives", at), f"{archive.name}: {why}; {allowing} would let it"
        if self.raw.get("blocks") and not self.memory.reads("working"):
            yield ("blocks",), "memory says working: none, so there is none; take them out"
        if self.semantic != "collection":
            if not self._sets:
                yield (
                    ("semantic",),
                    f"{self.semantic} needs a block with a profile: sam: {{profile: person}}",
                )
            elif not self.memory.writes("working"):
                yield ("semantic",), f"{self.semantic} writes blocks; memory says working: r"


def _of_archives(entry: Any) -> bool:
    """Whether an entry of `tools` is about shared archives."""
    names = {"archives", *ALL_GROUPS["archives"]}
    return bool(names & set(entry if isinstance(entry, dict) else [entry]))


def _faults_of_tools(entries: Any, groups: Groups) -> list[Fault]:
    """What is wrong with the options under `tools`, where other sections are wrong, too."""
    if not isinstance(entries, list):
        return []
    uses, faults = read_uses(entries, groups)
    return [*faults, *read_servers(entries, [use.name for use in uses])[1]]


def shipped_definitions() -> list[str]:
    """The names of the definitions that come with pagemind."""
    names = (each.name for each in files(_PACKAGE).iterdir())
    return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


def parse_definition(
    text: str,
    source: str = "definition",
    *,
    environ: Mapping[str, str] | None = None,
    groups: Groups = ALL_GROUPS,
) -> AgentDefinition:
    """The definition in this YAML text. `source` is what errors call it; paths of prompts are
    relative to its folder. Raises DefinitionError."""
    return AgentDefinition._checked(yaml_reader.read(text, source), {}, environ, groups)


def load_definition(
    name_or_path: str | Path,
    *,
    environ: Mapping[str, str] | None = None,
    groups: Groups = ALL_GROUPS,
) -> AgentDefinition:
    """A shipped definition by name, or a file by path (one with a slash or ending in .yaml).

    Raises UnknownDefinition with the nearest name, and DefinitionError.
    """
    written = str(name_or_path)
    is_path = (
        isinstance(name_or_path, Path) or "/" in written or written.endswith((".yaml", ".yml"))
    )
    if is_path:
        path = expanded(written)
        data, source = _read_file(path), str(path)
    elif written in shipped_definitions():
        data, source = (files(_PACKAGE) / f"{written}.yaml").read_bytes(), f"{written}.yaml"
    else:
        shipped = shipped_definitions()
        close = get_close_matches(written, shipped, n=1)
        nearest = f"did you mean {close[0]}? " if close else ""
        raise UnknownDefinition(
            f"no definition is called {written!r}",
            hint=f"{nearest}shipped: {', '.join(shipped)}; or give the path of a .yaml file",
        )
    text = yaml_reader.decode(data, source)
    return parse_definition(text, source, environ=environ, groups=groups)


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(settings.MAX_DEFINITION_BYTES + 1)
    except OSError as error:
        near = ""
        if isinstance(error, FileNotFoundError) and path.parent.is_dir():
            beside = [each.name for each in path.parent.glob("*.y*ml")]
            if close := get_close_matches(path.name, beside, n=1):
                near = f"did you mean {path.with_name(close[0])}?"
        reason = (error.strerror or str(error)).lower()
        raise UnknownDefinition(f"{path}: {reason}", hint=near) from None


def _spelt_out(value: dict[str, Any]) -> dict[str, Any]:
    """The short forms in full: a model or an archive by name alone, a block that is only its text
    or nothing."""
    value = dict(value)
    model = value.get("model")
    if isinstance(model, str):
        value["model"] = {"name": model}
    elif isinstance(model, dict) and isinstance(model.get("fallbacks"), list):
        named = [{"name": f} if isinstance(f, str) else f for f in model["fallbacks"]]
        value["model"] = {**model, "fallbacks": named}
    if isinstance(value.get("archives"), list):
        listed = value["archives"]
        value["archives"] = [{"name": a} if isinstance(a, str) else a for a in listed]
    memory = value.get("memory")
    if isinstance(memory, dict) and memory.get("working") == "none":
        value.setdefault("blocks", {})
    if isinstance(value.get("blocks"), dict):
        value["blocks"] = {
            label: {} if block is None else {"value": block} if isinstance(block, str) else block
            for label, block in value["blocks"].items()
        }
    return value
