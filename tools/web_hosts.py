"""Which hosts a definition lets http_get ask: by name, by address, and where the name leads.

An address of the machine or its network must be allowed as such: a name alone does not open it.
"""

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.deadline import within
from pagemind.runtime.errors import BadArguments, ToolFailed
from pagemind.runtime.tool_use import HttpTerms

Address = IPv4Address | IPv6Address
_LOCAL = ("localhost", "localhost.localdomain")
_TRANSLATED = IPv6Network("64:ff9b::/96")  # to IPv4, by a router


def checked(
    url: str, terms: HttpTerms, seconds: float, cancel: CancelToken | None
) -> tuple[str, int, Address]:
    """Host, port and the address to connect to. Raises ToolFailed for what is not allowed, and
    where its name is not found in so many seconds."""
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
            listed = within(
                seconds,
                lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM),
                f"looking up {host}",
                cancel,
            )
        except (OSError, UnicodeError) as error:
            raise ToolFailed(f"{host} is not found: {error}") from None
        addresses = [ip_address(str(each[4][0]).partition("%")[0]) for each in listed]
    for found in addresses:
        # What is allowed by address is meant so; a name opens only what everybody can reach.
        if _by_address(found, port, terms) or (named and (host in _LOCAL or _public(found))):
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
    """Whether everybody can reach it; also the one that stands within it, where another machine
    translates."""
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return _public(found.ipv4_mapped)
        inner = found.sixtofour or (found.teredo or (None, None))[1]
        if inner is None and found in _TRANSLATED:
            inner = IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None and not _public(inner):
            return False
    return found.is_global and not found.is_multicast


def _by_name(host: str, port: int, terms: HttpTerms) -> bool:
    for allowed in terms.allow:
        name, wanted = _with_port(allowed)
        if wanted not in (0, port):
            continue
        if host == name or (name.startswith("*.") and host.endswith(name[1:])):
            return True
    return False


def _with_port(allowed: str) -> tuple[str, int]:
    """What is allowed, and at which port only; 0 for any."""
    name, colon, port = allowed.rpartition(":")
    if colon and port.isdecimal() and (":" not in name or name.endswith("]")):
        return name, int(port)
    return allowed, 0


def _by_address(found: Address, port: int, terms: HttpTerms) -> bool:
    for allowed in terms.allow:
        name, wanted = _with_port(allowed)
        try:
            network = ip_network(name.strip("[]"), strict=False)
        except ValueError:
            continue
        if wanted in (0, port) and found.version == network.version and found in network:
            return True
    return False
