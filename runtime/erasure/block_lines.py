"""Which lines core memory loses: by version, what came with a source that is erased, what is a
rewording of that, and what tells of it.

A line of a profile (JSON) is a field: its path and value. Blocks are cut in every version, so that
no restore and no rewind brings anything back.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from pagemind.runtime.erasure.gone import Gone
from pagemind.runtime.erasure.plan import hashed
from pagemind.runtime.models.plain_talk import content
from pagemind.runtime.profile import Profile, is_empty
from pagemind.runtime.state.state import State

_REWORDED = 0.5  # of the words of a line: so much in another makes that the same, said anew


@dataclass(frozen=True, slots=True)
class LostLines:
    """Hashes of lines, and the labels of the blocks that have any."""

    lines: frozenset[str]
    labels: tuple[str, ...]
    texts: tuple[str, ...]  # of the lines, for the preview and for what else repeats them


def lost_lines(
    state: State, gone: Gone, tells: Callable[[str, str], bool], says: Callable[[str, str], bool]
) -> LostLines:
    """`tells` is asked of a line and who wrote it; `says` of what is left of a source, and a line
    that came with it."""
    came: dict[tuple[str, int], list[str]] = {}
    for row in state.database.rows(
        "SELECT derived, source, version FROM lineage WHERE derived GLOB 'block:*'"
    ):
        came.setdefault((row["derived"].partition(":")[2], row["version"]), []).append(
            row["source"]
        )
    lines: dict[str, str] = {}
    labels: list[str] = []
    for block in state.blocks.all():
        lost: dict[str, str] = {}
        before: dict[str, str] = {}
        for version in state.blocks.history(block.label):
            now = {hashed(line): line for line in lines_of(version.value)}
            new = {key: line for key, line in now.items() if key not in before}
            sources = came.get((block.label, version.version), [])
            taken = any(gone.takes(source) for source in sources)
            left = [gone.left_of(source) for source in sources] if taken else []
            dropped = [line for key, line in before.items() if key in lost and key not in now]
            for key, line in new.items():
                by_source = taken and not any(says(text, line) for text in left)
                if by_source or _reworded(line, dropped):
                    lost[key] = line
            for key, line in now.items():
                if tells(line, version.author):
                    lost[key] = line
            before = now
        if lost:
            labels.append(block.label)
            lines.update(lost)
    return LostLines(frozenset(lines), tuple(labels), tuple(lines.values()))


def outlived(state: State, before: datetime) -> LostLines:
    """Lines that only versions have whose time was over by then."""
    lines: dict[str, str] = {}
    labels: list[str] = []
    for block in state.blocks.all():
        history = state.blocks.history(block.label)
        over = [old for old, new in pairwise(history) if new.at < before]
        kept = {hashed(line) for each in history[len(over) :] for line in lines_of(each.value)}
        old = {hashed(line): line for each in over for line in lines_of(each.value)}
        if lost := {key: line for key, line in old.items() if key not in kept}:
            labels.append(block.label)
            lines.update(lost)
    return LostLines(frozenset(lines), tuple(labels), tuple(lines.values()))


def _reworded(line: str, dropped: Sequence[str]) -> bool:
    said = content(line)
    return bool(said) and any(
        len(said & content(old)) >= _REWORDED * len(content(old)) for old in dropped if content(old)
    )


def lines_of(value: str) -> list[str]:
    """The lines of a block that say something; of a profile `path: value` of each field."""
    if (profile := _profile(value)) is not None:
        return [f"{path}: {text}" for path, text in _leaves(profile, "")]
    return [line for line in value.splitlines() if line.strip()]


def without(value: str, lines: frozenset[str]) -> str:
    """A block's value without these lines; unchanged to the letter if it has none of them."""
    if not any(hashed(line) in lines for line in lines_of(value)):
        return value
    if (profile := _profile(value)) is not None:
        left = _cut(profile, "", lines)
        return "" if is_empty(left) else Profile("", {}).write(left)
    kept = [line for line in value.splitlines() if hashed(line) not in lines]
    return "\n".join(kept).strip("\n")


def _profile(value: str) -> dict[str, Any] | None:
    if not value.lstrip().startswith("{"):
        return None
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(each, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        # By its value, not its place: what is taken out before it moves it up.
        for each in value:
            yield from _leaves(each, f"{path}[]")
    elif value is not None and value != "":
        yield path, value if isinstance(value, str) else json.dumps(value)


def _cut(value: Any, path: str, lines: frozenset[str]) -> Any:
    """Without the fields that are lost, and what is empty then."""
    if isinstance(value, Mapping):
        made = {
            key: _cut(each, f"{path}.{key}" if path else str(key), lines)
            for key, each in value.items()
        }
        return {key: each for key, each in made.items() if each is not None or value[key] is None}
    if isinstance(value, list):
        cut = [_cut(each, f"{path}[]", lines) for each in value]
        return [each for each in cut if each is not None and each != {}]
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    return None if hashed(f"{path}: {text}") in lines else value
