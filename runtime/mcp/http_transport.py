"""A server at an address: streamable HTTP by the library, with a token and with limits."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pagemind.runtime.settings import MCP_BYTES

if TYPE_CHECKING:
    import httpx2


@asynccontextmanager
async def http_transport(
    url: str, token: str | None, seconds: float, heard: Callable[[int], None]
) -> AsyncIterator[Any]:
    """A transport for the library's client. An answer that is larger than MCP_BYTES is cut off,
    which fails its call; `heard` is given the status of each."""

    async def check(response: "httpx2.Response") -> None:
        heard(response.status_code)
        # An event stream has no end, and the library limits its events; anything else has one.
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _limited(response.stream)

    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    timeout = httpx2.Timeout(30.0, read=seconds)
    hooks = {"response": [check]}
    # No redirect leaves the address: the library sees to that.
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, event_hooks=hooks) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MCP_BYTES) as streams,
    ):
        yield streams


def _limited(stream: Any) -> Any:
    import httpx2

    class Limited(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            taken = 0
            async for piece in stream:
                taken += len(piece)
                if taken > MCP_BYTES:
                    raise httpx2.StreamError(f"the answer has more than {MCP_BYTES >> 20} MB")
                yield piece

        async def aclose(self) -> None:
            await stream.aclose()

    return Limited()
