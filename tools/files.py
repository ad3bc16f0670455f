"""File functions: read_file, list_files, grep_files, write_file, edit_file, within the folders that
the definition names."""

import hashlib
from collections.abc import Callable
from difflib import get_close_matches
from fnmatch import fnmatchcase

from pagemind.runtime.clock import SystemClock
from pagemind.runtime.errors import BadArguments, ToolFailed
from pagemind.runtime.image_header import read_header
from pagemind.runtime.settings import (
    FILE_BYTES,
    FILES_LISTED,
    GREP_LINE_CHARS,
    GREP_MATCHES,
    GREP_SECONDS,
)
from pagemind.runtime.template import load
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import ToolContext, ToolResult, file_of, tool
from pagemind.tools.file_parts import parts_of, text_of
from pagemind.tools.roots import Place, Roots

_CLOSEST = 3


@tool(effect="none", foreign=True)
def read_file(
    ctx: ToolContext, path: str, part: int = 1, line: int | None = None
) -> str | ToolResult:
    """Read a text file, in parts if it is long.

    Args:
        path: The file, as list_files shows it.
        part: Which part, if it has several.
        line: Instead of a part: the one with this line.
    """
    roots = Roots.of(ctx)
    place = roots.find(path)
    data = roots.read(place, FILE_BYTES)
    if read_header(data) is not None:
        return ToolResult(f"{place.shown} is an image", files=(file_of(data, place.steps[-1]),))
    text = text_of(data, place.shown)
    if not text:
        return f"{place.shown} is empty"
    parts = parts_of(text, ctx.reading_tokens or ctx.result_tokens, TokenCounter().count)
    last = parts[-1].last_line
    if line is not None:
        if not 1 <= line <= last:
            raise BadArguments(f"{place.shown} has no line {line:,}; it has {last:,}")
        part = next(at for at, each in enumerate(parts, 1) if each.last_line >= line)
    if not 1 <= part <= len(parts):
        only = "it has 1 part" if len(parts) == 1 else f"its parts are 1 to {len(parts)}"
        raise BadArguments(f"{place.shown} has no part {part}; {only}")
    chosen = parts[part - 1]
    digest = hashlib.sha256(data).hexdigest()[:12]
    head = (
        f"[{place.shown} part {part} of {len(parts)}, lines {chosen.first_line:,} to"
        f" {chosen.last_line:,} of {last:,}, sha256 {digest}]"
    )
    before = ctx.earlier.find("read_file", head) if ctx.earlier is not None else None
    if before is not None:
        told = load("unchanged_seen") if before.in_view else load("unchanged")
        return told.fill(path=place.shown, id=before.id).strip()
    return f"{head}\n{chosen.text}"


@tool(effect="none", foreign=True)
def list_files(ctx: ToolContext, path: str = "", name: str = "*") -> str:
    """List files with their sizes in bytes.

    Args:
        path: A folder; all of them by default.
        name: Only names like this: *.md, report-*.
    """
    roots = Roots.of(ctx)
    found, total = [], 0
    for place in _under(roots, path):
        for file, status in roots.walk(place):
            if fnmatchcase(file.steps[-1], name):
                total += 1
                if total <= FILES_LISTED:
                    found.append(f"{file.shown} {status.st_size:,}")
    if not total:
        return (f"no file is called {name}" if name != "*" else "no files") + roots.closed
    more = f"\n… and {total - FILES_LISTED:,} more: name a folder" if total > FILES_LISTED else ""
    head = f"{total:,} file{'' if total == 1 else 's'}{roots.closed}"
    return f"{head}\n" + "\n".join(found) + more


@tool(effect="none", foreign=True)
def grep_files(
    ctx: ToolContext,
    text: str,
    path: str = "",
    name: str = "*",
    regex: bool = False,
    ignore_case: bool = False,
) -> str:
    """Find the lines of files that hold a text.

    Args:
        text: What to look for, literally.
        path: A folder or file; everything by default.
        name: Only in files with names like this: *.py.
        regex: True where text is a regular expression.
        ignore_case: True where upper and lower case are the same.
    """
    roots, clock = Roots.of(ctx), SystemClock()
    end = clock.monotonic() + GREP_SECONDS
    find = _matcher(
        text, regex=regex, ignore_case=ignore_case, left=lambda: end - clock.monotonic()
    )
    lines: list[str] = []
    total = files = skipped = 0
    late = False
    for place in _under(roots, path):
        for file in _files(roots, place, name):
            if late := late or clock.monotonic() > end:
                break
            if ctx.cancel is not None:
                ctx.cancel.check()
            try:
                content = text_of(roots.read(file, FILE_BYTES), file.shown)
            except ToolFailed:
                skipped += 1
                continue
            files += 1
            for number, line in enumerate(content.split("\n"), 1):
                at = find(line)
                if at is None:
                    continue
                total += 1
                if total <= GREP_MATCHES:
                    start = max(0, at - GREP_LINE_CHARS // 3)
                    shown = line[start : start + GREP_LINE_CHARS].strip()
                    lines.append(f"{file.shown}:{number}: {shown}")
    head = f"{total:,} line{'' if total == 1 else 's'} in {files:,} files"
    if skipped:
        head += f"; {skipped:,} are no text, or too large, and were not searched"
    head += roots.closed
    if late:
        head += f"; stopped after {GREP_SECONDS:g} seconds: name a folder or file"
    if total > GREP_MATCHES:
        head += f"; the first {GREP_MATCHES}"
    return "\n".join([head, *lines])


@tool(effect="world")
def write_file(ctx: ToolContext, path: str, content: str) -> str:
    """Write a text file, in place of one that is there.

    Args:
        path: The file.
        content: All of its text.
    """
    roots = Roots.of(ctx)
    place = roots.find(path, write=True)
    data = _encoded(content, "utf-8")
    if len(data) > FILE_BYTES:
        raise BadArguments(f"content has {len(data):,} bytes; at most {FILE_BYTES:,} are written")
    roots.write(place, data)
    return f"{place.shown} is written ({len(data):,} bytes)"


@tool(effect="world")
def edit_file(ctx: ToolContext, path: str, old_text: str, new_text: str) -> str:
    """Replace one exact piece of text in a file.

    Args:
        path: The file.
        old_text: Text that occurs exactly once in it, line ends and spaces included.
        new_text: What stands there instead; empty to delete it.
    """
    roots = Roots.of(ctx)
    place = roots.find(path, write=True)
    data = roots.read(place, FILE_BYTES)
    text_of(data, place.shown)  # raises for what is no text
    mark, codec = _codec(data)
    text = data[len(mark) :].decode(codec)
    if not old_text:
        raise BadArguments("old_text is empty; write_file writes a whole file")
    if "\r\n" in text and "\r" not in old_text:  # the model was shown plain line ends
        old_text, new_text = old_text.replace("\n", "\r\n"), new_text.replace("\n", "\r\n")
    times = text.count(old_text)
    if times > 1:
        places = ", ".join(str(each) for each in _lines_of(text, old_text)[:10])
        raise ToolFailed(
            f"{place.shown}: old_text occurs {times} times, in lines {places}; give more of the"
            " text around the one you mean"
        )
    if not times:
        raise ToolFailed(_not_found(place, text, old_text))
    line = _lines_of(text, old_text)[0]
    edited = text.replace(old_text, new_text)
    roots.write(place, mark + _encoded(edited, codec))
    return f"{place.shown} is edited at line {line:,}"


def _under(roots: Roots, path: str) -> list[Place]:
    return [roots.find(path)] if path.strip() not in ("", ".", "./", "/") else roots.all()


def _files(roots: Roots, place: Place, name: str) -> list[Place]:
    """The file itself, or those in a folder."""
    if place.path.is_file():
        return [place]
    return [file for file, _ in roots.walk(place) if fnmatchcase(file.steps[-1], name)]


def _matcher(
    text: str, *, regex: bool, ignore_case: bool, left: Callable[[], float]
) -> Callable[[str], int | None]:
    """Gives where a line has it, or None. Raises BadArguments for a pattern that is none. `left`
    is how many seconds it still may take."""
    if not text:
        raise BadArguments("text is empty; say what to look for")
    if not regex:
        wanted = text.lower() if ignore_case else text

        def literal(line: str) -> int | None:
            at = (line.lower() if ignore_case else line).find(wanted)
            return at if at >= 0 else None

        return literal
    import regex as patterns  # re has no time limit, and a pattern may take for ever

    try:
        compiled = patterns.compile(text, patterns.IGNORECASE if ignore_case else 0)
    except patterns.error as error:
        raise BadArguments(f"text is no regular expression: {error}") from None

    def pattern(line: str) -> int | None:
        try:
            match = compiled.search(line, timeout=max(0.01, left()))
        except TimeoutError:
            raise ToolFailed(
                f"the pattern takes more than {GREP_SECONDS:g} seconds; write it simpler, or name"
                " a folder or file"
            ) from None
        return int(match.start()) if match else None

    return pattern


def _codec(data: bytes) -> tuple[bytes, str]:
    """The byte order mark and the encoding of a file that is text."""
    for mark, codec in (
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe\0\0", "utf-32-le"),
        (b"\0\0\xfe\xff", "utf-32-be"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
    ):
        if data.startswith(mark):
            return mark, codec
    return b"", "utf-8"


def _encoded(text: str, codec: str) -> bytes:
    try:
        return text.encode(codec)
    except UnicodeEncodeError as error:
        raise BadArguments(f"half a character stands at {error.start:,}; write it whole") from None


def _lines_of(text: str, part: str) -> list[int]:
    """The lines in which it begins."""
    lines, at = [], text.find(part)
    while at >= 0:
        lines.append(text.count("\n", 0, at) + 1)
        at = text.find(part, at + len(part))
    return lines


def _not_found(place: Place, text: str, old: str) -> str:
    first = next((line.strip() for line in old.splitlines() if line.strip()), "")
    numbered = {line.strip(): number for number, line in enumerate(text.splitlines(), 1)}
    close = get_close_matches(first, list(numbered)[:20_000], n=_CLOSEST, cutoff=0.5)
    nearest = "".join(f"\n  {numbered[line]}: {line[:GREP_LINE_CHARS]}" for line in close)
    return f"{place.shown}: old_text does not occur." + (
        f" Closest lines:{nearest}" if close else " read_file shows what is there."
    )
