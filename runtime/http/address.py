"""Where to listen: HOST:PORT as a person writes it, checked, and whether that is this machine only.
Pure but for looking up names."""

import ipaddress
import socket
from dataclasses import dataclass

from pagemind.runtime.errors import UserError

_EXAMPLE = "say --http 127.0.0.1:8080"


@dataclass(frozen=True, slots=True)
class Address:
    """A host that can be bound to, and a port; 0 is any that is free."""

    host: str
    port: int

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def parse_address(written: str) -> Address:
    """`127.0.0.1:8080`, `localhost:8080`, `[::1]:8080`, `0.0.0.0:8080`. Raises UserError."""
    host, colon, port = written.strip().rpartition(":")
    if not colon or not host:
        raise UserError(f"{written!r} is no HOST:PORT", hint=_EXAMPLE)
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise UserError(f"{written!r} is no HOST:PORT", hint="say --http [::1]:8080")
    if not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise UserError(f"{port!r} is no port", hint=f"a port is 0 to 65535; {_EXAMPLE}")
    return Address(_looked_up(host), int(port))


def is_loopback(host: str) -> bool:
    """Of an address that is written out, or of `localhost`."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _looked_up(host: str) -> str:
    """The address of a name: what is bound to is what was judged."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise UserError(f"{host!r} is no address of this machine", hint=_EXAMPLE) from None
    hosts = [str(each[4][0]) for each in found]
    return next((each for each in hosts if "." in each), hosts[0])
