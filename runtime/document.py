"""A document as passages: blocks packed together, headings kept with what follows. Pure.

A passage is a slice of the text: nothing is lost but white space at the cuts. Blocks are
paragraphs, lists, tables and fenced code, as blank lines and headings part them. A block that is
too long is cut at sentences or lines, then at words, and only then anywhere.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pagemind.runtime.settings import DOCUMENT_CHARS, HEADING_CHARS

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*?)[ \t#]*$")
_RULE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# A full stop after an initial or one of these ends no sentence.
_SHORT = r"(?<!\b[A-Z]\.)(?<!\b[DMS][rst]\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\bNo\.)"
_SENTENCE = re.compile(rf"(?<=[.!?…]){_SHORT}[\"'”’)]?\s+|(?<=[。！？])|\n")
_SPACE = re.compile(r"\s+")
_LEVELS = 6


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage, and the headings that it stands under, the outermost first. Those with which it
    begins itself are not among them."""

    text: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Block:
    """A slice of the text. `level` is that of a heading, 0 for anything else."""

    start: int
    end: int
    level: int = 0
    title: str = ""


def pieces(text: str, limit: int = DOCUMENT_CHARS, *, headings: bool = True) -> Iterator[Piece]:
    """Passages of at most `limit` characters, in order, each with its headings. A heading begins
    a new passage once the one before is half full. Without `headings` a line with # is a line: in
    code it is a remark."""
    text = text.replace("\r\n", "\n")
    above: list[tuple[int, str]] = []  # open headings
    packed: list[_Block] = []
    path: tuple[str, ...] = ()  # of the packed blocks
    for block in _blocks(text, headings):
        over = [] if block.level else _headings(packed)
        lead = block.start - over[0].start if over else 0
        for part in _cut(text, block, limit, limit - lead if lead < limit // 2 else limit):
            begins = part.level > 0 and packed and part.start - packed[0].start > limit // 2
            if packed and (begins or part.end - packed[0].start > limit):
                moved = [] if begins else _trailing(packed, part, limit)
                if kept := packed[: len(packed) - len(moved)]:
                    yield Piece(text[kept[0].start : kept[-1].end], path)
                packed = moved
                path = _names(above, packed)
            if part.level:
                above = [each for each in above if each[0] < part.level]
                if not packed:
                    path = _names(above, [])
                above.append((part.level, part.title))
            elif not packed:
                path = _names(above, [])
            packed.append(part)
    if packed:
        yield Piece(text[packed[0].start : packed[-1].end], path)


def under(context: tuple[str, ...], piece: Piece) -> Piece:
    """The piece beneath one line that says where it stands, such as `Harbours › Horta`: a search
    for the heading finds what is said under it."""
    names: list[str] = []
    for name in (*context, *piece.path):
        name = _SPACE.sub(" ", name).strip()
        if name and name not in names[-1:]:
            names.append(name)
    first = piece.text.lstrip("# ").split("\n", 1)[0].strip(" #")
    if names and names[-1] == first:
        names.pop()
    if not names:
        return piece
    line = " › ".join(names)
    while len(line) > HEADING_CHARS and len(names) > 1:
        del names[len(names) // 2 - (len(names) == 2)]  # the ends say most, the last one above all
        line = " › ".join(names)
    return replace(piece, text=f"{line[:HEADING_CHARS]}\n\n{piece.text}")


def _names(above: list[tuple[int, str]], packed: list[_Block]) -> tuple[str, ...]:
    """The open headings, without those that begin the passage themselves."""
    own = {(each.level, each.title) for each in packed if each.level}
    return tuple(title for level, title in above if (level, title) not in own)


def _trailing(packed: list[_Block], part: _Block, limit: int) -> list[_Block]:
    """The headings at the end, which go with what follows them if that fits."""
    moved = _headings(packed)
    fits = 0 < len(moved) < len(packed) and part.end - moved[0].start <= limit
    return moved if fits else []


def _headings(packed: list[_Block]) -> list[_Block]:
    """Those at the end."""
    first = len(packed)
    while first and packed[first - 1].level:
        first -= 1
    return packed[first:]


def _blocks(text: str, headings: bool) -> Iterator[_Block]:
    """Runs of lines without a blank one between them; headings are blocks of their own."""
    start = end = -1  # of the block that is open
    lines = 0
    fence = ""
    for match in re.finditer(r"[^\n]+", text):
        line = match[0]
        fenced = _FENCE.match(line)
        blank = line.isspace()
        if start >= 0 and not fence and (blank or match.start() - end > 1):  # an empty line between
            yield _Block(start, end)
            start = -1
        if blank and not fence:
            continue
        heading = _HEADING.match(line) if headings and not fence else None
        if heading is not None:
            if start >= 0:
                yield _Block(start, end)
                start = -1
            yield _Block(match.start(), match.end(), len(heading[1]), heading[2])
            continue
        rule = _RULE.match(line) if headings and not fence and start >= 0 and lines == 1 else None
        title = text[start:end].strip() if rule else ""
        if rule is not None and len(title) <= 80 and "|" not in title and title[:3] != "---":
            yield _Block(start, match.end(), 1 if rule[1][0] == "=" else 2, title)
            start = -1
            continue
        if fenced is not None:
            if not fence:
                fence = fenced[1]
            elif line.strip().startswith(fence) and not line.strip(" `~"):
                fence = ""
        start, lines = (start, lines + 1) if start >= 0 else (match.start(), 1)
        end = match.end()
    if start >= 0:
        yield _Block(start, end)


def _cut(text: str, block: _Block, limit: int, first: int) -> Iterator[_Block]:
    """The block in parts within the limit, without white space at their ends. The first is within
    `first`, so that a heading before it can stay with it."""
    start = block.start
    while block.end - start > (room := first if start == block.start else limit):
        stop = start + room
        at = _last(_SENTENCE, text, start, stop) or _last(_SPACE, text, start, stop) or stop
        end = start + len(text[start:at].rstrip())
        if end > start:
            yield _Block(start, end)
        start = at
        while start < block.end and text[start].isspace():
            start += 1
    if start < block.end:
        level = block.level if start == block.start else 0
        end = start + len(text[start : block.end].rstrip())
        yield replace(block, start=start, end=end, level=level)


def _last(pattern: re.Pattern[str], text: str, start: int, stop: int) -> int:
    """Where the last match ends, unless that leaves a stump; 0 for nowhere."""
    at = 0
    for match in pattern.finditer(text, start, stop):
        at = match.end()
    return at if at - start > (stop - start) // 4 else 0
