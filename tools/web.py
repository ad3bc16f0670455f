"""http_get: read a page from a host that the definition allows (web_hosts.py), within its bounds.

Every address is looked up and connected to as it was checked, also after a redirect, so that a
name cannot lead elsewhere between the two. What is packed more than once, or in a way that may
unfold without end from one piece, is not read.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import SystemClock
from pagemind.runtime.documents.encoding import decode
from pagemind.runtime.documents.read import parse
from pagemind.runtime.errors import DocumentError, ToolFailed
from pagemind.runtime.tool import ToolContext, ToolResult, file_of, tool
from pagemind.runtime.tool_use import HttpTerms
from pagemind.tools.documents import as_text
from pagemind.tools.web_hosts import Address, checked

if TYPE_CHECKING:
    import httpx

_REDIRECTS = (301, 302, 303, 307, 308)
_ENDINGS = {
    "text/html": ".html",
    "application/xhtml+xml": ".xhtml",
    "application/pdf": ".pdf",
    "text/csv": ".csv",
    "text/markdown": ".md",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
}
_PACKED = ("", "identity", "gzip", "x-gzip", "deflate")
_LOOK_SECONDS = 0.05


@tool(effect="none", foreign=True, seconds=None)
def http_get(ctx: ToolContext, url: str) -> ToolResult:
    """Read a web page, document or answer of a server as text.

    Args:
        url: Its address, with https:// or http://.
    """
    terms = ctx.terms
    assert isinstance(terms, HttpTerms)
    clock = SystemClock()
    end = clock.monotonic() + terms.seconds
    address = url.strip()
    import httpx

    try:
        for _ in range(terms.redirects + 1):
            if (left := end - clock.monotonic()) <= 0:
                raise httpx.ReadTimeout("")
            host, port, found = checked(address, terms, left, ctx.cancel)
            with (
                _watched(max(0.1, end - clock.monotonic()), ctx.cancel) as (tell, late),
                httpx.Client(trust_env=False, timeout=max(0.1, left)) as client,
                client.stream("GET", **_request(address, host, port, found, tell)) as response,
            ):
                if response.status_code in _REDIRECTS and "location" in response.headers:
                    address = urljoin(address, response.headers["location"])
                    continue
                if response.status_code >= 400:
                    told = f"{response.status_code} {response.reason_phrase}"
                    raise ToolFailed(f"{address} answered {told}")
                packed = response.headers.get("content-encoding", "").strip().lower()
                if packed not in _PACKED:
                    raise ToolFailed(f"{address} is packed as {packed[:40]}, which is not read")
                data = bytearray()
                for piece in response.iter_bytes():
                    data += piece
                    if len(data) > terms.megabytes * (1 << 20):
                        raise ToolFailed(f"{address} has more than {terms.megabytes:g} MB")
                    if clock.monotonic() > end:
                        raise httpx.ReadTimeout("")
                    if ctx.cancel is not None:
                        ctx.cancel.check()
                if late.is_set():  # what was cut off here may look as if it were whole
                    raise httpx.ReadTimeout("")
                return _shown(address, response, bytes(data))
    except httpx.TimeoutException:
        if ctx.cancel is not None:
            ctx.cancel.check()
        raise ToolFailed(f"{address}: no answer within {terms.seconds:g} seconds") from None
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        if ctx.cancel is not None:
            ctx.cancel.check()
        if clock.monotonic() >= end:
            raise ToolFailed(f"{address}: no answer within {terms.seconds:g} seconds") from None
        raise ToolFailed(f"{address}: {str(error) or type(error).__name__}") from None
    raise ToolFailed(f"{url} leads on more than {terms.redirects} times; the last: {address}")


@contextmanager
def _watched(seconds: float, cancel: CancelToken | None) -> Iterator[tuple[Any, threading.Event]]:
    """Gives what is told of each connection, and whether it was ended: when the time is over or the
    turn is stopped. A server that sends a letter now and then would never be late for the next."""
    sockets: list[socket.socket] = []
    over, late = threading.Event(), threading.Event()

    def tell(name: str, info: dict[str, Any]) -> None:
        if name.endswith(("connect_tcp.complete", "start_tls.complete")):
            sockets.append(info["return_value"].get_extra_info("socket"))

    def watch() -> None:
        clock = SystemClock()
        end = clock.monotonic() + seconds
        while not over.wait(_LOOK_SECONDS):
            if clock.monotonic() > end or (cancel is not None and cancel.cancelled):
                late.set()
                for each in list(sockets):
                    with suppress(OSError):
                        each.shutdown(socket.SHUT_RDWR)

    thread = threading.Thread(target=watch, name="http_get", daemon=True)
    thread.start()
    try:
        yield tell, late
    finally:
        over.set()
        thread.join()


def _request(url: str, host: str, port: int, found: Address, tell: Any) -> dict[str, Any]:
    """The request, to the address that was checked, in the name of the host."""
    parts = urlsplit(url)
    at = f"[{found}]" if found.version == 6 else str(found)
    usual = port == (443 if parts.scheme == "https" else 80)
    shown = f"[{host}]" if ":" in host else host
    path = parts.path or "/"
    query = f"?{parts.query}" if parts.query else ""
    return {
        "url": f"{parts.scheme}://{at}:{port}{path}{query}",
        "headers": {
            "Host": shown if usual else f"{shown}:{port}",
            "User-Agent": "pagemind",
            "Accept": "text/html, text/*, application/json, */*;q=0.5",
            "Accept-Encoding": "gzip, deflate",
        },
        "extensions": {"sni_hostname": host, "trace": tell},
    }


def _shown(url: str, response: "httpx.Response", data: bytes) -> ToolResult:
    """The answer as text: HTML as Markdown, documents as the readers give them. What is no text is
    kept as it is."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    head = f"[{url} {response.status_code} {kind or 'of no kind'}, {len(data):,} bytes]"
    if not data.strip():
        return ToolResult(head)
    name = Path(urlsplit(url).path).name or "page"
    try:
        ending = _ENDINGS.get(kind)
        if ending:
            text = as_text(parse(Path(name).with_suffix(ending), data))
        else:
            text = decode(data, response.charset_encoding or "")
    except DocumentError as error:
        if kind.startswith("text/"):
            raise ToolFailed(f"{url} ({kind}) {error.message}") from None
        return ToolResult(
            f"{head}\nIt {error.message}; its bytes are kept.", files=(file_of(data, name),)
        )
    return ToolResult(f"{head}\n{text}")
