"""Does an error say that the prompt is too long, or only that max_tokens does not fit beside it?

Providers, gateways and servers word it in dozens of ways, and litellm's exception class recognises
about half of them, so the wording decides. Pure: numbers and texts in, a verdict out.
"""

import re
from typing import Literal

Verdict = Literal["overflow", "reserve"]

_PROMPT_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size|limit)|exceed_context_size|prompt is too long"
    r"|too many (?:input )?tokens|maximum model length|input (?:length|token count).{0,40}exceed"
    r"|too large for model|request_too_large|\binput is too (?:long|large)"
    r"|keep from the initial prompt|reduce the length|max_new_tokens",
    re.IGNORECASE | re.DOTALL,
)
# A rate limit never speaks of these; litellm calls a 400 with "rate limit" in its text a 429.
_SURELY_TOO_LONG = re.compile(
    r"maximum context length|context_length_exceeded|prompt is too long|request too large",
    re.IGNORECASE,
)
_RESERVE_TOO_LARGE = re.compile(
    r"max_(?:completion_|output_|new_)?tokens\W.{0,60}?"
    r"(?:too large|too high|exceed|less than|at most|maximum allowed|> ?\d)"
    r"|max_tokens must be (?:less|<=|in)",
    re.IGNORECASE | re.DOTALL,
)
_OVERFLOW_STATUS = (400, 422, 500, 503)  # llama.cpp and Ollama answer 500

_N = r"(\d+)"
_WINDOW = re.compile(
    rf"(?:maximum context length|context (?:length|window|limit)|max_total_tokens)\D{{0,24}}{_N}",
    re.IGNORECASE,
)
_REQUESTED = re.compile(rf"requested (?:about )?{_N} tokens", re.IGNORECASE)
_FOR_REPLY = re.compile(rf"{_N} (?:in|for|of) the (?:completion|output)", re.IGNORECASE)
_IN_PROMPT = re.compile(
    rf"(?:request has|prompt contains(?: at least)?) {_N} input tokens", re.IGNORECASE
)
_SUM = re.compile(rf"{_N} \+ {_N} > {_N}")
_TGI = re.compile(rf"must be <= {_N}\. Given: {_N} `?inputs`? tokens", re.IGNORECASE)


def judge(
    status: int | None,
    text: str,
    *,
    by_class: bool = False,
    prompt_share: float | None = None,
) -> Verdict | None:
    """What an error of this HTTP status and text is; None if it is about something else.

    `by_class`: litellm itself calls it an overflow. `prompt_share` is the estimated prompt ÷ the
    window: below one half, an overflow without numbers can only mean max_tokens.
    """
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    wants_less_reply = status in (400, 422) and bool(_RESERVE_TOO_LARGE.search(text))
    if not by_class and not _says_overflow(status, text):
        return "reserve" if wants_less_reply else None
    numbers = _prompt_and_window(text)
    if numbers is not None:
        prompt, window = numbers
        return "reserve" if prompt < window else "overflow"
    is_short = prompt_share is not None and prompt_share < 0.5
    return "reserve" if wants_less_reply or is_short else "overflow"


def _says_overflow(status: int | None, text: str) -> bool:
    if status == 413:
        return True
    if status == 429:
        return bool(_SURELY_TOO_LONG.search(text))
    return status in _OVERFLOW_STATUS and bool(_PROMPT_TOO_LONG.search(text))


def _prompt_and_window(text: str) -> tuple[int, int] | None:
    """The two numbers, where the wording tells prompt and reply apart."""
    if match := _SUM.search(text):
        return int(match[1]), int(match[3])
    if match := _TGI.search(text):
        return int(match[2]), int(match[1])
    window = _WINDOW.search(text)
    if window is None:
        return None
    if prompt := _IN_PROMPT.search(text):
        return int(prompt[1]), int(window[1])
    requested, reply = _REQUESTED.search(text), _FOR_REPLY.search(text)
    if requested and reply:
        return int(requested[1]) - int(reply[1]), int(window[1])
    return None
