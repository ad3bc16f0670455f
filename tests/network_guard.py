"""Close every way to the network but loopback, for a process that should need none.

close() before anything else is imported: what libraries do at import counts too. `tried` names
where they wanted to go. It sees Python's sockets, not those that native code opens by itself.
"""

import socket
from collections.abc import Callable
from typing import Any

tried: list[str] = []


class Reached(BaseException):
    """Not an Exception, so that no library swallows it unseen."""


def refuse(host: Any) -> None:
    """Raises Reached for an address that is not this machine's own."""
    name = host[0] if isinstance(host, tuple) else host
    name = name.decode() if isinstance(name, bytes) else name
    if name is None or name in ("localhost", "::1", "") or str(name).startswith(("127.", "/")):
        return
    tried.append(str(name))
    raise Reached(f"a connection to {name}")


class Guarded(socket.socket):
    """A socket that only reaches this machine."""

    def connect(self, address: Any) -> None:
        refuse(address)
        super().connect(address)

    def connect_ex(self, address: Any) -> int:
        refuse(address)
        return super().connect_ex(address)

    def sendto(self, data: Any, *more: Any) -> int:
        refuse(more[-1])
        return super().sendto(data, *more)


def close() -> None:
    """From here on."""

    def looking(function: Callable[..., Any]) -> Callable[..., Any]:
        def look_up(host: Any, *more: Any, **named: Any) -> Any:
            refuse(host)
            return function(host, *more, **named)

        return look_up

    socket.socket = Guarded
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        setattr(socket, name, looking(getattr(socket, name)))
