"""Anthropic's and Gemini's own wire formats on loopback: each request is judged by their rules.

    with NativeServer(anthropic_faults, ANTHROPIC_REPLY) as server:
        LitellmModel("anthropic/claude-x", api_base=server.url, api_key="k").complete(request)
        assert server.faults == []

The rules are written from the providers' documented 400s, apart from what legalise.py holds.
"""

import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

Body = dict[str, Any]

ANTHROPIC_REPLY: Body = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [{"type": "text", "text": "Yes."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 5, "output_tokens": 2},
}
GEMINI_REPLY: Body = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": "Yes."}]}, "finishReason": "STOP"}
    ],
    "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7},
}


class NativeServer:
    """Answers every POST with `reply`; `faults` holds what `judge` found, `bodies` what came."""

    def __init__(self, judge: Callable[[Body], list[str]], reply: Body) -> None:
        self.faults: list[str] = []
        self.bodies: list[Body] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server.bodies.append(body)
                server.faults += judge(body)
                data = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> "NativeServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)


def anthropic_faults(body: Body) -> list[str]:
    """Why Anthropic would answer 400."""
    faults = []
    messages = body["messages"]
    turns = [(m["role"], _blocks(m["content"])) for m in messages]
    faults += _order([role for role, _ in turns], "user", "assistant")
    if turns and turns[-1][0] != "user":
        faults.append("the last message is the assistant's")
    used: set[str] = set()
    for at, (role, blocks) in enumerate(turns):
        if not blocks:
            faults.append(f"message {at} is empty")
        for block in blocks:
            if block["type"] == "text" and not block["text"].strip():
                faults.append(f"message {at}: empty text")
        calls = [b for b in blocks if b["type"] == "tool_use"]
        for call in calls:
            if not re.fullmatch(r"[a-zA-Z0-9_-]+", call["id"]) or call["id"] in used:
                faults.append(f"message {at}: call id {call['id']!r}")
            if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", call["name"]):
                faults.append(f"message {at}: function name {call['name']!r}")
            if not isinstance(call["input"], dict):
                faults.append(f"message {at}: input is no object")
            used.add(call["id"])
        before = turns[at - 1][1] if at else []
        wanted = [b["id"] for b in before if b["type"] == "tool_use"]
        given = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if role == "user" and sorted(given) != sorted(wanted):
            faults.append(f"message {at}: results {given} for calls {wanted}")
        kinds = [b["type"] for b in blocks]
        if "tool_result" in kinds[len(given) :]:
            faults.append(f"message {at}: a result after text")
    if used and not body.get("tools"):
        faults.append("calls without functions")
    return faults


def gemini_faults(body: Body) -> list[str]:
    """Why Gemini would answer 400."""
    faults = []
    contents = body["contents"]
    # Responses are a turn of their own, although they carry the user's role; talk may follow them.
    roles = [
        "function" if any(_is_response(p) for p in c["parts"]) else c["role"] for c in contents
    ]
    faults += _order(roles, "user", "model", "function")
    for at, content in enumerate(contents):
        parts = content["parts"]
        if not parts:
            faults.append(f"content {at} is empty")
        if any("text" in p and not p["text"] for p in parts):
            faults.append(f"content {at}: empty text")
        calls = [_name(p) for p in parts if "function_call" in p or "functionCall" in p]
        after = contents[at + 1]["parts"] if at + 1 < len(contents) else []
        given = [_name(p) for p in after if _is_response(p)]
        if calls != given:
            faults.append(f"content {at}: responses {given} for calls {calls}")
    return faults


def _is_response(part: Body) -> bool:
    return "function_response" in part or "functionResponse" in part


def _name(part: Body) -> str:
    (inner,) = (v for k, v in part.items() if k.lower().replace("_", "").startswith("function"))
    return str(inner["name"])


def _blocks(content: Any) -> list[Body]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _order(roles: list[str], first: str, *others: str) -> list[str]:
    faults = [f"role {role!r}" for role in roles if role not in (first, *others)]
    if not roles or roles[0] != first:
        faults.append(f"the first is not the {first}'s")
    if any(a == b for a, b in pairwise(roles)):
        faults.append("two of one role in a row")
    return faults
