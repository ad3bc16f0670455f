"""http_get against servers that mean no good: slow, packed, in other letters, elsewhere."""

import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path

import pytest
from work_kit import Kit

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import SystemClock
from pagemind.runtime.errors import ToolError
from pagemind.runtime.testing import call, temporary_runtime
from pagemind.runtime.tool_use import HttpTerms
from pagemind.tools.web_hosts import _public, checked

HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"


@contextmanager
def served(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server that answers each connection so."""
    server = socket.create_server(("127.0.0.1", 0))

    def one(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65536)
            answer(connection)

    def serve() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=one, args=(server.accept()[0],), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield server.getsockname()[1]
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with temporary_runtime() as runtime:
        yield Kit(
            runtime,
            tmp_path,
            "{http_get: {allow: [127.0.0.1], megabytes: 1, seconds: 1.5}}",
        )


def drip(head: bytes) -> Callable[[socket.socket], None]:
    """A letter now and then, for ever, after this."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(head)
        pause = threading.Event()
        while not pause.wait(0.1):
            connection.sendall(b"x")

    return answer


@pytest.mark.parametrize("head", [HEAD + b"X-Long: ", HEAD + b"\r\n"])
def test_a_server_that_drips_is_left_in_time(kit: Kit, head: bytes) -> None:
    """In its head as in its body."""
    begun = SystemClock().monotonic()
    with served(drip(head)) as port:
        assert "no answer within 1.5 seconds" in kit.run(
            "http_get", url=f"http://127.0.0.1:{port}/"
        )
    assert SystemClock().monotonic() - begun < 20


def test_ctrl_c_does_not_wait_for_a_server(kit: Kit) -> None:
    """Nor for its head."""
    kit._next = [call("http_get", url="http://127.0.0.1:1/")]
    cancel = CancelToken()

    def silent(connection: socket.socket) -> None:
        cancel.cancel()
        threading.Event().wait(30)

    with served(silent) as port:
        kit._next = [call("http_get", url=f"http://127.0.0.1:{port}/")]
        assert kit.agent.send("go", cancel=cancel).stop_reason == "interrupted"


def test_what_unfolds_without_end_is_refused(kit: Kit) -> None:
    """By its size once unpacked; what is packed twice, or by other means, by its head."""
    bomb = gzip.compress(b"0" * (20 << 20))

    def packed(by: bytes, body: bytes) -> Callable[[socket.socket], None]:
        return lambda connection: connection.sendall(
            HEAD + b"Content-Encoding: " + by + b"\r\n\r\n" + body
        )

    with served(packed(b"gzip", bomb)) as port:
        assert "has more than 1 MB" in kit.run("http_get", url=f"http://127.0.0.1:{port}/")
    with served(packed(b"gzip, gzip", gzip.compress(bomb))) as port:
        assert "is packed as gzip, gzip" in kit.run("http_get", url=f"http://127.0.0.1:{port}/")
    with served(packed(b"gzip", gzip.compress(b"small"))) as port:
        assert kit.run("http_get", url=f"http://127.0.0.1:{port}/").endswith("\nsmall")


def test_other_letters_and_no_letters(kit: Kit) -> None:
    """The charset that the server names is read; bytes that are no text are kept as they are."""

    def typed(kind: bytes, body: bytes) -> Callable[[socket.socket], None]:
        return lambda connection: connection.sendall(
            HEAD + b"Content-Type: " + kind + b"\r\n\r\n" + body
        )

    with served(typed(b"text/plain; charset=iso-8859-1", b"caf\xe9")) as port:
        assert kit.run("http_get", url=f"http://127.0.0.1:{port}/").endswith("\ncafé")
    with served(typed(b"text/plain; charset=no-such", b"caf\xe9")) as port:
        kit.run("http_get", url=f"http://127.0.0.1:{port}/")
        assert not kit.ok
    with served(typed(b"image/png", b"\x89PNG\r\n\x1a\n\0")) as port:
        assert "its bytes are kept" in kit.run("http_get", url=f"http://127.0.0.1:{port}/")
    (blob,) = [part for part in kit.last.parts if hasattr(part, "sha256")]
    assert kit.agent.state.blobs.read(blob.sha256) == b"\x89PNG\r\n\x1a\n\0"


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://127.0.0.1:8080/", True),
        ("http://127.0.0.1:81/", False),
        ("http://10.1.2.3/", True),
        ("http://11.1.2.3/", False),
        ("http://2130706433/", False),
        ("http://0x7f.1/", False),
        ("http://127.1:8080/", False),
        ("http://localhost:8080@10.0.0.1/", False),
        ("http://[::ffff:127.0.0.1]:8080/", False),
    ],
)
def test_addresses_are_what_they_are(url: str, allowed: bool) -> None:
    """Ports hold, and no other way of writing an address goes around."""
    terms = HttpTerms(allow=("127.0.0.1:8080", "10.0.0.0/8"))
    if allowed:
        assert str(checked(url, terms, 5, None)[2]) in url
    else:
        with pytest.raises(ToolError):
            checked(url, terms, 5, None)


def test_an_address_within_an_address_counts() -> None:
    """What a router or tunnel would turn into an address of the network is one."""
    for inner in ("64:ff9b::a00:1", "2002:a00:1::", "::ffff:10.0.0.1", "fe80::1", "ff02::1"):
        assert not _public(ip_address(inner)), inner
    for outer in ("64:ff9b::808:808", "2606:4700::1111", "8.8.8.8"):
        assert _public(ip_address(outer)), outer
