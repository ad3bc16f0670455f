"""A server at an address that misbehaves costs a call, too."""

import importlib.util
import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import mcp_kit
import pytest

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.mcp import http_transport

_spec = importlib.util.spec_from_file_location("nasty_server", mcp_kit.NASTY)
assert _spec is not None
assert _spec.loader is not None
nasty = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(nasty)


class Handler(BaseHTTPRequestHandler):
    """Answers as the nasty server does, with JSON and without sessions; `mood` says how else."""

    mood = ""
    seen: list[str]

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append(self.headers.get("Authorization", ""))
        if "id" not in request:
            self._send(202, b"")
        elif request["method"] == "initialize":
            self._answer(
                request,
                {
                    "protocolVersion": request["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "nasty", "version": "1"},
                },
            )
        elif request["method"] == "tools/list":
            self._answer(request, {"tools": nasty.TOOLS})
        elif request["method"] != "tools/call":
            error = {"code": -32601, "message": "what?"}
            self._send(200, json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}))
        elif self.mood == "broken":
            self._send(500, b"oops")
        elif self.mood == "elsewhere":
            self.send_response(307)
            self.send_header("Location", "http://localhost:9/mcp")
            self.end_headers()
        elif self.mood == "page":
            self._send(200, b"<html>Welcome</html>", "text/html")
        else:
            params = request["params"]
            self._answer(request, nasty.call(params["name"], params["arguments"], {}))

    def _answer(self, request: Any, result: Any) -> None:
        self._send(200, json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))

    def _send(self, status: int, body: str | bytes, kind: str = "application/json") -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    Handler.seen = []
    Handler.mood = ""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/mcp"
    server.shutdown()
    server.server_close()


def test_a_server_at_a_url(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its faults are told, its answers are bounded, no redirect takes the token elsewhere, and it
    is there again when it has come to its senses."""
    monkeypatch.setenv("NASTY_TOKEN", "secret-1")
    monkeypatch.setattr(http_transport, "MCP_BYTES", 1 << 20)
    options: dict[str, Any] = {"command": [], "url": url, "token_env": "NASTY_TOKEN"}
    with mcp_kit.session(folder=tmp_path, **options) as n:
        assert n.call("n__echo", text="hello").startswith("hello")
        for mood, said in (
            ("broken", r"HTTP 500"),
            ("elsewhere", r"307|redirect"),
            ("page", r"content type"),
        ):
            Handler.mood = mood
            with pytest.raises(ToolFailed, match=f"(?i)did not answer echo.*({said})"):
                n.call("n__echo", text="x")
        Handler.mood = ""
        with pytest.raises(ToolFailed, match="more than 1 MB"):
            n.call("n__giant", megabytes=2)
        n.servers.connection("n")._not_before = 0.0
        assert n.call("n__echo", text="back").startswith("back")
    assert logging.getLogger("mcp").handlers  # Python prints nothing of its log by itself
    assert set(Handler.seen) == {"Bearer secret-1"}
