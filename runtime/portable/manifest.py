"""The manifest of a .pmz file: what it is, what stands in it and how to know that it is whole.

`read` refuses what is not a manifest of a version known here; nothing in it is trusted beyond its
shape: sizes and hashes are compared with what is there.
"""

import json
import re
from typing import Annotated, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pagemind.runtime.errors import BadExport, ExportTooNew
from pagemind.runtime.settings import PORTABLE_FORMAT, STATE_SCHEMA

FORMAT: Literal["pagemind agent"] = "pagemind agent"
NAME = "manifest.json"
DEFINITION = "definition.json"

# How an increment carries a table: not at all, the rows that were added, or all of it.
Mode = Literal["same", "added", "whole"]
Count = Annotated[int, Field(ge=0, le=1 << 62)]
Words = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]*$", max_length=300)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_MEMBER = re.compile(
    r"definition\.json|tables/[a-z_]{1,40}\.parquet|embeddings/[a-z]{1,20}\.parquet"
    r"|blobs/[0-9a-f]{64}"
)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Member(_Part):
    """One file inside."""

    bytes: Count
    sha256: Sha256


class TableState(_Part):
    """A table of the agent when it was exported, all its rows, and what of it is in this file."""

    rows: Count
    sha256: Sha256
    columns: list[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")]]
    last: list[str | int] = []  # the key of the last row
    mode: Mode = "whole"
    after: list[str | int] = []  # the key that added rows come after, where one says it
    carried: Count


class AgentPart(_Part):
    """Who it was. `model` is the person's stored choice, a name or ""."""

    name: Words
    id: Words
    definition: Words
    model: Words = ""


class Embeddings(_Part):
    """What made the vectors, and how many of each tier there are."""

    identity: dict[str, str | int]
    rows: dict[str, Count]


class Base(_Part):
    """What an increment goes on from: the last message, and the hash of its tables where a file
    was named."""

    seq: Count
    tables: dict[str, Sha256] = {}


class Manifest(_Part):
    """All of it."""

    format: Literal["pagemind agent"]
    version: int
    made_by: str
    state_schema: int
    agent: AgentPart
    seq: Count  # of the last message
    messages: Count
    passages: Count
    pages: Count
    embedding: str
    meta: dict[str, str]
    sequences: dict[str, Count]
    tables: dict[str, TableState]
    embeddings: Embeddings | None = None
    base: Base | None = None
    blobs: list[Sha256] = []  # all of the agent's, also those that an increment does not carry
    left_out: list[str] = []  # secrets that were taken out, by where they stood
    members: dict[str, Member]

    def to_bytes(self) -> bytes:
        """The same manifest is the same bytes."""
        text = json.dumps(self.model_dump(), ensure_ascii=False, indent=1, sort_keys=True)
        return text.encode("utf-8") + b"\n"


def read(data: bytes, path: str) -> Manifest:
    """Raises BadExport, ExportTooNew."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        _bad(path, "its manifest is not JSON")
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        _bad(path, "its manifest does not say that it holds an agent of pagemind")
    for key, known in (("version", PORTABLE_FORMAT), ("state_schema", STATE_SCHEMA)):
        found = value.get(key)
        if type(found) is not int or found < 1:
            _bad(path, f"its manifest has no {key}")
        if found > known:
            raise ExportTooNew(
                f"{path} was written by a newer pagemind ({key} {found}; this one knows {known})",
                hint="upgrade pagemind; nothing was imported",
            )
    try:
        manifest = Manifest.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        _bad(path, f"its manifest is malformed at {where[:200]}: {first['msg']}")
    for name in manifest.members:
        if not _MEMBER.fullmatch(name):
            _bad(path, f"a member may not be called {name[:200]!r}")
    return manifest


def _bad(path: str, why: str) -> NoReturn:
    raise BadExport(f"{path}: {why}", hint="export it again, or take another copy")
