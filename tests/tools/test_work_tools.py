"""Functions for real work, as an agent runs them: files, documents, pages, code, commands."""

import errno
import os
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from work_kit import Kit

from pagemind.runtime.message import Blob
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import temporary_runtime
from pagemind.runtime.tool import make_tool


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with temporary_runtime() as one:
        yield one


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Boats\nNomad is a boat.\nIt is blue.\n")
    (docs / "latin.txt").write_bytes("é".encode("latin-1") * 30)
    (docs / "picture.md").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (tmp_path / "secret.txt").write_text("secret")
    (docs / "out").symlink_to(tmp_path / "secret.txt")
    (docs / "up").symlink_to(tmp_path)
    os.mkfifo(docs / "pipe")
    return tmp_path


def test_a_file_is_read_with_its_lines(runtime: Runtime, folder: Path) -> None:
    """A part says which lines it has; the same again is not said twice."""
    kit = Kit(runtime, folder, "{files: {roots: [docs]}}, page_in")
    first = kit.run("read_file", path="a.md")
    assert first.startswith("[a.md part 1 of 1, lines 1 to 3 of 3, sha256 ")
    assert first.endswith("\n# Boats\nNomad is a boat.\nIt is blue.")
    id = kit.last.short_id
    assert kit.run("read_file", path="docs/a.md") == (
        f"[unchanged since {id}, which is still in view: a.md]"
    )
    (folder / "docs" / "a.md").write_text("# Boats\nNomad is a ship.\n")
    assert "ship" in kit.run("read_file", path="a.md")


def test_a_file_that_left_the_window_is_named_by_its_handle(runtime: Runtime, folder: Path) -> None:
    """After a flush the earlier reading is read by page_in, unless the model has none."""
    kit = Kit(runtime, folder, "{files: {roots: [docs]}}, page_in")
    kit.run("read_file", path="a.md")
    id = kit.last.short_id
    kit.agent.send("something else")
    kit.agent.flush()
    assert kit.run("read_file", path="a.md") == (
        f'[unchanged since {id}: a.md; page_in("{id}") reads it]'
    )


def test_a_long_file_has_parts(runtime: Runtime, folder: Path) -> None:
    """Parts join to the whole, and a line finds its part."""
    text = "\n".join(f"line {n} of a long file" for n in range(1, 4001))
    (folder / "docs" / "long.txt").write_text(text)
    kit = Kit(runtime, folder, "{files: {roots: [docs]}}")
    read, part = [], 1
    while True:
        answer = kit.run("read_file", path="long.txt", part=part)
        if not kit.ok:
            break
        read.append(answer.partition("\n")[2])
        part += 1
    assert part > 2
    assert "\n".join(read) == text
    assert f"its parts are 1 to {part - 1}" in answer
    (folder / "docs" / "long.txt").write_text(text + "!")
    assert "line 3999 of" in kit.run("read_file", path="long.txt", line=3999)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("../secret.txt", "is outside of docs"),
        ("/etc/passwd", "is outside of docs"),
        ("out", "is outside of docs"),
        ("up/secret.txt", "is outside of docs"),
        ("a.m", "a.m is not there; near it: a.md"),
        ("pipe", "pipe is not a file"),
        (".", "is a folder"),
        ("picture.md", "is a PNG image of 10 bytes, no text"),
        ("latin.txt", "latin.txt is not UTF-8 text (byte 0)"),
        ("a\0b", "NUL"),
    ],
)
def test_what_cannot_be_read_says_why(runtime: Runtime, folder: Path, path: str, said: str) -> None:
    """Links and dots lead nowhere else, and a binary file is named."""
    kit = Kit(runtime, folder, "{files: {roots: [docs]}}")
    answer = kit.run("read_file", path=path)
    assert not kit.ok
    assert said in answer.replace("\u2400", "\0") or path == "a\0b"
    assert "secret\n" not in answer


def test_a_folder_swapped_for_a_link_is_not_followed(runtime: Runtime, folder: Path) -> None:
    """A place that was checked is opened step by step, without links."""
    from pagemind.runtime.errors import ToolFailed
    from pagemind.tools.roots import Root, Roots

    inner = folder / "docs" / "inner"
    inner.mkdir()
    (inner / "secret.txt").write_text("mine")
    roots = Roots([Root("docs", folder / "docs", True)])
    place = roots.find("inner/secret.txt")
    assert roots.read(place, 99) == b"mine"
    (inner / "secret.txt").unlink()
    inner.rmdir()
    inner.symlink_to(folder)
    with pytest.raises(ToolFailed, match="link"):
        roots.read(place, 99)
    with pytest.raises(ToolFailed, match="link"):
        roots.write(place, b"x")
    assert (folder / "secret.txt").read_text() == "secret"


def test_files_are_written_only_where_the_definition_says(runtime: Runtime, folder: Path) -> None:
    """write: [out] opens one folder, and the others stay as they are."""
    (folder / "out").mkdir()
    kit = Kit(runtime, folder, "{files: {roots: [docs], write: [out]}}")
    assert kit.run("write_file", path="out/new/b.txt", content="x\ny\n") == (
        "out/new/b.txt is written (4 bytes)"
    )
    assert (folder / "out" / "new" / "b.txt").read_text() == "x\ny\n"
    assert "docs/a.md may only be read; in out you may write" in kit.run(
        "write_file", path="docs/a.md", content=""
    )
    assert kit.run("edit_file", path="out/new/b.txt", old_text="y", new_text="z") == (
        "out/new/b.txt is edited at line 2"
    )
    assert "old_text does not occur. Closest lines:\n  2: z" in kit.run(
        "edit_file", path="out/new/b.txt", old_text="zz", new_text=""
    )
    kit.run("write_file", path="out/c.txt", content="a a")
    assert "occurs 2 times, in lines 1, 1" in kit.run(
        "edit_file", path="out/c.txt", old_text="a", new_text="b"
    )


def test_without_write_there_is_no_function_that_writes(runtime: Runtime, folder: Path) -> None:
    """The model is not shown what it may not do."""
    kit = Kit(runtime, folder, "{files: {roots: [docs]}}")
    assert "no function is called 'write_file'" in kit.run("write_file", path="a", content="")


def test_an_image_is_kept_as_one(runtime: Runtime, folder: Path) -> None:
    """With its kind and size, by what it is and not by its name."""
    header = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 640, 480) + b"\x08\2\0\0\0"
    image = header + struct.pack(">I", zlib.crc32(header[12:])) + b"\0" * 20
    (folder / "docs" / "boat.txt").write_bytes(image)
    kit = Kit(runtime, folder, "{files: {roots: [docs]}}")
    assert "boat.txt is an image" in kit.run("read_file", path="boat.txt")
    (blob,) = [part for part in kit.last.parts if isinstance(part, Blob)]
    assert (blob.media_type, blob.caption) == ("image/png", "boat.txt, 640×480")
    assert kit.agent.state.blobs.read(blob.sha256) == image


def test_hidden_files_are_hidden(runtime: Runtime, folder: Path) -> None:
    """From reading, listing and writing, also by a link, unless the definition says so."""
    (folder / "docs" / ".env").write_text("KEY=1\n")
    (folder / "docs" / "env").symlink_to(".env")
    kit = Kit(runtime, folder, "{files: {roots: [docs], write: true}}")
    for path in (".env", "env", ".git/hooks/pre-commit"):
        assert "is hidden" in kit.run("read_file", path=path)
        assert "is hidden" in kit.run("write_file", path=path, content="x")
    assert ".env" not in kit.run("list_files")
    other = temporary_runtime()
    with other as one:
        kit = Kit(one, folder, "{files: {roots: [docs], hidden: true}}")
        assert kit.run("read_file", path=".env").endswith("KEY=1")
        assert ".env 6" in kit.run("list_files")


def test_files_are_listed_and_searched(runtime: Runtime, folder: Path) -> None:
    """Links are not followed; what is no text is counted; a pattern that never ends is given up."""
    kit = Kit(runtime, folder, "{files: {roots: [docs]}}")
    assert kit.run("list_files") == "3 files\na.md 37\nlatin.txt 30\npicture.md 10"
    assert kit.run("grep_files", text="nomad", ignore_case=True) == (
        "1 line in 1 files; 2 are no text, or too large, and were not searched\n"
        "a.md:2: Nomad is a boat."
    )
    assert "a.md:3: It is blue." in kit.run("grep_files", text=r"^It .*\.$", regex=True)
    assert "no regular expression" in kit.run("grep_files", text="(", regex=True)


def test_a_folder_that_cannot_be_read_holds_up_no_other(
    runtime: Runtime, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is found beside it is told, and that there may be more."""
    (folder / "docs" / "locked").mkdir()
    (folder / "docs" / "locked" / "z.md").write_text("Nomad.")
    opens = os.open

    def refusing(path: Any, *given: Any, **more: Any) -> int:
        if path == "locked":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return opens(path, *given, **more)

    kit = Kit(runtime, folder, "{files: {roots: [docs]}}")
    monkeypatch.setattr(os, "open", refusing)
    assert kit.run("list_files").startswith("3 files; 1 folder cannot be read\na.md 37")
    assert kit.run("grep_files", text="Nomad").startswith(
        "1 line in 1 files; 2 are no text, or too"
    )
    assert "; 1 folder cannot be read\n" in kit.last.text
    assert kit.run("list_files", path="locked") == "locked: permission denied"
    assert not kit.ok


def test_a_document_is_read_as_text(runtime: Runtime, folder: Path) -> None:
    """HTML becomes Markdown; what cannot be read says why."""
    (folder / "docs" / "b.html").write_text("<title>T</title><h1>One</h1><script>x</script><p>Two")
    kit = Kit(runtime, folder, "{files: {roots: [docs]}}")
    answer = kit.run("read_document", path="b.html")
    assert "# One" in answer
    assert "Two" in answer
    assert "script" not in answer


# --- http_get ---------------------------------------------------------------------------------


@contextmanager
def served() -> Iterator[int]:
    """A server on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/away":
                self.send_response(302)
                self.send_header("Location", "http://169.254.169.254/latest")
                self.end_headers()
                return
            if self.path == "/round":
                self.send_response(302)
                self.send_header("Location", "/round")
                self.end_headers()
                return
            kinds = {"/page": ("text/html", b"<h1>Hi</h1><p>There"), "/raw": ("image/png", b"\0\1")}
            kind, body = kinds.get(self.path, ("text/plain", b"x" * (3 << 20)))
            self.send_response(404 if self.path == "/none" else 200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def test_a_page_is_read_where_it_is_allowed(runtime: Runtime, folder: Path) -> None:
    """HTML as Markdown; too much, not there, no text and round in circles are refused."""
    kit = Kit(runtime, folder, "{http_get: {allow: [127.0.0.1], megabytes: 1, redirects: 2}}")
    with served() as port:
        base = f"http://127.0.0.1:{port}"
        assert kit.run("http_get", url=f"{base}/page") == (
            f"[{base}/page 200 text/html, 19 bytes]\n# Hi\n\nThere"
        )
        assert "answered 404" in kit.run("http_get", url=f"{base}/none")
        assert "has more than 1 MB" in kit.run("http_get", url=f"{base}/much")
        assert "is not a text file" in kit.run("http_get", url=f"{base}/raw")
        assert "leads on more than 2 times" in kit.run("http_get", url=f"{base}/round")
        assert "169.254.169.254 is not allowed" in kit.run("http_get", url=f"{base}/away")
        assert "is not an address" in kit.run("http_get", url="file:///etc/passwd")


def test_a_name_does_not_open_an_inner_address(
    runtime: Runtime, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an allowed name leads into the network, the address itself must be allowed."""
    import socket

    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: [(2, 1, 6, "", ("10.0.0.7", 80))])
    kit = Kit(runtime, folder, "{http_get: {allow: ['*.example.org']}}")
    assert "is at 10.0.0.7, within this machine or its network" in kit.run(
        "http_get", url="http://a.example.org/"
    )
    assert "evil.org is not allowed" in kit.run("http_get", url="http://evil.org/")


# --- python, shell ----------------------------------------------------------------------------


def test_code_runs_and_its_faults_are_read(
    runtime: Runtime, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Output and traceback come back; only named variables are seen."""
    monkeypatch.setenv("MINE", "yes")
    monkeypatch.setenv("OTHERS", "no")
    kit = Kit(runtime, folder, "{python: {seconds: 20, env: [MINE]}}")
    assert kit.run("python", code="print(6 * 7)") == "42"
    assert "ZeroDivisionError: division by zero\n[exit code 1]" in kit.run("python", code="1/0")
    assert (
        kit.run("python", code="import os; print(os.environ.get('MINE'), os.environ.get('OTHERS'))")
        == "yes None"
    )
    assert kit.run("python", code="pass") == "[it printed nothing]"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("while True: pass", "[stopped after 1 seconds]"),
        ("x = bytearray(1 << 30)", "MemoryError"),
        (
            "import sys\nfor _ in range(9999): sys.stdout.write('x' * 65536)",
            "printed more than 4 MB",
        ),
        ("import socket; socket.socket()", "PermissionError"),
        ("import urllib.request as u; u.urlopen('http://127.0.0.1:1')", "not open to this code"),
        ("open('/tmp/pagemind-stray', 'w')", "PermissionError"),
        ("import subprocess; subprocess.Popen(['sleep', '60'])", ""),
    ],
)
def test_code_keeps_to_its_bounds(runtime: Runtime, folder: Path, code: str, said: str) -> None:
    """Time, memory, output, network, files; what it starts ends with it."""
    seconds = 1 if "while" in code or "sleep" in code else 30  # a slow machine is no fault
    kit = Kit(runtime, folder, f"{{python: {{seconds: {seconds}, megabytes: 256}}}}")
    assert said in kit.run("python", code=code)


def test_a_command_runs_where_the_definition_allows_it(runtime: Runtime, folder: Path) -> None:
    """In its folder, with its exit code."""
    kit = Kit(runtime, folder, "{shell: {rule: allow, folder: docs, seconds: 1}}")
    assert kit.run("shell", command="ls a.md; exit 3") == "a.md\n[exit code 3]"
    assert "[stopped after 1 seconds]" in kit.run("shell", command="sleep 30")


# --- results that are too much ------------------------------------------------------------------


def big() -> str:
    """Give two megabytes."""
    return "".join(f"line {n:07} of many\n" for n in range(100_000))


def huge() -> str:
    """Give too much."""
    return "x" * (17 << 20)


def raw() -> Any:
    """Give bytes."""
    return b"\xff\xfe\x00\x01"


def hang() -> str:
    """Never answer."""
    threading.Event().wait(30)
    return ""


def test_no_result_is_cut_in_silence(runtime: Runtime, folder: Path) -> None:
    """Two megabytes are kept whole; more is refused; bytes are kept beside the database."""
    extra = [make_tool(each) for each in (big, huge, raw)]
    extra.append(make_tool(hang, seconds=0.2))
    kit = Kit(runtime, folder, "page_in", extra)
    assert kit.run("big") == big().removesuffix("\n") or kit.last.text == big()
    seen = kit.model.requests[-1].messages[-1].text
    assert f'page_in("{kit.last.short_id}")' in seen
    assert "gave 17,825,792 characters, and at most" in kit.run("huge")
    assert "4 bytes that are no text" in kit.run("raw")
    (blob,) = [part for part in kit.last.parts if hasattr(part, "sha256")]
    assert kit.agent.state.blobs.read(blob.sha256) == b"\xff\xfe\x00\x01"
    assert "did not answer within 0.2 seconds" in kit.run("hang")


# --- one's own ----------------------------------------------------------------------------------


def test_functions_of_ones_own_are_found_by_import_path(
    runtime: Runtime, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Schema and effect come from the function; without a word it acts on the world."""
    package = folder / "harbour_kit.py"
    package.write_text(
        "from pagemind.runtime.tool import ToolContext\n"
        "def lookup(ctx: ToolContext, name: str) -> str:\n"
        '    """Look a boat up."""\n'
        "    return f'{name}: {ctx.env}'\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("KEY", "k")
    kit = Kit(runtime, folder, "{'harbour_kit:lookup': {env: [KEY], at_most: 1}}")
    assert kit.run("lookup", name="Nomad") == "Nomad: {'KEY': 'k'}"
    assert kit.last.provenance.trust == 40
    (schema,) = kit.model.requests[-1].tools
    assert schema.description == "Look a boat up.\nAt most 1 times a turn."
