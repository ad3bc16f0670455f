"""Untrusted text as a model is shown it: cleaned, each line marked, inside a fence. Pure.

    <data qzkwmrtp>
    ¦ The first line of what a page of the web says.
    ¦ A line that is too long for one …
    ¦+ goes on like this.
    </data qzkwmrtp>

The name of a fence and its mark come from a secret of the agent and the id of the text (m42, a7):
nobody can guess it, and the same text looks the same in every request, so that a provider's cache
and past requests hold. Nothing inside can end the fence, or leave a line without its mark. What is
stored stays as it was; only what is shown changes. unmarked() undoes it for who compares texts.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from pagemind.runtime.cleaning import clean, clean_name
from pagemind.runtime.settings import UNTRUSTED_LINE_CHARS
from pagemind.runtime.shorten import MOST_CHARS_A_TOKEN, shorten, shorten_start

KEY = "fences"  # of the secret, in the state
NONE = "-"  # in its place: an agent of a trace that was made before there were fences
_LETTERS = "bcdfghjkmnpqrstvwxz"  # no words come of them
_NAME_LETTERS = 8
_MARKS = "¦│§¬›¤"  # one token each, and rare at the start of a line
_FENCED = re.compile(r"<data ([a-z]{8})[^\n]*>\n(.*?)\n</data \1>", re.DOTALL)
_MARKED = re.compile(rf"^[{_MARKS}](\+?) ?", re.MULTILINE)
_GOES_ON = re.compile(rf"\n[{_MARKS}]\+ ")
# Where a line is cut, what belongs to the character before stays with it.
_BELONGS = re.compile(
    "[\u0300-\u036f\u200d\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0000-\U000e007f]"
)


@dataclass(frozen=True, slots=True)
class Fences:
    """The fences of one agent. `key` is its secret; "" for an agent that never had one, whose
    texts are shown as they are."""

    key: str

    def around(self, id: str, text: str, source: str = "") -> str:
        """The text in its fence. `source` says where it is from, if that is not plain."""
        if not self.key or not text.strip():
            return text
        shown = clean(text)
        name, mark = self._made_for(id, shown)
        said = f" from={quoteattr(clean_name(source))}" if source else ""
        lines = "\n".join(f"{mark}{line}" for line in _lines(shown))
        return f"<data {name}{said}>\n{lines}\n</data {name}>"

    def name(self, text: str) -> str:
        """A name that stands beside a text."""
        return clean_name(text) if self.key else text

    def start(
        self, id: str, text: str, tokens: int, count: Callable[[str], int], source: str = ""
    ) -> str:
        """As much of its start as fits, fence and marks counted; "" where none does."""
        return self._cut(id, text, tokens, count, shorten, source)

    def end(self, id: str, text: str, tokens: int, count: Callable[[str], int]) -> str:
        """As much of its end as fits."""
        return self._cut(id, text, tokens, count, shorten_start, "")

    def _cut(
        self,
        id: str,
        text: str,
        tokens: int,
        count: Callable[[str], int],
        shortened: Callable[[str, int, Callable[[str], int]], str],
        source: str,
    ) -> str:
        def cost(piece: str) -> int:
            return count(self.around(id, piece, source))

        most = (
            max(0, tokens) * MOST_CHARS_A_TOKEN
        )  # the text may be a book: it is not all looked at
        if len(text) <= most and cost(text) <= tokens:
            return self.around(id, text, source)
        if tokens <= cost("…"):
            return ""
        near = text[:most] if shortened is shorten else text[-most:]
        return self.around(id, shortened(near, tokens, cost), source)

    def _made_for(self, id: str, text: str) -> tuple[str, str]:
        """A name that the text does not hold, and a mark."""
        for number in range(1000):
            said = f"{id}\n{number}".encode()
            digest = hmac.digest(self.key.encode(), said, hashlib.sha256)
            name = "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:_NAME_LETTERS])
            if name not in text:
                break
        return name, _MARKS[digest[-1] % len(_MARKS)]


OPEN = Fences("")  # for who has no secret: nothing is fenced


def _lines(text: str) -> Iterator[str]:
    """Each line with what stands between it and its mark: `+` says that it goes on."""
    for line in text.split("\n"):
        goes_on = False
        while len(line) > UNTRUSTED_LINE_CHARS:
            space = line.rfind(" ", UNTRUSTED_LINE_CHARS // 2, UNTRUSTED_LINE_CHARS)
            cut = space + 1 if space > 0 else UNTRUSTED_LINE_CHARS
            while cut < len(line) and (_BELONGS.match(line[cut]) or line[cut - 1] == "\u200d"):
                cut += 1
            yield f"+ {line[:cut]}" if goes_on else f" {line[:cut]}"
            line, goes_on = line[cut:], True
        if goes_on:
            if line:
                yield f"+ {line}"
        else:
            yield f" {line}" if line else ""


def unmarked(text: str) -> str:
    """The text as it reads without fences and marks: cleaned, and nothing else."""
    if "<data " not in text:
        return text
    return _FENCED.sub(lambda each: _MARKED.sub("", _GOES_ON.sub("", f"\n{each[2]}")[1:]), text)


def closed(text: str, *tags: str) -> str:
    """A text that can neither end the element it stands in nor any around it. For text of any
    trust, in frames of our own."""
    for tag in tags:
        text = text.replace(f"</{tag}", f"<\\/{tag}")
    return text


def marker(text: str) -> str:
    """A marker around data in a prompt of the worker, which the text cannot hold: it is made from
    the text."""
    number = 0
    while True:
        made = hashlib.sha256(f"{number or ''}{text}".encode()).hexdigest()[:12]
        if made not in text:
            return f"====={made}"
        number += 1
