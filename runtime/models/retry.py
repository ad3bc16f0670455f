"""How long to wait before a failed call is repeated, or whether to give up.

Exponential with jitter and a cap; a provider's retry-after wins. The waiting itself is
interruptible: `retrying()` sleeps on the cancel token.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pagemind.runtime import settings
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import BadReply, ModelError, ModelUnreachable
from pagemind.runtime.model import OnRetry

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Backoff:
    """`wait` is pure apart from `jitter`, which gives numbers in [0, 1)."""

    retries: int = settings.MODEL_RETRIES
    base: float = settings.RETRY_BASE_SECONDS
    longest: float = settings.RETRY_MAX_SECONDS
    longest_asked: float = settings.RETRY_AFTER_MAX_SECONDS
    jitter: Callable[[], float] = random.random

    def wait(self, error: ModelError, attempt: int, *, local: bool = False) -> float | None:
        """Seconds to wait after the given attempt (0 is the first); None means give up."""
        retries = self.retries
        # A person whose own server is down wants to know now; a page of HTML rarely mends itself.
        if isinstance(error, BadReply) or (local and isinstance(error, ModelUnreachable)):
            retries = min(retries, 1)
        if not error.retryable or attempt >= retries:
            return None
        if error.retry_after is not None:
            if error.retry_after > self.longest_asked:
                return None
            return error.retry_after + self.base * 0.1 * self.jitter()
        return float(min(self.longest, self.base * 2**attempt) * (0.5 + 0.5 * self.jitter()))


def retrying(
    attempt: Callable[[], T],
    backoff: Backoff,
    *,
    may_retry: Callable[[float], bool] = lambda wait: True,
    on_retry: OnRetry | None = None,
    cancel: CancelToken | None = None,
    local: bool = False,
) -> T:
    """Call until it succeeds, gives up, or `may_retry(wait)` says no. Raises the last error."""
    cancel = cancel or CancelToken()
    number = 0
    while True:
        cancel.check()
        try:
            return attempt()
        except ModelError as error:
            wait = backoff.wait(error, number, local=local)
            if wait is None or not may_retry(wait):
                raise
            reason = error.message
        number += 1
        if on_retry:
            on_retry(reason, wait)
        cancel.wait(wait)
