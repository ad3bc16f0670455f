"""Importing a module does nothing, and help is quick because it loads nothing heavy."""

import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

HEAVY = (
    *("litellm", "lancedb", "pyarrow", "numpy", "onnxruntime", "xllamacpp", "tiktoken"),
    *("starlette", "uvicorn"),
)

# Imports one module under an audit of what it does. Reading files is what importing is; writing,
# connecting, starting a process or a thread is not.
PROBE = """
import os, sys, threading
deeds = []
def watch(event, args):
    if event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR):
        if "__pycache__" not in str(args[0]):
            deeds.append(f"writes {args[0]}")
    elif event.startswith(("socket.", "subprocess.", "sqlite3.", "os.mkdir", "os.fork")):
        deeds.append(event)
before = dict(os.environ)
sys.addaudithook(watch)
for name in sys.argv[1:]:
    __import__(name)
    heavy = sorted({"litellm", "lancedb", "onnxruntime", "xllamacpp"} & set(sys.modules))
    if heavy: deeds.append(f"loads {heavy}")
    if threading.active_count() > 1: deeds.append("starts a thread")
    if dict(os.environ) != before: deeds.append("changes the environment")
    if deeds:
        print(name, deeds)
        sys.exit(1)
"""


def every_module() -> list[str]:
    """The names of all modules, from the package as it is installed."""
    names = []
    for top in ("pagemind.runtime", "pagemind.tools", "pagemind.prompts", "pagemind.agents"):
        package = import_module(top)
        names.append(top)
        names.extend(m.name for m in pkgutil.walk_packages(package.__path__, f"{top}."))
    return names


def run(code: str, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter, in an empty folder."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=home,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_importing_every_module_has_no_side_effect(tmp_path: Path) -> None:
    """No module writes, connects, starts a process or thread, or loads a heavy library.

    One interpreter imports them all in turn and stops at the first that does.
    """
    result = run(PROBE, *every_module(), home=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr[-2000:]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments", [["--help"], ["chat", "--help"], ["memory", "--help"], ["up", "--help"]]
)
def test_help_loads_nothing_heavy(tmp_path: Path, arguments: list[str]) -> None:
    """`pagemind --help` and the help of a command answer without models or stores."""
    code = (
        "import sys\n"
        "from pagemind.runtime.cli.app import main\n"
        "sys.argv = ['pagemind', *sys.argv[1:]]\n"
        "try:\n    code = main()\nexcept SystemExit as end:\n    code = end.code\n"
        f"print('HEAVY', sorted(set({HEAVY!r}) & set(sys.modules)))\n"
        "sys.exit(code or 0)\n"
    )
    result = run(code, *arguments, home=tmp_path)
    assert result.returncode == 0, result.stderr[-2000:]
    assert "Usage" in result.stdout
    assert "HEAVY []" in result.stdout
