"""Functions that misbehave, and files and code that would: each ends as a result that is read."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from work_kit import Kit

from pagemind.runtime.definition import load_definition
from pagemind.runtime.errors import DefinitionError
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, temporary_runtime
from pagemind.runtime.tool import make_tool
from pagemind.tools.files import FILE_BYTES


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with temporary_runtime() as one:
        yield one


def test_whatever_a_function_gives_or_raises(runtime: Runtime, tmp_path: Path) -> None:
    """Nothing, halves of characters, cycles, an exit: the turn goes on."""

    def nothing() -> None:
        """Give nothing."""

    def half() -> str:
        """Give half a character."""
        return "a\ud800b"

    def cycle() -> Any:
        """Give what holds itself."""
        found: list[Any] = []
        found.append(found)
        return found

    def leaves() -> str:
        """Leave."""
        raise SystemExit(3)

    def interrupts() -> str:
        """Say that a key was pressed."""
        raise KeyboardInterrupt

    def remembers() -> str:
        """Leave in the middle of memory."""
        raise SystemExit("now")

    extra = [make_tool(each) for each in (nothing, half, cycle, leaves, interrupts)]
    extra.append(make_tool(remembers, effect="memory"))
    kit = Kit(runtime, tmp_path, "page_in", extra)
    assert kit.run("remembers") == "remembers failed: SystemExit: now"
    assert kit.run("nothing") == "done"
    assert kit.run("half") == "a\ufffdb"
    assert "cycle failed: ValueError" in kit.run("cycle")
    assert kit.run("leaves") == "leaves failed: SystemExit: 3"
    assert "KeyboardInterrupt" in kit.run("interrupts")


def test_an_edit_keeps_all_that_it_does_not_touch(runtime: Runtime, tmp_path: Path) -> None:
    """Byte order mark, line ends, the missing last one, encoding, mode; nothing is left beside."""
    docs = tmp_path / "docs"
    docs.mkdir()
    kit = Kit(runtime, tmp_path, "{files: {roots: [docs], write: true}}")
    for name, before, after in (
        ("crlf.txt", b"\xef\xbb\xbfone\r\ntwo\r\nend", b"\xef\xbb\xbfone\r\nzwei\r\ndrei\r\nend"),
        ("utf16.txt", "one\ntwo\n".encode("utf-16"), "one\nzwei\ndrei\n".encode("utf-16")),
        ("mixed.txt", b"one\ntwo\r\n\n", b"one\nzwei\r\ndrei\r\n\n"),
    ):
        path = docs / name
        path.write_bytes(before)
        path.chmod(0o757)
        old_text, new_text = (
            ("two", "zwei\ndrei") if name != "crlf.txt" else ("two\n", "zwei\ndrei\n")
        )
        kit.run("edit_file", path=name, old_text=old_text, new_text=new_text)
        assert kit.ok
        assert path.read_bytes() == after
        assert stat.S_IMODE(path.stat().st_mode) == 0o757
    kit.run("write_file", path="new.txt", content="a")
    assert stat.S_IMODE((docs / "new.txt").stat().st_mode) & 0o111 == 0
    assert "is a folder" in kit.run("write_file", path=".", content="a")
    os.mkfifo(docs / "pipe")
    assert "is no file" in kit.run("write_file", path="pipe", content="a")
    assert sorted(each.name for each in docs.iterdir()) == [
        "crlf.txt",
        "mixed.txt",
        "new.txt",
        "pipe",
        "utf16.txt",
    ]


def test_files_that_are_too_much(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file larger than the limit, one very long line, a folder of too many, a pattern that would
    take for ever."""
    (tmp_path / "docs").mkdir()
    with (tmp_path / "docs" / "huge.txt").open("wb") as file:
        file.truncate(FILE_BYTES + 1)
    (tmp_path / "docs" / "line.txt").write_text("a" * 200_000 + "!")
    kit = Kit(runtime, tmp_path, "{files: {roots: [docs]}}")
    assert f"has {FILE_BYTES + 1:,} bytes; at most" in kit.run("read_file", path="huge.txt")
    assert "part 1 of" in kit.run("read_file", path="line.txt")
    monkeypatch.setattr("pagemind.tools.files.GREP_SECONDS", 0.3)
    said = kit.run("grep_files", text=r"(a|aa)+$", regex=True)
    assert "write it simpler" in said
    found = kit.run("grep_files", text="a!")
    assert found.startswith("1 line in 1 files; 1 are no text, or too large")
    assert len(found) < 500
    monkeypatch.setattr("pagemind.tools.roots.FILES_WALKED", 1)
    assert "holds more than 1 files; name a folder" in kit.run("list_files")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os; os.setsid()", "PermissionError"),
        ("import os; os.setpgid(0, 0)", "PermissionError"),
        ("import os, signal; os.kill(os.getppid(), signal.SIGTERM)", "PermissionError"),
        ("import os; print(open(f'/proc/{os.getppid()}/environ').read())", "PermissionError"),
        ("open('big', 'wb').truncate(1 << 40)", "OSError"),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\x00')", "\ufffd"),
        ("raise SystemExit(7)", "[exit code 7]"),
        ("x = (", "SyntaxError"),
    ],
)
def test_code_does_not_get_out(runtime: Runtime, tmp_path: Path, code: str, said: str) -> None:
    """Where the kernel holds it, as docs/tools.md says."""
    from pagemind.tools import confined_python

    if confined_python.platform.machine() not in confined_python._MACHINES:
        pytest.skip("this machine has no filter")
    kit = Kit(runtime, tmp_path, "{python: {seconds: 30, megabytes: 256}}")
    assert said in kit.run("python", code=code)


def test_what_code_starts_ends_with_it(runtime: Runtime, tmp_path: Path) -> None:
    """Children and theirs, also those that let go of its output."""
    kit = Kit(runtime, tmp_path, "{python: {seconds: 20}}")
    code = (
        "import os, subprocess, sys\n"
        "for _ in range(3):\n"
        "    child = subprocess.Popen(['sleep', '300'], stdout=subprocess.DEVNULL,"
        " stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)\n"
        "    print(child.pid)\n"
    )
    pids = kit.run("python", code=code).split()
    assert len(pids) == 3
    for pid in pids:
        status = Path(f"/proc/{pid}/stat")
        with suppress(OSError):  # ended, and nobody has asked how yet
            assert status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_what_cannot_be_imported_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the agent is made, and again nothing is there."""
    (tmp_path / "bad_kit.py").write_text(
        "def bare(name):\n    '''Take a name.'''\n"
        "async def later(name: str) -> str:\n    '''Take a name.'''\n    return name\n"
        "def read_file(path: str) -> str:\n    '''Read.'''\n    return path\n"
        "def silent(name: str) -> str:\n    return name\n"
        "number = 7\n"
    )
    (tmp_path / "broken_kit.py").write_text("raise RuntimeError('not today')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "worker.yaml"
    with temporary_runtime() as runtime:
        for entry, said in (
            ("bad_kit:bare", "parameter 'name' has no type"),
            ("bad_kit:later", "it is async"),
            ("bad_kit:silent", "needs a docstring"),
            ("bad_kit:number", "cannot be a function of an agent"),
            ("bad_kit:none", "bad_kit has no 'none'"),
            ("broken_kit:run", "RuntimeError: not today"),
            ("no_such_kit:run", "ModuleNotFoundError"),
            ("{files: {roots: [.]}}\n- bad_kit:read_file", "there is a function read_file already"),
        ):
            path.write_text(f"name: worker\ntools:\n- core\n- {entry}\n")
            with pytest.raises(DefinitionError) as caught:
                runtime.agent("ada", load_definition(path), model=ScriptedModel())
            line = 5 if "files" in entry else 4
            assert caught.value.message.startswith(f"{path}:{line}: tools: ")
            assert said in caught.value.message
            assert not runtime.home.exists("ada")


def test_each_function_sees_its_own_secrets_alone(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a variable that is not set is told before anything runs."""
    (tmp_path / "secret_kit.py").write_text(
        "from pagemind.runtime.tool import ToolContext\n"
        "def one(ctx: ToolContext) -> str:\n    '''One.'''\n    return str(dict(ctx.env))\n"
        "def two(ctx: ToolContext) -> str:\n    '''Two.'''\n    return str(dict(ctx.env))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("KEY_ONE", "1")
    monkeypatch.setenv("KEY_TWO", "2")
    kit = Kit(
        runtime,
        tmp_path,
        "{'secret_kit:one': {env: [KEY_ONE]}}, {'secret_kit:two': {env: [KEY_TWO]}},"
        " {shell: {rule: allow, env: [KEY_TWO]}}",
    )
    assert kit.run("one") == "{'KEY_ONE': '1'}"
    assert kit.run("two") == "{'KEY_TWO': '2'}"
    assert kit.run("shell", command="echo $KEY_ONE$KEY_TWO") == "2"
    monkeypatch.delenv("KEY_TWO")
    assert "the variable KEY_TWO is not set" in kit.run("two")
