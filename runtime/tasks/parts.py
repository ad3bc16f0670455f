"""The sections of a task file, each a frozen value that checks itself.

What needs more than one section, a file beside it or an agent to be seen is checked in
task_file.py and scope.py.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from pagemind.runtime import settings
from pagemind.runtime.definition_parts import ModelName, Number, Section, Whole, Words
from pagemind.runtime.errors import InvalidName
from pagemind.runtime.naming import checked_name
from pagemind.runtime.tasks.named_checks import ALONE, Range, spelt_range
from pagemind.runtime.tasks.text import Text
from pagemind.runtime.tool_use import OWN

Many = Literal["per_input", "shared"]
AtOnce = Annotated[Whole, Field(ge=1, le=settings.TASK_AT_ONCE)]
ONE_AT_A_TIME = "one agent does one thing after another: several at once need  agents: per_input"
ONE_CLOCK = "is one for all that runs: a task that simulates it does one input after another"
OnUnknown = Literal["ask", "redo", "skip"]
OnApproval = Literal["ask", "allow", "deny"]
SOURCES = ("files", "tree", "lines", "csv", "jsonl", "stdin")
VERBS = ("say", "call", "sub", "wait", "if", "repeat", "reduce", "expect", "save")


def _several(value: Any) -> Any:
    """One text may stand for a list of one."""
    return value if isinstance(value, list | tuple) else (value,)


def agent_name(value: str) -> str:
    try:
        return checked_name(value)
    except InvalidName as error:
        raise ValueError(error.message) from None


def _templated(value: Any) -> Any:
    if isinstance(value, str):
        Text.parse(value)
    return value


Several = Annotated[tuple[Words, ...], BeforeValidator(_several)]
Templated = Annotated[Words, BeforeValidator(_templated)]


class AgentSpec(Section):
    """An agent that the task makes: from a definition, on a model, under a name."""

    definition: Words
    model: ModelName | None = None
    name: Words | None = None

    @field_validator("name")
    @classmethod
    def _is_name(cls, value: str | None) -> str | None:
        return agent_name(value) if value is not None else None


class Inputs(Section):
    """Where the inputs come from: one of them. Paths may hold the variables of `vars`. What
    they say is as the person's own words, unless they are `untrusted`: then as a document's."""

    files: Annotated[tuple[Templated, ...], BeforeValidator(_several)] = ()
    tree: Templated | None = None
    lines: Templated | None = None
    csv: Templated | None = None
    jsonl: Templated | None = None
    stdin: Literal["lines", "csv", "jsonl"] | None = None
    untrusted: bool = False

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(found := sorted(self.model_fields_set - {"untrusted"})) != 1:
            said = f"not {' and '.join(found)}" if found else "nothing stands here"
            raise ValueError(f"must say one of {', '.join(SOURCES)}; {said}")
        return self

    @field_validator("files")
    @classmethod
    def _not_empty(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or any(not each.strip() for each in value):
            raise ValueError("must be a path or a pattern such as notes/*.md")
        if any(each.count("**") > 1 for each in value):
            raise ValueError("** may stand once in a pattern")
        return value

    @property
    def kind(self) -> str:
        return next(iter(self.model_fields_set - {"untrusted"}))

    @property
    def paths(self) -> tuple[str, ...]:
        """As they are written."""
        written = getattr(self, self.kind)
        return () if self.kind == "stdin" else (written,) if isinstance(written, str) else written

    def filled(self, vars: Mapping[str, str]) -> Self:
        """With the values of variables. Raises TemplateError for one that is not there."""
        found = tuple(Text.parse(each).fill(vars) for each in self.paths)
        if not found:
            return self
        return self.model_copy(update={self.kind: found if self.kind == "files" else found[0]})


class Bounds(Section):
    """What something may take; None is no bound. US dollars, seconds of work."""

    steps: Whole | None = Field(default=None, ge=1)
    tokens: Whole | None = Field(default=None, ge=1)
    cost: Number | None = Field(default=None, gt=0)
    seconds: Number | None = Field(default=None, gt=0)


class Budget(Section):
    """Bounds of the whole task, of each input and of each action."""

    task: Bounds = Bounds()
    input: Bounds = Bounds()
    action: Bounds = Bounds()


class OnError(Section):
    """What happens when an action fails: tried again `attempts` times in all, then the input is
    given up (skip), the task ends (stop), or a person says which (ask)."""

    do: Literal["retry", "skip", "stop", "ask"] = "skip"
    attempts: Whole = Field(default=settings.TASK_ATTEMPTS, ge=1, le=100)
    then: Literal["skip", "stop", "ask"] = "skip"

    @property
    def tries(self) -> int:
        return self.attempts if self.do == "retry" else 1

    @property
    def last(self) -> str:
        """What happens when all attempts failed."""
        return self.then if self.do == "retry" else self.do


def _spelt_policy(value: Any) -> Any:
    return {"do": value} if isinstance(value, str) else value


Policy = Annotated[OnError, BeforeValidator(_spelt_policy)]
SchemaRef = dict[str, Any] | Words  # a JSON schema, or the file that holds it


def _true(value: Any) -> Any:
    if value is not True:
        raise ValueError("must be true, or left out")
    return value


Yes = Annotated[bool, BeforeValidator(_true)]


class Check(Section):
    """What a text must be: all that is said here holds. `of` is the reply where nothing is said."""

    contains: Several = ()
    lacks: Several = ()
    regex: Words | None = None
    json_schema: SchemaRef | None = Field(default=None, alias="schema")
    not_empty: Yes = False
    is_json: Yes = Field(default=False, alias="json")
    number: Annotated[Range, BeforeValidator(spelt_range)] | None = None
    one_of: Several = ()
    min_words: Whole | None = Field(default=None, ge=1)
    max_words: Whole | None = Field(default=None, ge=1)
    max_characters: Whole | None = Field(default=None, ge=1)
    check: Words | None = None
    of: Templated | None = None

    @field_validator("regex")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                re.compile(value)
            except re.error as error:
                raise ValueError(f"is no pattern: {error}") from None
        return value

    @model_validator(mode="after")
    def _says(self) -> Self:
        if not self.model_fields_set - {"of"}:
            keys = [field.alias or name for name, field in type(self).model_fields.items()]
            raise ValueError(f"must say what holds: {', '.join(keys[:-1])}")
        if self.min_words and self.max_words and self.min_words > self.max_words:
            raise ValueError("min_words is more than max_words: no text is such")
        return self

    @field_validator("check")
    @classmethod
    def _is_function(cls, value: str | None) -> str | None:
        if value is not None and not OWN.fullmatch(value):
            raise ValueError(f"{value!r} is no function: write it like mypackage.checks:is_polite")
        return value


def _spelt_check(value: Any) -> Any:
    """A check that needs no more than its name may stand as that."""
    if not isinstance(value, str):
        return value
    if value in ALONE:
        return {value: True}
    if ":" in value:
        return {"check": value}
    raise ValueError(
        f"{value!r} is no check that its name alone can say: {', '.join(ALONE)}, or a function"
        " such as mypackage.checks:is_polite; others are {contains: …}"
    )


SpeltCheck = Annotated[Check, BeforeValidator(_spelt_check)]


class Save(Section):
    """Where something is written: the reply (or its data) if nothing is said, a text, a row of
    JSON, or a block of core memory."""

    file: Templated
    text: Templated | None = None
    row: dict[str, Templated | Number | bool | None] | None = None
    block: Words | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(found := sorted(self.model_fields_set - {"file"})) > 1:
            raise ValueError(f"{' and '.join(found)} are several things to write: keep one")
        if self.row is not None and not self.as_rows:
            raise ValueError("a row is written to a .jsonl file")
        return self

    @property
    def as_rows(self) -> bool:
        return self.file.strip().endswith(".jsonl")


def _spelt_save(value: Any) -> Any:
    return {"file": value} if isinstance(value, str) else value


class Action(Section):
    """One thing to do, by its verb: say, call, sub, wait, if, repeat, reduce (which says too); or
    expect and save alone."""

    say: Templated | None = None
    json_schema: SchemaRef | None = Field(default=None, alias="schema")
    call: Words | None = None
    arguments: dict[str, Any] = Field(default_factory=dict, alias="with")
    on_unknown: OnUnknown | None = None
    on_approval: OnApproval | None = None
    sub: Words | None = None
    values: dict[str, Templated | Number] = Field(default_factory=dict, alias="set")
    agent: Literal["same"] | None = None
    accept: Literal["partial"] | None = None
    reduce: Words | None = None
    take: Whole = Field(default=settings.TASK_TAKE, ge=2, le=1000)
    wait: Templated | None = None
    condition: SpeltCheck | None = Field(default=None, alias="if")
    then: "tuple[Action, ...]" = ()
    otherwise: "tuple[Action, ...]" = Field(default=(), alias="else")
    repeat: "tuple[Action, ...]" = ()
    until: SpeltCheck | None = None
    at_most: Whole | None = Field(default=None, ge=1, le=10_000)
    expect: SpeltCheck | None = None
    save: Annotated[Save, BeforeValidator(_spelt_save)] | None = None
    named: Words | None = Field(default=None, alias="as")
    budget: Bounds | None = None
    on_error: Policy | None = None

    @property
    def verb(self) -> str:
        for name, value in (
            ("reduce", self.reduce),
            ("say", self.say),
            ("call", self.call),
            ("sub", self.sub),
            ("wait", self.wait),
            ("if", self.condition),
            ("repeat", self.repeat or None),
            ("save", self.save),
            ("expect", self.expect),
        ):
            if value is not None:
                return name
        return ""

    @field_validator("say")
    @classmethod
    def _says(cls, value: str | None) -> str | None:
        if value is not None and not value.strip():
            raise ValueError("is empty: write what the agent is told")
        return value

    @field_validator("named")
    @classmethod
    def _is_variable(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
            raise ValueError(f"{value!r} is no name of a variable: letters, digits and _")
        return value

    @model_validator(mode="after")
    def _fits(self) -> Self:
        named = {field.alias or name: name for name, field in type(self).model_fields.items()}
        said = {key for key, name in named.items() if name in self.model_fields_set}
        verbs = [verb for verb in VERBS[:6] if verb in said]
        if self.reduce is not None:
            verbs = ["reduce", *(verb for verb in verbs if verb != "say")]
        if len(verbs) > 1:
            raise ValueError(f"{' and '.join(verbs)} are two actions: write each as its own")
        if not self.verb:
            raise ValueError(f"does nothing: write one of {', '.join(VERBS)}")
        if extra := sorted(said - _ALLOWED[self.verb]):
            allowed = ", ".join(sorted(_ALLOWED[self.verb] - {self.verb})) or "nothing"
            raise ValueError(f"{extra[0]} does not go with {self.verb}; that takes: {allowed}")
        if self.verb == "reduce" and self.say is None:
            raise ValueError("reduce needs say: what the agent is told of {{ results }}")
        if self.verb == "if" and not (self.then or self.otherwise):
            raise ValueError("if without then: write what is done")
        if self.verb == "repeat" and (self.until is None or self.at_most is None):
            raise ValueError("repeat needs until, and at_most: how many times at the most")
        return self


_ALLOWED: dict[str, set[str]] = {
    "say": {"say", "schema", "expect", "save", "as", "budget", "on_approval", "on_error"},
    "call": {"call", "with", "on_unknown", "expect", "save", "as", "on_approval", "on_error"},
    "sub": {"sub", "set", "agent", "accept", "save", "as", "budget", "on_error"},
    "reduce": {
        *("reduce", "take", "say", "schema", "expect", "save", "as", "budget", "on_approval"),
        "on_error",
    },
    "wait": {"wait", "budget", "on_approval", "on_error"},
    "if": {"if", "then", "else"},
    "repeat": {"repeat", "until", "at_most"},
    "save": {"save", "expect", "on_error"},
    "expect": {"expect", "on_error"},
}
