"""The recursive summary, with a ladder that always ends and always shrinks.

    model      old summary + evicted talk → new summary, in one call
    chunked    the talk in pieces that fit the summariser's window, then their summaries together
    truncated  one call over what fits of the newest talk
    deterministic   the pages' gists, without a model

Only rows at or above the summary's own trust are read (design D4); the others are counted.
Recursive summaries: Packer et al., MemGPT (2023), §2.2.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import Cancelled
from pagemind.runtime.message import Message, Provenance, Text, clean_text
from pagemind.runtime.model import Model, ModelRequest, Usage
from pagemind.runtime.page import Page
from pagemind.runtime.shorten import shorten, shorten_start
from pagemind.runtime.template import load
from pagemind.runtime.transcript import transcript
from pagemind.runtime.untrusted import marker

_log = logging.getLogger("pagemind.summarizer")


@dataclass(frozen=True, slots=True)
class Summarised:
    """A new summary within its budget; `rung` names the step of the ladder that made it."""

    text: str
    rung: str
    author: str
    usage: Usage


class Summarizer:
    """`model` None summarises deterministically. `window` gives the model's usable tokens."""

    def __init__(
        self, model: Model | None, count: Callable[[str], int], window: Callable[[], int]
    ) -> None:
        self._model = model
        self._count = count
        self._window = window

    @property
    def asks(self) -> bool:
        """Whether a model writes the summaries."""
        return self._model is not None

    def summarise(
        self,
        old: str,
        messages: Sequence[Message],
        pages: Sequence[Page],
        *,
        budget: int,
        ask: bool = True,
        cancel: CancelToken | None = None,
    ) -> Summarised:
        """Fold `messages` (now in `pages`) into `old`, in at most `budget` tokens.

        Without `ask` no model is called: what is recorded on the side must not cost a call.
        Never fails for the model's sake: the last rung needs none. Raises Cancelled.
        """
        self._usage = Usage()
        if self._model is not None and ask and budget > 0:
            lines = transcript(messages, pages)
            for rung in ("model", "chunked", "truncated"):
                try:
                    text = self._attempt(rung, old, lines, budget, cancel)
                except Cancelled:
                    raise
                except Exception as error:
                    # Whatever it is, the next rung may do without it: a flush must not fail here.
                    _log.warning("summary (%s): %s", rung, error)
                    continue
                if text.strip():
                    kept = shorten(text.strip(), budget, self._count)
                    return Summarised(kept, rung, self._model.name, self._usage)
        text = deterministic(old, pages, budget, self._count)
        return Summarised(text, "deterministic", "runtime", self._usage)

    def _attempt(
        self, rung: str, old: str, lines: list[str], budget: int, cancel: CancelToken | None
    ) -> str:
        """One rung; "" where it does not apply."""
        fits = self._window() - budget - self._count(_fold_prompt(old, "", budget)) - 32
        if fits < 64:
            return ""
        whole = "\n".join(lines)
        if rung == "model":
            fold_at_once = self._count(whole) <= fits
            return self._fold(old, whole, budget, cancel) if fold_at_once else ""
        if rung == "truncated":
            newest = shorten_start(whole, fits, self._count)
            return self._fold(old, newest, budget, cancel)
        # Each round of maps must shrink what it reads by half at least, or it would never end.
        while self._count("\n".join(lines)) > fits:
            if fits < 2 * budget:
                return ""
            lines = self._map(self._pieces(lines, fits), budget, cancel)
        return self._fold(old, "\n".join(lines), budget, cancel)

    def _map(self, pieces: list[str], budget: int, cancel: CancelToken | None) -> list[str]:
        condensed = []
        for part, piece in enumerate(pieces, 1):
            prompt = load("summary_map").fill(
                part=part,
                parts=len(pieces),
                max_tokens=budget,
                fence=marker(piece),
                transcript=piece,
            )
            condensed.append(shorten(self._ask(prompt, budget, cancel), budget, self._count))
        return condensed

    def _pieces(self, lines: list[str], fits: int) -> list[str]:
        pieces: list[str] = []
        piece: list[str] = []
        size = 0
        for line in lines:
            line = shorten(line, fits, self._count)
            cost = self._count(line) + 1
            if piece and size + cost > fits:
                pieces.append("\n".join(piece))
                piece, size = [], 0
            piece.append(line)
            size += cost
        return [*pieces, "\n".join(piece)] if piece else pieces

    def _fold(self, old: str, transcript: str, budget: int, cancel: CancelToken | None) -> str:
        return self._ask(_fold_prompt(old, transcript, budget), budget, cancel)

    def _ask(self, prompt: str, budget: int, cancel: CancelToken | None) -> str:
        assert self._model is not None
        request = ModelRequest(
            system=(),
            messages=(Message("user", (Text(prompt),), provenance=Provenance("runtime")),),
            max_tokens=budget,
            purpose="summary",
        )
        reply = self._model.complete(request, cancel=cancel)
        self._usage += reply.usage
        return "" if reply.finish == "refusal" else clean_text(reply.text)


def _fold_prompt(old: str, transcript: str, budget: int) -> str:
    return load("summary").fill(
        max_tokens=budget,
        fence=marker(old + transcript),
        summary=old or "(none)",
        transcript=transcript,
    )


def deterministic(old: str, pages: Sequence[Page], budget: int, count: Callable[[str], int]) -> str:
    """The last rung: one line a page, oldest lines dropped first until it fits."""
    lines = [line for line in old.splitlines() if line.strip()]
    lines.extend(f"- {page.short_id} {page.first_at:%Y-%m-%d}: {page.gist}" for page in pages)
    while len(lines) > 1 and count("\n".join(lines)) > budget:
        lines.pop(0)
    return shorten("\n".join(lines), max(1, budget), count) if budget > 0 else ""
