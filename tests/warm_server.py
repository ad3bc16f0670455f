"""The process that others are forked from (see warm.py). It has one thread, always, and ends with
its standard input.

    python warm_server.py SOCKET

For each connection a watcher is forked, which forks the process, tells its number, waits for it,
and tells how it ended: 0 and more is an exit code, less a signal.
"""

import fcntl
import json
import os
import select
import signal
import socket
import sys
import termios
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

WARM = (
    "rich.console",
    "ruamel.yaml.main",
    "filelock",
    "pydantic",
    "pagemind.prompts",
    "pagemind.tools.own",
    "pagemind.tools",
    "pagemind.runtime.cli.app",
    "pagemind.runtime.runtime",
    "pagemind.runtime.testing",
    "pagemind.runtime.tasks.runner",
    "pagemind.runtime.tasks.task_file",
    "pagemind.runtime.invariants",
)


def warm() -> None:
    from pagemind.runtime.tiers import lancedb_library
    from pagemind.runtime.tokens import TokenCounter

    for name in WARM:
        import_module(name)
    TokenCounter().count("warm")
    # Not LanceDB itself: it has threads, and they do not live through a fork.
    lancedb_library.prepare()
    import_module("numpy")
    import_module("lance_namespace")


def serve(address: str) -> dict[str, Any]:
    """Comes back in every process that is asked for, with the request."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for watchers
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        print("ready", flush=True)
        while True:
            ready, _, _ = select.select([listener, 0], [], [])
            if 0 in ready:
                os._exit(0)
            line, _ = listener.accept()
            with line:
                if not os.fork():
                    listener.close()
                    return watch(line)


def watch(line: socket.socket) -> dict[str, Any]:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, streams, _, _ = socket.recv_fds(line, 1, 3)
    with line.makefile("rb") as told:
        request: dict[str, Any] = json.loads(told.readline())
    pid = os.fork()
    if not pid:
        line.close()
        return {**request, "streams": streams}
    # Whoever reads what the process writes must see its end.
    for descriptor in (0, 1, *streams):
        os.close(descriptor)
    line.sendall(b"%d\n" % pid)
    _, status = os.waitpid(pid, 0)
    with suppress(OSError):  # nobody asks any more
        line.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def become(request: dict[str, Any]) -> None:
    """Streams, terminal, folder, environment and arguments of a process that was just started."""
    for at, descriptor in enumerate(request["streams"]):
        os.dup2(descriptor, at)
        os.close(descriptor)
    if request["terminal"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdin = sys.__stdin__ = os.fdopen(0, encoding="utf-8", closefd=False)
    for at, name in enumerate(("stdout", "stderr"), 1):
        errors = "backslashreplace" if name == "stderr" else "strict"
        stream = os.fdopen(at, "w", encoding="utf-8", closefd=False, errors=errors)
        by_line = name == "stderr" or os.isatty(at)
        stream.reconfigure(line_buffering=by_line, write_through=at_once)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def execute(words: list[str]) -> None:
    """As the interpreter does with a script, or with -c."""
    main = ModuleType("__main__")
    sys.modules["__main__"] = main
    if words[0] == "-c":
        code, sys.argv, sys.path[0] = words[1], ["-c", *words[2:]], ""
        exec(compile(code, "<string>", "exec"), vars(main))
        return
    script = Path(words[0]).resolve()
    sys.argv, sys.path[0] = list(words), str(script.parent)
    vars(main)["__file__"] = str(script)
    exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), vars(main))


if __name__ == "__main__":
    warm()
    asked = serve(sys.argv[1])
    become(asked)
    execute(asked["words"])
