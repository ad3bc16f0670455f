"""Names that people give to agents and archives: what may be one, and the nearest to one that is
not there. Pure.
"""

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

from pagemind.runtime.errors import InvalidName
from pagemind.runtime.settings import MAX_NAME


def checked_name(name: str, noun: str = "agent") -> str:
    """The name in NFC. Raises InvalidName for one that no command line or file could carry."""
    name = unicodedata.normalize("NFC", name).strip()
    problem = ""
    if not name:
        problem = "is empty"
    elif len(name) > MAX_NAME:
        problem = f"has {len(name)} characters; at most {MAX_NAME} are allowed"
    elif any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in name):
        problem = "has control characters"
    elif "/" in name or "\\" in name or set(name) <= {"."}:
        problem = "looks like a path"
    elif name.startswith("-"):
        problem = "starts with a dash, like an option"
    if problem:
        raise InvalidName(f"{noun} name {name[:80]!r} {problem}", hint="a word such as ada will do")
    return name


def checked_archive(name: str) -> str:
    """The name of an archive: one word, so that `handbook:a7` can be an id. Raises InvalidName."""
    name = checked_name(name, "archive")
    if ":" in name or any(character.isspace() for character in name):
        raise InvalidName(
            f"archive name {name!r} has spaces or colons", hint="a word such as handbook will do"
        )
    return name


LABEL = re.compile(r"[a-z][a-z0-9_-]*")  # of a block


def checked_label(label: str, noun: str = "block") -> str:
    """The label of a block. Raises InvalidName."""
    if not LABEL.fullmatch(label) or len(label) > MAX_NAME:
        raise InvalidName(
            f"{label[:80]!r} is not the name of a {noun}",
            hint="lower-case letters, digits, _ and -, starting with a letter, at most"
            f" {MAX_NAME}: plan, team_plan",
        )
    return label


def folded(name: str) -> str:
    """What must be unique. Half a character, from a shell's stray bytes, is no name of anyone."""
    whole = name.encode("utf-8", "replace").decode("utf-8")
    return unicodedata.normalize("NFKC", whole).casefold()


def nearest(name: str, names: Iterable[str], *, otherwise: str) -> str:
    """A hint: the names that resemble one that is not there, or what else may help."""
    known = {folded(each): each for each in names}
    close = [known[key] for key in get_close_matches(folded(name), known, n=3)]
    return f"did you mean {' or '.join(close)}?" if close else otherwise
