"""Screen: keeps secrets out of what a model or the worker writes into memory, by the rule of the
definition (`trust: {secrets: …}`). What people say, store themselves and import stays as it is.

    redact    the kind of the secret stands in its place: [secret: github token]
    refuse    a model is told which kind stands where, and nothing is stored; for the worker, whom
              nobody would hear, the same as redact
    allow     everything is stored as it comes
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.passage import Facets
from pagemind.runtime.secret_scan import secrets_in, without

Rule = Literal["redact", "refuse", "allow"]
_PEOPLE = frozenset({"user", "operator", "import", "document", "definition"})  # who writes freely
_HEAR = frozenset({"model", "agent"})  # who reads a refusal


class Screen:
    """Of one agent or archive: all is allowed until a definition says otherwise."""

    def __init__(self) -> None:
        self.rule: Rule = "allow"

    def look(self, by: str, origin: str = "") -> "Look":
        """For one thing that this author writes; its origin may be a person's, too."""
        hears = by in _HEAR or origin == "agent"
        return Look("allow" if {by, origin} & _PEOPLE else self.rule, hears)


@dataclass(frozen=True, slots=True)
class Look:
    """`kinds` are those of what was taken out."""

    rule: Rule
    hears: bool
    kinds: set[str] = field(default_factory=set)

    def text(self, text: str, where: str = "the text") -> str:
        """What of it is stored. Raises ToolFailed."""
        if self.rule == "allow" or not (found := secrets_in(text)):
            return text
        kinds = {each.kind for each in found}
        if self.rule == "refuse" and self.hears:
            raise ToolFailed(
                f"nothing was stored: {where} holds a secret ({', '.join(sorted(kinds))}), which"
                " this memory does not keep; write it without"
            )
        self.kinds.update(kinds)
        return without(text, found)

    def json(self, value: Any, where: str) -> Any:
        """The same for every text of a JSON value, by its path. Raises ToolFailed."""
        if self.rule == "allow":
            return value
        if isinstance(value, str):
            return self.text(value, where)
        if isinstance(value, Mapping):
            return {key: self.json(each, f"{where}.{key}") for key, each in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.json(each, f"{where}[{at}]") for at, each in enumerate(value))
        return value

    def facets(self, facets: Facets) -> Facets:
        """The same for what a fact says of its subject. Raises ToolFailed."""
        kept = self.text(facets.object, "object")
        return facets if kept == facets.object else replace(facets, object=kept)
