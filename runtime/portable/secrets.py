"""Keeps secrets out of an export: keys that stand in a definition, and values of the environment.

A definition names variables and never has their values; what a person has written into it all the
same (a header, a password in an address) is left out and named. A value of a variable that is a
key by its name, or that the definition gives to the provider, is blotted out wherever it stands.
"""

import copy
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from pagemind.runtime.mcp_use import read_servers
from pagemind.runtime.portable.tables import Table, Values
from pagemind.runtime.secret_scan import SECRET_NAME
from pagemind.runtime.settings import SECRET_MIN_CHARS
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.passages import digest
from pagemind.runtime.tool_use import read_uses

BLOTTED = "[secret]"  # no longer than what it stands for: a block keeps its limit
_HEADERS = frozenset({"headers", "extra_headers", "default_headers"})
# What a header may say without being a secret.
_OPEN_HEADERS = frozenset({"accept", "content-type", "user-agent", "http-referer", "x-title"})
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}")


class Secrets:
    """What an export of one agent must not hold. `left_out` says what was found, by its place."""

    def __init__(self, stored: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        self.left_out: list[str] = []
        self.definition: dict[str, Any] = copy.deepcopy(dict(stored))
        written = self.definition.get("definition", {})
        self.definition.pop("folder", None)  # where it lay on this machine
        if "source" in self.definition and Path(self.definition["source"]).is_absolute():
            self.definition["source"] = Path(self.definition["source"]).name
        names = {name for name in environ if SECRET_NAME.search(name)}
        model = written.get("model") if isinstance(written, dict) else None
        if isinstance(model, dict):
            names |= self._clean(model, "model")
        if isinstance(written, dict):
            names |= tool_variables(written.get("tools"))
        values = {name: environ[name] for name in names if name in environ}
        self._values: list[tuple[str, str]] = []
        for name, value in sorted(values.items(), key=lambda each: (-len(each[1]), each[0])):
            if len(value) >= SECRET_MIN_CHARS:
                escaped = json.dumps(value, ensure_ascii=False)[1:-1]
                self._values += [(each, name) for each in dict.fromkeys((value, escaped))]
        self._moved: dict[str, str] = {}  # texts whose hash is another one without the secret
        self._found: set[str] = set()
        if self._values:
            text = json.dumps(self.definition, ensure_ascii=False)
            self.definition = json.loads(self._without(text, "definition"))

    def read_texts(self, database: Database) -> None:
        """Find the prompts that hold a secret: what refers to them is told their new hash."""
        for value, _ in self._values:
            for row in database.rows(
                "SELECT sha256, text FROM texts WHERE instr(text, ?) > 0", (value,)
            ):
                text = self._without(row["text"], "texts")
                self._moved[row["sha256"]] = hashlib.sha256(text.encode("utf-8")).hexdigest()

    def rows(self, table: Table, rows: Iterator[Values]) -> Iterator[Values]:
        """The rows without secrets; as they are if there are none."""
        if not self._values:
            yield from rows
            return
        seen: set[str] = set()
        for row in rows:
            clean = tuple(
                self._moved.get(cell, self._without(cell, table.name))
                if isinstance(cell, str)
                else cell
                for cell in row
            )
            if table.name == "passages" and clean != row:
                clean = _with_digest(table, clean)
            if table.name == "texts" and clean != row:  # two may be the same without it
                if clean[0] in seen:
                    continue
                seen.add(str(clean[0]))
            yield clean

    def _without(self, text: str, where: str) -> str:
        for value, name in self._values:
            if value in text:
                text = text.replace(value, BLOTTED)
                self._say(f"the value of {name} in {where}")
        return text

    def _say(self, what: str) -> None:
        if what not in self._found:
            self._found.add(what)
            self.left_out.append(what)

    # --- the definition -------------------------------------------------------------------------

    def _clean(self, model: dict[str, Any], path: str) -> set[str]:
        """Take literal secrets out of a model and its fallbacks; the variables it refers to."""
        names = {str(model["api_key_env"])} if model.get("api_key_env") else set()
        base = model.get("api_base")
        if isinstance(base, str):
            model["api_base"] = self._address(base, f"{path}.api_base")
        params = model.get("params")
        if isinstance(params, dict):
            names |= set(_REFERENCE.findall(json.dumps(params)))
            self._walk(params, f"{path}.params", headers=False)
        for at, fallback in enumerate(model.get("fallbacks") or ()):
            if isinstance(fallback, dict):
                names |= self._clean(fallback, f"{path}.fallbacks.{at}")
        return names

    def _walk(self, node: Any, path: str, *, headers: bool) -> None:
        if isinstance(node, list):
            for at, inner in enumerate(node):
                self._walk(inner, f"{path}.{at}", headers=headers)
        if not isinstance(node, dict):
            return
        for key, inner in list(node.items()):
            where = f"{path}.{key}"
            if isinstance(inner, dict | list):
                self._walk(inner, where, headers=key in _HEADERS)
            elif isinstance(inner, str) and _is_literal(inner):
                hidden = headers and key.lower() not in _OPEN_HEADERS
                if hidden or SECRET_NAME.search(key):
                    del node[key]
                    self.left_out.append(where)

    def _address(self, base: str, where: str) -> str:
        """An address without a user, a password or a query."""
        try:
            parts = urlsplit(base)
        except ValueError:
            return base
        host = parts.netloc.rpartition("@")[2]
        clean = urlunsplit((parts.scheme, host, parts.path, "", ""))
        if clean != base and _is_literal(base):
            self.left_out.append(f"what stands beside the address in {where}")
            return clean
        return base


def _with_digest(table: Table, row: Values) -> Values:
    """A passage whose text was changed, with the digest of what it is now."""
    cells = dict(zip(table.names, row, strict=True))
    return tuple((cells | {"digest": digest(cells["text"])}).values())


def _is_literal(text: str) -> bool:
    """Whether anything stands there but references to variables and the words before them."""
    rest = _REFERENCE.sub("", text)
    return bool(re.sub(r"^(?:bearer|basic|token)\b", "", rest.strip(), flags=re.I).strip())


def tool_variables(tools: Any) -> set[str]:
    """The variables that functions may see."""
    if not isinstance(tools, list):
        return set()
    names = {name for use in read_uses(tools)[0] for name in getattr(use.terms, "env", ())}
    for server in read_servers(tools)[0]:
        names |= {*server.terms.env, *filter(None, [server.terms.token_env])}
    return names


def variables(stored: Mapping[str, Any]) -> list[str]:
    """The variables that a stored definition needs, by name."""
    text = json.dumps(stored.get("definition", {}))
    found = tool_variables(stored.get("definition", {}).get("tools"))
    found |= set(_REFERENCE.findall(text)) | set(re.findall(r'"api_key_env": "(\w+)"', text))
    return sorted(found)
