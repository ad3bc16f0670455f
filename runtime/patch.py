"""A unified diff, applied to a text by what its lines say, not by their numbers. Pure.

Models count badly and copy well: each hunk is looked for by its context and removed lines, which
must stand in the text in one place. What only adds, without context, goes to the end.
"""

from dataclasses import dataclass
from difflib import unified_diff

_NO_NEWLINE = "\\ No newline"


class DoesNotApply(ValueError):
    """Why, in one line."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """What stands there, and what shall."""

    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def changed(self) -> int:
        """Lines that are added or taken away."""
        return abs(len(self.old) - len(self.new)) + sum(
            one != other for one, other in zip(self.old, self.new, strict=False)
        )


def hunks_of(diff: str) -> list[Hunk]:
    """Raises DoesNotApply for what is no diff, or changes nothing."""
    found: list[Hunk] = []
    old: list[str] = []
    new: list[str] = []

    def close() -> None:
        if old != new:
            found.append(Hunk(tuple(old), tuple(new)))
        old.clear()
        new.clear()

    for number, line in enumerate(diff.strip("\n").splitlines(), 1):
        if line.startswith(("--- ", "+++ ", "```", _NO_NEWLINE)) or line in ("---", "+++"):
            continue
        if line.startswith("@@"):
            close()
        elif line[:1] in ("", " "):
            old.append(line[1:])
            new.append(line[1:])
        elif line[0] == "-":
            old.append(line[1:])
        elif line[0] == "+":
            new.append(line[1:])
        else:
            raise DoesNotApply(f"line {number} of the diff begins with neither space, - nor +")
    close()
    if not found:
        raise DoesNotApply("the diff changes nothing")
    return found


def patched(text: str, diff: str) -> str:
    """The text with the diff applied. Raises DoesNotApply."""
    lines = text.split("\n") if text else []
    for number, hunk in enumerate(hunks_of(diff), 1):
        at = _place(lines, hunk.old, number)
        lines[at : at + len(hunk.old)] = hunk.new
    return "\n".join(lines)


def diff_of(before: str, after: str, name: str) -> str:
    """As `diff -u` shows it."""
    lines = unified_diff(
        before.split("\n") if before else [], after.split("\n"), name, name, lineterm=""
    )
    return "\n".join(lines)


def _place(lines: list[str], old: tuple[str, ...], number: int) -> int:
    if not any(line.strip() for line in old):
        return len(lines)  # nothing says where
    wanted = [line.rstrip() for line in old]
    places = [
        at
        for at in range(len(lines) - len(old) + 1)
        if [line.rstrip() for line in lines[at : at + len(old)]] == wanted
    ]
    if not places:
        raise DoesNotApply(f"hunk {number} does not apply: its lines do not stand in the text")
    if len(places) > 1:
        raise DoesNotApply(f"hunk {number} fits in {len(places)} places: it needs more context")
    return places[0]
