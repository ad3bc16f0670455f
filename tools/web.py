"""http_get: read a page from a host that the definition allows.

Every address is looked up here and connected to as it was checked, also after a redirect, so that a
name cannot lead elsewhere between the two. An address of the machine or its network must be allowed
as such: a name alone does not open it.
"""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from pagemind.runtime.clock import SystemClock
from pagemind.runtime.documents.encoding import decode
from pagemind.runtime.documents.read import parse
from pagemind.runtime.errors import BadArguments, DocumentError, ToolFailed
from pagemind.runtime.tool import ToolContext, tool
from pagemind.runtime.tool_use import HttpTerms
from pagemind.tools.documents import as_text

if TYPE_CHECKING:
    import httpx

Address = IPv4Address | IPv6Address
_REDIRECTS = (301, 302, 303, 307, 308)
_ENDINGS = {
    "text/html": ".html",
    "application/xhtml+xml": ".xhtml",
    "application/pdf": ".pdf",
    "text/csv": ".csv",
    "text/markdown": ".md",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
}
_LOCAL = ("localhost", "localhost.localdomain")


@tool(effect="none", foreign=True, seconds=None)
def http_get(ctx: ToolContext, url: str) -> str:
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
            left = end - clock.monotonic()
            host, port, found = _checked(address, terms)
            with (
                httpx.Client(trust_env=False, timeout=max(0.1, left)) as client,
                client.stream("GET", **_request(address, host, port, found)) as response,
            ):
                if response.status_code in _REDIRECTS and "location" in response.headers:
                    address = urljoin(address, response.headers["location"])
                    continue
                if response.status_code >= 400:
                    told = f"{response.status_code} {response.reason_phrase}"
                    raise ToolFailed(f"{address} answered {told}")
                data = bytearray()
                for piece in response.iter_bytes():
                    data += piece
                    if len(data) > terms.megabytes * (1 << 20):
                        raise ToolFailed(f"{address} has more than {terms.megabytes:g} MB")
                    if clock.monotonic() > end:
                        raise httpx.ReadTimeout("")
                    if ctx.cancel is not None:
                        ctx.cancel.check()
                return _shown(address, response, bytes(data))
    except httpx.TimeoutException:
        raise ToolFailed(f"{address}: no answer within {terms.seconds:g} seconds") from None
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        raise ToolFailed(f"{address}: {str(error) or type(error).__name__}") from None
    raise ToolFailed(f"{url} leads on more than {terms.redirects} times; the last: {address}")


def _checked(url: str, terms: HttpTerms) -> tuple[str, int, Address]:
    """Host, port and the address to connect to. Raises ToolFailed for what is not allowed."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower().rstrip("."), parts.port
    except ValueError as error:
        raise BadArguments(f"{url!r} is not an address: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise BadArguments(f"{url!r} is not an address; it starts with https:// or http://")
    if parts.username or parts.password:
        raise BadArguments("an address has no name and password in it here")
    port = port or (443 if parts.scheme == "https" else 80)
    named = _by_name(host, port, terms)
    try:
        addresses = [ip_address(host)]
    except ValueError:
        if not named:
            raise _refused(host, terms) from None
        try:
            listed = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise ToolFailed(f"{host} is not found: {error}") from None
        addresses = [ip_address(str(each[4][0]).partition("%")[0]) for each in listed]
    for found in addresses:
        # What is allowed by address is meant so; a name opens only what everybody can reach.
        if _by_address(found, terms) or (named and (host in _LOCAL or _public(found))):
            return host, port, found
    if named:
        raise ToolFailed(
            f"{host} is at {addresses[0]}, within this machine or its network; that is open only"
            " where the definition allows the address itself"
        )
    raise _refused(host, terms)


def _refused(host: str, terms: HttpTerms) -> ToolFailed:
    return ToolFailed(f"{host} is not allowed; allowed: {', '.join(terms.allow)}")


def _public(found: Address) -> bool:
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_global and not found.is_multicast


def _by_name(host: str, port: int, terms: HttpTerms) -> bool:
    for allowed in terms.allow:
        name, colon, wanted = allowed.rpartition(":")
        if not colon or not wanted.isdecimal() or ":" in name:
            name, wanted = allowed, ""
        if wanted and int(wanted) != port:
            continue
        if host == name or (name.startswith("*.") and host.endswith(name[1:])):
            return True
    return False


def _by_address(found: Address, terms: HttpTerms) -> bool:
    for allowed in terms.allow:
        try:
            network = ip_network(allowed.strip("[]"), strict=False)
        except ValueError:
            continue
        if found.version == network.version and found in network:
            return True
    return False


def _request(url: str, host: str, port: int, found: Address) -> dict[str, Any]:
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
        },
        "extensions": {"sni_hostname": host},
    }


def _shown(url: str, response: "httpx.Response", data: bytes) -> str:
    """The answer as text: HTML as Markdown, documents as the readers give them."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    head = f"[{url} {response.status_code} {kind or 'of no kind'}, {len(data):,} bytes]"
    if not data.strip():
        return head
    try:
        name = Path(urlsplit(url).path).name or "page"
        ending = _ENDINGS.get(kind)
        if ending:
            text = as_text(parse(Path(name).with_suffix(ending), data))
        else:
            text = decode(data, response.charset_encoding or "")
    except DocumentError as error:
        raise ToolFailed(f"{url} ({kind or 'no kind'}) {error.message}") from None
    return f"{head}\n{text}"
