"""An MCP server over standard input and output that misbehaves on request. It uses no library, so
that it starts at once. Its first argument may be a JSON file: what its list says instead."""

import base64
import json
import os
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path


def tool(name, description="does it", /, **properties):
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": description, "inputSchema": schema}


TOOLS = [
    tool("echo", "Say it again.", text={"type": "string"}),
    tool("crash"),
    tool("hang"),
    tool("garbage"),
    tool("flood"),
    tool("giant", megabytes={"type": "integer"}),
    tool("picture"),
    tool("parts"),
    tool("structured"),
    tool("fail"),
    tool("see", name={"type": "string"}),
    tool("child"),
    tool("pid"),
    tool("shout"),
    {
        **tool("liar"),
        "outputSchema": {
            "type": "object",
            "properties": {"n": {"type": "integer"}},
            "required": ["n"],
        },
    },
]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def png():
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", 2, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0" + b"\xff\0\0" * 2)
    parts = [chunk(b"IHDR", head), chunk(b"IDAT", pixels), chunk(b"IEND", b"")]
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def call(name, arguments, meta):
    if name == "echo":
        return text(arguments.get("text", "") + f" [{meta.get('pagemind/call')}]")
    if name == "crash":
        print("the disk is on fire", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "hang":
        time.sleep(600)
    if name == "garbage":
        print("Traceback: this is no message\n{\n\n[]", flush=True)
        return text("still here")
    if name == "flood":
        for _ in range(300):
            sys.stderr.write("x" * 9999 + "\n")
        return text("flooded")
    if name == "giant":
        return text("x" * (arguments["megabytes"] << 20))
    if name == "picture":
        return {"content": [{"type": "image", "data": png(), "mimeType": "image/jpeg"}]}
    if name == "parts":
        inside = {"uri": "file:///a.txt", "text": "inside"}
        data = {"uri": "file:///b.bin", "blob": "AAE=", "mimeType": "x/y"}
        link = {"type": "resource_link", "uri": "file:///c", "name": "c"}
        resources = [{"type": "resource", "resource": each} for each in (inside, data)]
        return {"content": [*resources, link, {"type": "audio", "data": "!", "mimeType": "a/b"}]}
    if name == "structured":
        return {"content": [], "structuredContent": {"answer": 42}}
    if name == "liar":
        return {"content": [], "structuredContent": {"n": "many"}}
    if name == "fail":
        return {**text("no such thing"), "isError": True}
    if name == "see":
        return text(os.environ.get(arguments["name"], "unset"))
    if name == "child":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        return text(str(child.pid))
    if name == "pid":
        return text(str(os.getpid()))
    if name == "shout":
        send({"method": "notifications/tools/list_changed"})
        return text("shouted")
    return {"error": {"code": -32602, "message": f"no tool is called {name}"}}


def listed():
    if len(sys.argv) > 1 and Path(sys.argv[1]).exists():
        return json.loads(Path(sys.argv[1]).read_text())
    return TOOLS


def main():
    for line in sys.stdin:
        request = json.loads(line)
        method, params = request.get("method"), request.get("params") or {}
        if "id" not in request:
            continue
        if method == "initialize":
            result = {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "nasty", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": listed()}
        elif method == "resources/read":
            pages = [{"uri": params["uri"], "text": "inside"}, {"uri": "b", "blob": "AAE="}]
            result = {"contents": pages}
            if params["uri"] == "file:///none":
                result = {"error": {"code": -32602, "message": "no such resource"}}
        elif method == "tools/call":
            meta = params.get("_meta") or {}
            result = call(params["name"], params.get("arguments") or {}, meta)
        else:
            result = {"error": {"code": -32601, "message": "what?"}}
        if "error" in result:
            send({"id": request["id"], **result})
        else:
            send({"id": request["id"], "result": result})


if __name__ == "__main__":
    main()
