"""One question of a job to the worker's model, and its answer as JSON that fits a schema.

A reply that fits is asked for once more where it is prose, broken or of another shape. What is in
it is still a model's word: each job holds it against what it knows.
"""

from collections.abc import Mapping
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.json_reply import read_json
from pagemind.runtime.message import clean_text
from pagemind.runtime.settings import JOB_REPLY_TOKENS
from pagemind.runtime.sleep.job import UNANSWERABLE, SleepContext
from pagemind.runtime.structured import faults_of
from pagemind.runtime.template import load

_ATTEMPTS = 2


def asked(
    context: SleepContext,
    prompt: str,
    schema: Mapping[str, Any],
    cancel: CancelToken,
    *,
    max_tokens: int = JOB_REPLY_TOKENS,
) -> Any | None:
    """The value; None for a refusal, where no reply fits, or where this one question cannot be
    answered. Outside the lock. Raises what a model raises that may answer another time."""
    said, most = prompt, context.reply(max_tokens)
    for _ in range(_ATTEMPTS):
        try:
            reply = context.ask(said, max_tokens=most, schema=dict(schema), cancel=cancel)
        except UNANSWERABLE:
            return None
        if reply.finish == "refusal":
            return None
        try:
            value = read_json(clean_text(reply.text))
            if not (reason := faults_of(value, schema)):
                return value
        except ValueError as fault:
            reason = str(fault)
        said = f"{prompt}\n\n{load('structured_again').fill(reason=reason)}"
    return None


def whole(value: Any) -> int | None:
    """A number that a model may have written as text, or in brackets; None for what is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = value.strip().strip("[]#()")
        value = int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None
    return int(value) if isinstance(value, int | float) and value == value // 1 else None
