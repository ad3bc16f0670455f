"""One call of a provider, as an iterator over what comes back.

The call runs on the background loop; the caller's thread takes its chunks from a queue, so that
the deadline, the silence limit and the cancel token hold whatever the provider does. Leaving the
iterator in any way cancels the call, which closes the connection.
"""

import queue
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import Clock
from pagemind.runtime.errors import ModelTimeout
from pagemind.runtime.models import background_loop, litellm_library

_POLL_SECONDS = 0.05  # how late a cancel may be noticed while the provider is silent
_END = object()


@dataclass(frozen=True, slots=True)
class Limits:
    """`ends_at` is on the clock's monotonic scale; the others are seconds without a chunk."""

    ends_at: float
    first_silence: float  # before the first chunk: a local server reads long prompts slowly
    silence: float


class ForeignError(Exception):
    """An exception of litellm on its way from the background loop."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def call(
    arguments: dict[str, Any], limits: Limits, cancel: CancelToken, clock: Clock
) -> Generator[tuple[bool, Any]]:
    """(streamed, chunk or whole response) until the end.

    Close it (contextlib.closing) to cancel. Raises ForeignError, ModelTimeout or Cancelled.
    """
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    acompletion = litellm_library.load().acompletion
    future = background_loop.submit(_pump(acompletion, arguments, inbox.put))
    silence = limits.first_silence
    try:
        heard_at = clock.monotonic()
        while True:
            try:
                item = inbox.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                item = None
            cancel.check()
            now = clock.monotonic()
            if item is _END:
                return
            if isinstance(item, ForeignError):
                raise item
            if now >= limits.ends_at:
                raise ModelTimeout(f"{arguments['model']} did not finish within its deadline")
            if item is not None:
                heard_at, silence = now, limits.silence
                yield item
            elif now - heard_at >= silence:
                raise ModelTimeout(f"{arguments['model']} was silent for {silence:g} seconds")
    finally:
        future.cancel()


async def _pump(
    acompletion: Callable[..., Any], arguments: dict[str, Any], put: Callable[[Any], None]
) -> None:
    """Run the call on the loop and hand over everything that comes, then _END or ForeignError."""
    stream: Any = None
    try:
        answer = await acompletion(**arguments)
        if arguments["stream"]:
            stream = answer
            async for chunk in stream:
                if not _is_guess(chunk, stream):
                    put((True, chunk))
                if _is_usage(chunk) and not litellm_library.listened_to():
                    break  # nothing follows but litellm's own books, a third of its work
        else:
            put((False, answer))
        put(_END)
    except Exception as error:
        put(ForeignError(error))
    finally:
        if stream is not None:
            with suppress(Exception):
                await stream.aclose()  # else the server goes on generating


def _is_usage(chunk: Any) -> bool:
    """The chunk that closes a stream."""
    return not getattr(chunk, "choices", None) and getattr(chunk, "usage", None) is not None


def _is_guess(chunk: Any, stream: Any) -> bool:
    """A closing usage chunk that litellm counted itself, because the server reported nothing.

    Taken for the server's word, it would teach our token counter the wrong ratio.
    """
    if not _is_usage(chunk):
        return False
    received = getattr(stream, "chunks", None)
    return received is not None and not any(getattr(c, "usage", None) for c in received)
