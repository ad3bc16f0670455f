"""EvalCases: the questions of a cases file, with what an agent should find for each.

Checked whole, as definitions are: every fault is a DefinitionError with its line. Whether the agent
has the ids that are named is found out when the cases are run.
"""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError, field_validator
from pydantic import model_validator as whole

from pagemind.runtime.definition_faults import complain, from_validation
from pagemind.runtime.definition_parts import Number, Section, Whole, Words
from pagemind.runtime.errors import NotFound
from pagemind.runtime.settings import EVAL_K, EVAL_MAX_K, MAX_EVAL_BYTES
from pagemind.runtime.when import parse_span
from pagemind.runtime.yaml_reader import Document, Kind, decode, read

Where = Literal["recall", "archival", "both"]

_KIND = Kind(
    "a file of cases", "cases:", MAX_EVAL_BYTES, "split it: each file is measured by itself"
)
_ID = re.compile(r"(?:[map]|\S+:a)[1-9]\d*")  # handbook:a7 stands in a shared archive


def _several(value: Any) -> Any:
    """One text may stand for a list of one."""
    return value if isinstance(value, list | tuple) else (value,)


Several = Annotated[tuple[Words, ...], BeforeValidator(_several)]

# A year by itself is a number in YAML.
Date = Annotated[Words, BeforeValidator(lambda value: str(value) if type(value) is int else value)]


class Case(Section):
    """One question. What is right: a hit that holds a text of `expected`, or is one of `evidence`;
    with `absent`, none of these, and without any, no hit at all."""

    question: Words
    expected: Several = ()
    evidence: Several = ()
    absent: bool = False
    role: Literal["user", "assistant", "tool"] | None = None
    speaker: Words | None = None
    start: Date | None = None
    end: Date | None = None
    tags: Several = ()

    @field_validator("question")
    @classmethod
    def _asks(cls, value: str) -> str:
        if not any(c.isalnum() for c in value):
            raise ValueError("must hold a letter or a digit: nothing else can be searched")
        return value

    @field_validator("expected", "tags")
    @classmethod
    def _says(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(not text.strip() for text in value):
            raise ValueError("must not be empty text")
        return value

    @field_validator("evidence")
    @classmethod
    def _ids(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if not _ID.fullmatch(name):
                raise ValueError(
                    f"{name!r} is not an id: m12 is a message, a3 a passage, p7 a page"
                )
        return value

    @field_validator("start", "end")
    @classmethod
    def _is_date(cls, value: str | None) -> str | None:
        if value is not None:
            parse_span(value, datetime.now(UTC))  # raises ValueError, with how to write it
        return value

    @whole(mode="after")
    def _can_be_judged(self) -> Self:
        if not (self.expected or self.evidence or self.absent):
            raise ValueError(
                "says nothing of what is right: write `expected: TEXT`, `evidence: [m12]` or "
                "`absent: true`"
            )
        return self

    @property
    def of_messages(self) -> bool:
        """Passages have no role and no speaker."""
        return self.role is not None or self.speaker is not None


class EvalCases(Section):
    """A whole file; made by `load_cases` or `parse_cases`."""

    # `schema` is a method of every pydantic model.
    version: Literal[1] = Field(default=1, alias="schema")
    floor: Number | None = Field(default=None, ge=0, le=1)
    k: Whole | None = Field(default=None, ge=1, le=EVAL_MAX_K)
    max_tokens: Whole | None = Field(default=None, ge=1, le=1_000_000)
    tier: Where = "both"
    cases: tuple[Case, ...]

    _document: Document = PrivateAttr(default_factory=lambda: Document({}, "", {}))

    @field_validator("cases", mode="before")
    @classmethod
    def _not_empty(cls, value: Any) -> Any:
        if value in ([], None):
            raise ValueError("holds no case: write  - question: …  under it")
        return value

    @whole(mode="after")
    def _one_bound(self) -> Self:
        if self.k is not None and self.max_tokens is not None:
            raise ValueError("k and max_tokens are two ways to say how much: keep one of them")
        return self

    @property
    def source(self) -> str:
        return self._document.source

    def where(self, number: int, key: str = "") -> str:
        """`file:line` of a case, counted from 0, or of a key in it."""
        path = ("cases", number, key) if key else ("cases", number)
        return self._document.where(path)

    def line(self, number: int) -> int:
        """The line of a case, counted from 0; 0 where it is not known."""
        found = self._document.lines.get(("cases", number), 0)
        return int(found)

    @property
    def bound(self) -> tuple[int | None, int | None]:
        """k and max_tokens; exactly one of them is set."""
        if self.max_tokens is not None:
            return None, self.max_tokens
        return self.k or EVAL_K, None

    def bounded(self, k: int | None, max_tokens: int | None) -> Self:
        """The same cases within another bound."""
        return self.model_copy(update={"k": k, "max_tokens": max_tokens})


def load_cases(path: str | Path) -> EvalCases:
    """The cases in a file. Raises DefinitionError, NotFound."""
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise NotFound(
            f"{file}: {(reason or 'cannot be read').lower()}",
            hint="docs/eval.md shows how to write one",
        ) from None
    return parse_cases(decode(data, str(file), _KIND), str(file))


def parse_cases(text: str, source: str = "<cases>") -> EvalCases:
    """The cases in a text. Raises DefinitionError with every fault, each on its line."""
    document = read(text, source, _KIND)
    try:
        cases = EvalCases.model_validate(document.value)
    except ValidationError as error:
        raise complain(document, from_validation(error, EvalCases)) from None
    faults = [
        (("cases", number, "role" if case.role else "speaker"), "passages have none: not with tier")
        for number, case in enumerate(cases.cases)
        if case.of_messages and cases.tier == "archival"
    ]
    if faults:
        raise complain(document, faults)
    cases._document = document
    return cases
