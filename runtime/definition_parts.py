"""The sections of an agent definition, each a frozen value that checks itself.

Text that came from an environment variable may stand where a number is wanted. Bounds that need
two sections at once are checked in definition.py.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from pagemind.runtime import settings
from pagemind.runtime.errors import InvalidName, ProfileMismatch, UserError
from pagemind.runtime.naming import LABEL, checked_archive
from pagemind.runtime.profile import Profile
from pagemind.runtime.profile_schema import checked as checked_schema
from pagemind.runtime.recurrence import parse as parse_recurrence
from pagemind.runtime.relations import relation_of

Protocol = Literal["default", "heartbeat", "guided"]
Semantic = Literal["collection", "profile", "both"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    if isinstance(value, str):
        try:
            return float(value) if re.search(r"[.eE]", value) else int(value)
        except ValueError:
            raise ValueError(f"must be a number, not {value!r}") from None
    return value


def _text(value: Any) -> Any:
    if isinstance(value, bool | int | float):
        raise ValueError(f"must be text, not {str(value).lower()}; put it in quotes")
    return value


def _definition_name(name: str) -> str:
    if not _NAME.fullmatch(name) or len(name) > settings.MAX_NAME:
        raise ValueError(
            f"{name!r} is not a name: letters, digits, - _ and ., starting with a letter or "
            f"digit, at most {settings.MAX_NAME}"
        )
    return name


def _model_name(name: str) -> str:
    if not name or name != name.strip() or re.search(r"[\x00-\x20]", name):
        raise ValueError(f"{name!r} is not a model: write it like openai/gpt-4o-mini or local/NAME")
    return name


def _label(label: str) -> str:
    if not LABEL.fullmatch(label) or len(label) > settings.MAX_NAME:
        raise ValueError(
            f"{label!r} is not a block label: lower-case letters, digits, _ and -, starting with "
            f"a letter, at most {settings.MAX_NAME}"
        )
    return label


def _one_of(kind: str, name: str, allowed: Iterable[str]) -> str:
    if name not in (known := list(allowed)):
        close = get_close_matches(name, known, n=1)
        nearest = f"; did you mean {close[0]!r}?" if close else ";"
        raise ValueError(f"no {kind} is called {name!r}{nearest} {kind}s: {', '.join(known)}")
    return name


def _timezone(name: str) -> str:
    from zoneinfo import ZoneInfo, available_timezones

    try:
        ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        places = {zone.casefold(): zone for zone in available_timezones()}
        close = get_close_matches(name.casefold(), places, n=1)
        nearest = f"; did you mean {places[close[0]]!r}?" if close else ""
        raise ValueError(
            f"no time zone is called {name!r}{nearest}; write it like Europe/Lisbon"
        ) from None
    return name


def _archive(name: str) -> str:
    try:
        return checked_archive(name)
    except InvalidName as error:
        raise ValueError(f"{error.message}; {error.hint}") from None


Whole = Annotated[int, BeforeValidator(_number)]
Number = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]
Words = Annotated[str, BeforeValidator(_text)]
Name = Annotated[Words, AfterValidator(_definition_name)]
ModelName = Annotated[Words, AfterValidator(_model_name)]
Label = Annotated[str, AfterValidator(_label)]
ArchiveName = Annotated[Words, AfterValidator(_archive)]
Timezone = Annotated[Words, AfterValidator(_timezone)]


class Section(BaseModel):
    """A mapping with fixed keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Endpoint(Section):
    """A model and how to reach it. `params` go to the provider as they are."""

    name: ModelName
    api_base: Words | None = None
    api_key_env: Words | None = None  # the *name* of a variable: keys never stand in a definition
    # Not shown in a repr: a header may hold a secret that came from the environment.
    params: dict[str, Any] = Field(default_factory=dict, repr=False)

    @field_validator("api_base")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        if value is not None and not re.match(r"https?://[^/\s]", value):
            raise ValueError(f"{value!r} is not an address: it starts with http:// or https://")
        return value

    @field_validator("api_key_env")
    @classmethod
    def _is_variable(cls, value: str | None) -> str | None:
        if value is not None and not ENV_NAME.fullmatch(value):
            # The value is not repeated: whoever wrote the key itself here must not see it logged.
            raise ValueError("must be the name of an environment variable, not the key itself")
        return value

    @field_validator("params")
    @classmethod
    def _has_no_key(cls, value: dict[str, Any]) -> dict[str, Any]:
        for key in ("api_key", "api_base", "model", "messages", "tools", "stream"):
            if key in value:
                instead = {"api_key": "api_key_env", "model": "name"}.get(key, key)
                raise ValueError(
                    f"{key!r} does not belong here; write {instead} beside params"
                    if instead in ("api_key_env", "api_base", "name")
                    else f"{key!r} is set by the runtime"
                )
        return value


class ModelSpec(Endpoint):
    """The model of an agent: `fallbacks` are tried in order, `summarizer` writes summaries."""

    fallbacks: tuple[Endpoint, ...] = ()
    summarizer: ModelName | None = None


class Pressure(Section):
    """The thresholds, as fractions of room: keep < warn < flush."""

    warn: Number = settings.WARN
    flush: Number = settings.FLUSH
    keep: Number = settings.KEEP

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not 0 < self.keep < self.warn < self.flush <= 1:
            raise ValueError(
                f"0 < keep < warn < flush ≤ 1 must hold; here keep {self.keep:g}, "
                f"warn {self.warn:g}, flush {self.flush:g}"
            )
        return self


def _schema(written: Any) -> Any:
    return None if written is None else checked_schema(written)


def _profile_text(value: Any, info: ValidationInfo) -> Any:
    """The value of a profile as JSON text; it may be written as a mapping."""
    schema = info.data.get("profile")
    if "profile" not in info.data:  # what is wrong with the schema is told
        return ""
    if schema is None:
        if isinstance(value, dict):
            raise ValueError("must be text; a mapping is the value of a block with a profile")
        return value
    try:
        profile = Profile("value", schema)
        text = value if isinstance(value, str) else profile.write(value)
        return profile.rewritten("", text)
    except ProfileMismatch as error:
        raise ValueError(
            error.message.removeprefix("value: ").removesuffix(" It is unchanged.")
        ) from None
    except (TypeError, ValueError, AttributeError):
        raise ValueError("must be a mapping of fields to values, or JSON text") from None


class BlockSpec(Section):
    """A block of core memory as it is when the agent is made. `limit` is in characters; `shared`
    names the shared block that it is: if that is there, its value, limit and description hold.
    `profile` is the JSON schema of its value, or the name of a shipped one."""

    # Stand before value, which is checked against them.
    profile: Annotated[dict[str, Any] | None, BeforeValidator(_schema)] = None
    limit: Whole = Field(default=settings.BLOCK_LIMIT, ge=1, le=1_000_000)
    value: Annotated[Words, BeforeValidator(_profile_text)] = Field(
        default="", validate_default=True
    )
    description: Words = ""
    read_only: bool = False
    shared: Label | None = None

    @field_validator("value")
    @classmethod
    def _fits(cls, value: str, info: ValidationInfo) -> str:
        limit = info.data.get("limit", len(value))
        if len(value) > limit:
            raise ValueError(
                f"{len(value):,} of {limit:,} characters; shorten it by {len(value) - limit:,} "
                "or raise the limit"
            )
        return value


class Prefetch(Section):
    """The memories that the runtime may place before an event, unasked: at most so many tokens,
    messages, passages and gists of pages. 0 tokens: none."""

    tokens: Whole = Field(default=settings.PREFETCH_TOKENS, ge=0)
    recall: Whole = Field(default=settings.PREFETCH_RECALL, ge=0, le=settings.PREFETCH_MOST)
    archival: Whole = Field(default=settings.PREFETCH_ARCHIVAL, ge=0, le=settings.PREFETCH_MOST)
    pages: Whole = Field(default=settings.PREFETCH_PAGES, ge=0, le=settings.PREFETCH_MOST)


class Offering(Section):
    """Of what was tried in earlier turns, so many are placed before an event that is like theirs,
    within the budget of `prefetch`."""

    offer: Whole = Field(default=0, ge=0, le=settings.EPISODES_OFFERED)


class Skilling(Section):
    """What makes a skill active. `accept`: tests, code whose tests pass, and instructions once a
    person approves; instructions, these too at once; never, nothing without a person. Tests and
    runs of code have `seconds` and `megabytes`."""

    accept: Literal["tests", "instructions", "never"] = "tests"
    seconds: Number = Field(default=settings.SKILL_SECONDS, gt=0, le=3600)
    megabytes: Whole = Field(default=settings.SKILL_MEGABYTES, ge=64, le=1 << 20)


class FactTerms(Section):
    """Relations that hold one value at a time, beside those that are shipped (docs/facts.md)."""

    single: tuple[Words, ...] = ()

    @field_validator("single")
    @classmethod
    def _are_relations(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for each in value:
            if relation_of(each) is None:
                raise ValueError(f"{each!r} is no relation; write a name such as lives_in")
        return value


class Gists(Section):
    """The lines that tell what a page holds. `model`: whether the model that summarises may better
    them in the idle after a turn, at a cost; without it they stay as the runtime makes them."""

    model: bool = True


class Prompting(Section):
    """How main context is kept. `refresh_blocks`: an edit of core memory is shown in the head at
    once (on_edit), or from the next flush on, the prompt staying as it is for the provider's cache;
    the edit's result then holds the new text (on_flush)."""

    refresh_blocks: Literal["on_edit", "on_flush"] = "on_edit"


class Searching(Section):
    """How the agent's searches are ranked, where a call does not say: a composite by name, and
    weights that differ from the shipped ones (settings.SEARCH_WEIGHTS). `depth: deep` has a model
    take each question apart first: one background call a search."""

    depth: Literal["shallow", "deep"] = "shallow"
    ranking: Words = settings.SEARCH_RANKINGS[0]
    weights: dict[str, Number] = Field(default_factory=dict)

    @field_validator("ranking")
    @classmethod
    def _is_ranking(cls, value: str) -> str:
        return _one_of("ranking", value, settings.SEARCH_RANKINGS)

    @field_validator("weights")
    @classmethod
    def _are_weights(cls, value: dict[str, float]) -> dict[str, float]:
        for name, weight in value.items():
            _one_of("weight", name, settings.SEARCH_WEIGHTS)
            if not -100 <= weight <= 100:
                raise ValueError(f"{name} must be from -100 to 100, not {weight:g}")
        return value

    @property
    def all_weights(self) -> dict[str, float]:
        """The shipped weights with those of the definition in their place."""
        return {**settings.SEARCH_WEIGHTS, **self.weights}


class ArchiveUse(Section):
    """A shared archive that the agent's archival search looks through too; with `mode: write` it
    has functions that store passages there, and change them."""

    name: ArchiveName
    mode: Literal["read", "write"] = "read"


class TimerSpec(Section):
    """A timer that the agent has from the start: due every so often, by a cron line, or at a time.
    Changed under its `name`, it replaces what it was."""

    name: Words = ""
    every: Words | None = None
    cron: Words | None = None
    at: Words | None = None
    message: Words

    @property
    def when(self) -> str:
        """As recurrence.parse() reads it."""
        if self.every is not None:
            return f"every {self.every}"
        return f"cron {self.cron}" if self.cron is not None else f"at {self.at}"

    @model_validator(mode="after")
    def _is_due(self) -> Self:
        if sum(each is not None for each in (self.every, self.cron, self.at)) != 1:
            raise ValueError("says when by one of every, cron, at")
        # The zone is another key's: any does to see whether it can be read.
        parse_recurrence(self.when, datetime(2026, 1, 1, tzinfo=UTC), past=True)
        if not self.message.strip():
            raise ValueError("message is empty: say what the agent is to do")
        return self


class Budget(Section):
    """What the agent may cost; None is no bound."""

    day_usd: Number | None = Field(default=None, ge=0)


class Reflecting(Section):
    """When the worker draws insights: after memories of so much importance in sum, or so many
    messages (after Generative Agents, arXiv 2304.03442: 150 and 100)."""

    importance: Whole = Field(default=settings.REFLECT_IMPORTANCE, ge=1)
    every: Whole = Field(default=settings.REFLECT_EVERY, ge=1)


def _read_reflect(value: Any) -> Any:
    """False is never, true the defaults."""
    return (Reflecting() if value else None) if isinstance(value, bool) else value


class Sleeping(Section):
    """The worker that tends memory between turns. `when`: off; idle, a while after a turn; every N
    turns; or a cron line. Without `model` the one that writes summaries is asked. `review: ask`:
    a person looks at each change first. A job that is false is not run."""

    when: Words = "off"
    model: ModelName | None = None
    budget: Budget = Budget()
    review: Literal["auto", "ask"] = "auto"
    extract: bool = True
    reflect: Annotated[Reflecting | None, BeforeValidator(_read_reflect)] = Reflecting()
    compress: bool = True
    promote: bool = True
    prompts: bool = False

    @field_validator("when")
    @classmethod
    def _is_when(cls, value: str) -> str:
        if value in ("off", "idle") or turns_between(value):
            return value
        try:
            parse_recurrence(f"cron {value}", datetime(2026, 1, 1, tzinfo=UTC), past=True)
        except (UserError, ValueError) as error:
            raise ValueError(f"must be off, idle, every N turns or a cron line: {error}") from None
        return value

    @property
    def turns(self) -> int | None:
        """After how many turns, where it says so."""
        return turns_between(self.when)

    @property
    def cron(self) -> str | None:
        """The cron line, where it is one."""
        return None if self.when in ("off", "idle") or self.turns else self.when


def turns_between(when: str) -> int | None:
    """N of `every N turns`."""
    found = re.fullmatch(r"every\s+(\d{1,6})\s+turns?", when.strip())
    return int(found[1]) if found and int(found[1]) else None


def read_sleep(value: Any) -> Any:
    """`sleep: idle` is `sleep: {when: idle}`; YAML reads a bare off as false."""
    if value is False:
        return {"when": "off"}
    if value is True or isinstance(value, int | float):
        raise ValueError(
            f"must be off, idle, every N turns, a cron line, or a mapping with `when`, not {value}"
        )
    return {"when": value} if isinstance(value, str) else value


class Limits(Section):
    """When a turn ends by force, with a named stop reason; None is no bound."""

    steps: Whole = Field(default=settings.MAX_STEPS, ge=1)
    tool_errors: Whole = Field(default=settings.MAX_TOOL_ERRORS, ge=1)
    identical_calls: Whole = Field(default=settings.MAX_IDENTICAL_CALLS, ge=2)
    page_ins: Whole = Field(default=settings.MAX_PAGE_INS, ge=0)
    seconds: Number = Field(default=settings.MAX_TURN_SECONDS, gt=0)
    tokens: Whole | None = Field(default=None, ge=1)
    cost: Number | None = Field(default=None, gt=0)
