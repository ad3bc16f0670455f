"""A file that is broken, hostile or another tool's is refused in one line, and leaves nothing."""

import json
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from portable_kit import altered, lived, manifest, members, tables, with_rows, write

from pagemind.runtime.errors import BadExport, ExportTooNew
from pagemind.runtime.portable import container, parquet
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import temporary_runtime

Change = Callable[[dict[str, bytes], dict[str, Any]], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One good file."""
    path = tmp_path_factory.mktemp("pmz") / "ada.pmz"
    with temporary_runtime() as runtime:
        lived(runtime, turns=8).close()
        runtime.export_agent("ada", path)
    return path


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with temporary_runtime() as opened:
        yield opened


def refused(runtime: Runtime, path: Path, *words: str, error: type = BadExport) -> str:
    """The message of the refusal; nothing is left of what was tried."""
    with pytest.raises(error) as caught:
        runtime.import_agent(path)
    message: str = caught.value.message
    assert "\n" not in message
    assert len(message) < 1200  # it may name every function there is
    for word in words:
        assert word in message, message
    assert not runtime.agents()
    assert not list((runtime.home.path / "agents").iterdir())
    return message


def test_a_file_that_is_not_there(runtime: Runtime, tmp_path: Path) -> None:
    """Nor is a folder one."""
    refused(runtime, tmp_path / "no.pmz", "is not there")
    refused(runtime, tmp_path, "is a folder")


def test_a_truncated_file_is_refused_wherever_it_ends(
    runtime: Runtime, made: Path, tmp_path: Path
) -> None:
    """From the first byte to the last but one."""
    data = made.read_bytes()
    for end in (0, 3, 30, 100, len(data) // 3, len(data) // 2, len(data) - 400, len(data) - 1):
        path = tmp_path / f"cut{end}.pmz"
        path.write_bytes(data[:end])
        refused(runtime, path)


def test_a_flipped_bit_is_found(runtime: Runtime, made: Path, tmp_path: Path) -> None:
    """In whichever member it is."""
    data = made.read_bytes()
    with zipfile.ZipFile(made) as archive:
        starts = [info.header_offset + 100 for info in archive.infolist()]
    for start in starts:
        path = tmp_path / "flipped.pmz"
        path.write_bytes(data[:start] + bytes([data[start] ^ 0x10]) + data[start + 1 :])
        refused(runtime, path)


def test_a_member_that_is_not_what_its_checksum_says(runtime: Runtime, made: Path) -> None:
    """Also where the zip itself is sound."""

    def change(there: dict[str, bytes], told: dict[str, Any]) -> None:
        text = there["definition.json"]
        there["definition.json"] = text.replace(b"test agent", b"best agent")

    refused(runtime, altered(made, change, honest=False), "definition.json", "checksum")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t, m: t.pop("tables/messages.parquet"), ["tables/messages.parquet is missing"]),
        (lambda t, m: t.update({"tables/extra.parquet": b"x"}), ["'tables/extra.parquet'"]),
        (lambda t, m: t.update({"README": b"x"}), ["'README' does not belong"]),
    ],
)
def test_members_are_those_of_the_manifest(
    runtime: Runtime, made: Path, change: Change, words: list[str]
) -> None:
    """No more and no fewer."""
    refused(runtime, altered(made, change, honest=False), *words)


@pytest.mark.parametrize(
    "name",
    ["../evil", "/etc/passwd", "tables/../../evil", "\\\\host\\evil", "C:/evil", "..\\evil"],
)
def test_a_path_that_leaves_is_unsafe(
    runtime: Runtime, made: Path, tmp_path: Path, name: str
) -> None:
    """Nothing is ever written under a name that a file gives."""
    refused(runtime, altered(made, lambda t, m: t.update({name: b"x"}), honest=False), "unsafe")
    assert not (tmp_path.parent / "evil").exists()


def test_a_link_is_unsafe(runtime: Runtime, made: Path, tmp_path: Path) -> None:
    """A member that says it is a symbolic link."""
    path = tmp_path / "link.pmz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members(made).items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o120777 if name == "definition.json" else 0o100600) << 16
            archive.writestr(info, data)
    refused(runtime, path, "unsafe", "link")


def test_a_member_twice(runtime: Runtime, made: Path, tmp_path: Path) -> None:
    """Readers differ in which of them they take."""
    entries = list(members(made).items())
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = write(tmp_path / "twice.pmz", [*entries, ("definition.json", b"{}")])
    refused(runtime, path, "twice")


def test_zeros_behind_a_small_zip(runtime: Runtime, made: Path, tmp_path: Path) -> None:
    """Two gigabytes that are told are refused before anything is written."""
    path = tmp_path / "bomb.pmz"
    told = manifest(made)
    told["members"]["tables/texts.parquet"]["bytes"] = 2 << 30
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members(made).items():
            if name not in ("manifest.json", "tables/texts.parquet"):
                archive.writestr(name, data)
        with archive.open("tables/texts.parquet", "w", force_zip64=True) as stream:
            for _ in range(2 << 7):
                stream.write(bytes(8 << 20))
        archive.writestr("manifest.json", json.dumps(told))
    assert path.stat().st_size < 16 << 20
    refused(runtime, path, "unfold")


def test_zeros_that_are_not_told(
    runtime: Runtime, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zip whose directory says less than it holds is stopped at what it says."""
    monkeypatch.setattr(container, "PORTABLE_FREE_BYTES", 8 << 20)
    path = tmp_path / "liar.pmz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members(made).items():
            zeros = name == "tables/texts.parquet"
            archive.writestr(name, bytes(32 << 20) if zeros else data)
    data = path.read_bytes()
    told = manifest(made)["members"]["tables/texts.parquet"]["bytes"]
    lied = data.replace(struct.pack("<I", 32 << 20), struct.pack("<I", told))
    path.write_bytes(lied)
    refused(runtime, path)


def test_a_row_group_that_unfolds_is_stopped(
    runtime: Runtime, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parquet packs a text that is repeated into almost nothing; what comes out is counted."""

    def many(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [rows[0] | {"sha256": f"{at:064x}", "text": "0" * 100_000} for at in range(300)]

    path = with_rows(made, "texts", many)
    monkeypatch.setattr(container, "PORTABLE_FREE_BYTES", 4 << 20)
    monkeypatch.setattr(container, "PORTABLE_MAX_RATIO", 2)
    assert path.stat().st_size < 1 << 20
    refused(runtime, path, "texts", "unfolds")
    monkeypatch.setattr(parquet, "PORTABLE_MAX_GROUP_BYTES", 10_000)
    refused(runtime, path, "row group")


def test_a_newer_version_says_upgrade(runtime: Runtime, made: Path) -> None:
    """Of the format, of the tables, of a single column."""
    for key in ("version", "state_schema"):
        path = altered(made, lambda t, m, key=key: m.update({key: 99}))  # type: ignore[misc]
        with pytest.raises(ExportTooNew) as caught:
            runtime.import_agent(path)
        assert "upgrade pagemind" in caught.value.hint
        refused(runtime, path, "newer pagemind", key)

    def column(there: dict[str, bytes], told: dict[str, Any]) -> None:
        told["tables"]["lines"]["columns"].append("colour")

    refused(runtime, altered(made, column), "colour", error=ExportTooNew)

    def table(there: dict[str, bytes], told: dict[str, Any]) -> None:
        told["tables"]["dreams"] = told["tables"]["lines"]

    refused(runtime, altered(made, table), "dreams", error=ExportTooNew)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"agents": [], "blocks": [], "tools": [], "files": []}', "Letta"),
        (b'{"agent_type": "memgpt_agent", "core_memory": []}', "Letta"),
        (b'[{"title": "x", "create_time": 1.0, "mapping": {}}]', "ChatGPT"),
        (b'[{"uuid": "x", "name": "y", "chat_messages": []}]', "Claude"),
        (b'[{"id": "x", "memory": "likes tea", "user_id": "sam"}]', "mem0"),
        (b'[{"role": "user", "content": "hello"}]', "OpenAI-style chat in JSON"),
        (b'{"messages": [{"role": "user", "content": "hello"}]}\n{"messages": []}\n', "lines"),
        (b'{"colour": "red"}', "JSON of no kind"),
        (b"name: ada\n", "text"),
        (b"", "empty"),
        (b"SQLite format 3\0" + bytes(100), "SQLite"),
        (b"\x7fELF\0\0\0\1", "no kind known"),
    ],
)
def test_a_file_of_another_tool_is_called_by_its_name(
    runtime: Runtime, tmp_path: Path, data: bytes, words: str
) -> None:
    """Told by what is in it, whatever it is called."""
    path = tmp_path / "ada.pmz"
    path.write_bytes(data)
    refused(runtime, path, words)


def test_a_zip_of_another_tool(runtime: Runtime, tmp_path: Path) -> None:
    """Data exports of chats are zips too."""
    entries = [("conversations.json", b"[]"), ("chat.html", b"")]
    refused(runtime, write(tmp_path / "a.zip", entries), "ChatGPT")
    refused(runtime, write(tmp_path / "b.zip", [("conversations.json", b"[]")]), "Claude")
    refused(runtime, write(tmp_path / "c.zip", [("photo.jpg", b"x")]), "zip of no kind")
    only = [("manifest.json", b'{"format": "something"}')]
    refused(runtime, write(tmp_path / "d.zip", only), "does not say that it holds an agent")


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b'{"format": "pagemind agent"}', b"[" * 100_000, b"\xff\xfe"]
)
def test_a_manifest_that_is_none(runtime: Runtime, tmp_path: Path, data: bytes) -> None:
    """Not JSON, not an object, without what it needs."""
    entries = [("manifest.json", data), ("definition.json", b"{}")]
    refused(runtime, write(tmp_path / "x.pmz", entries), "manifest")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["seq"], -1),
        (["seq"], "many"),
        (["members"], []),
        (["agent", "name"], None),
        (["tables", "messages", "sha256"], "abc"),
        (["tables", "messages", "columns"], ["id; DROP TABLE messages"]),
        (["tables", "messages", "mode"], "some"),
        (["embeddings", "identity"], "minilm"),
        (["sequences", "messages"], 1 << 70),
        (["agent", "model"], "a\x1b[2J"),
    ],
)
def test_a_manifest_that_is_malformed(
    runtime: Runtime, made: Path, path: list[str], value: object
) -> None:
    """Where, is said."""

    def change(there: dict[str, bytes], told: dict[str, Any]) -> None:
        for key in path[:-1]:
            told = told[key]
        told[path[-1]] = value

    refused(runtime, altered(made, change, honest=path != ["members"]), "manifest")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("line", "x"),
        ("line", "77"),
        ("window", "many"),
        ("protocol", "root"),
        ("conversation", "-1"),
        ("near me", "no"),
    ],
)
def test_a_meta_that_no_agent_has(runtime: Runtime, made: Path, key: str, value: str) -> None:
    """It would end the first command that reads it."""
    path = altered(made, lambda t, m: m["meta"].update({key: value}))
    refused(runtime, path, "line" if key == "line" else f"meta: {key}")


@pytest.mark.parametrize("key", ["tiers", "agent_id", "writer_epoch", "embedding", "definition"])
def test_a_home_s_own_meta_is_not_taken(runtime: Runtime, made: Path, key: str) -> None:
    """The folder of the tables above all: it would be a path."""
    path = altered(made, lambda t, m: m["meta"].update({key: "../../evil"}))
    runtime.import_agent(path)
    with runtime.reader("ada") as reader:
        assert reader.state.database.meta(key) != "../../evil"
        assert reader.state.tiers.parent == reader.folder


def rows(**changes: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    """The third row with other cells."""
    return lambda found: [row | changes if at == 2 else row for at, row in enumerate(found)]


@pytest.mark.parametrize(
    ("table", "change", "words"),
    [
        ("messages", lambda r: [*r, r[-1] | {"seq": r[-1]["seq"] + 1}], "twice"),
        ("messages", lambda r: [*r, r[-1] | {"id": "other"}], "twice"),
        ("messages", lambda r: r[:3] + r[4:], "seq"),
        ("messages", rows(content="{"), "content is no JSON"),
        ("messages", rows(content='{"v": 1}'), "cannot be read"),
        ("messages", rows(content='{"v": 1, "parts": 7}'), ""),
        ("messages", rows(content='{"v":1,"parts":[{"type":"text","text":"\\ud83c"}]}'), "half"),
        ("messages", rows(role="root"), "role"),
        ("messages", rows(origin="god"), "origin"),
        ("messages", rows(said_at="yesterday"), "said_at is no time"),
        ("messages", rows(turn=9999), "turn"),
        ("turns", rows(result="[]"), "result"),
        ("blocks", lambda r: [r[0] | {"value": "x" * 9999}], "blocks"),
        ("passages", lambda r: [*r, r[-1]], "twice"),
        ("passages", lambda r: [r[0] | {"text": "other"}, *r[1:]], "passages"),
        ("pages", lambda r: r[1:], "pages"),
        ("epochs", lambda r: r[:-1], "epoch"),
        ("texts", lambda r: r[:-1], ""),
        ("texts", lambda r: [r[0] | {"text": "other"}, *r[1:]], "texts"),
        ("line_ranges", lambda r: [r[0] | {"line": 77}], ""),
    ],
)
def test_rows_that_no_agent_has(
    runtime: Runtime, made: Path, table: str, change: Any, words: str
) -> None:
    """Duplicates, gaps, broken JSON, half characters, references to nothing: in a file whose
    checksums are all right."""
    refused(runtime, with_rows(made, table, change), words)


def test_a_table_of_another_type(runtime: Runtime, made: Path) -> None:
    """Parquet that is sound and not ours, and what is no Parquet."""
    import io

    import pyarrow as pa
    from pyarrow import parquet as pq

    def typed(there: dict[str, bytes], told: dict[str, Any]) -> None:
        buffer = io.BytesIO()
        old = pq.read_table(io.BytesIO(there["tables/lines.parquet"]))
        pq.write_table(old.set_column(0, "line", pa.array(["1"])), buffer)
        there["tables/lines.parquet"] = buffer.getvalue()

    refused(runtime, altered(made, typed), "line is string")

    def renamed(there: dict[str, bytes], told: dict[str, Any]) -> None:
        there["tables/lines.parquet"] = there["tables/pins.parquet"]

    refused(runtime, altered(made, renamed), "columns")

    def broken(there: dict[str, bytes], told: dict[str, Any]) -> None:
        there["tables/lines.parquet"] = b"PAR1" + bytes(50) + b"PAR1"

    refused(runtime, altered(made, broken), "Parquet")

    def latin(there: dict[str, bytes], told: dict[str, Any]) -> None:
        buffer = io.BytesIO()
        old = pq.read_table(io.BytesIO(there["tables/lines.parquet"]))
        raw = pa.array([b"caf\xe9"]).cast(pa.binary())
        bad = pa.Array.from_buffers(pa.string(), 1, raw.buffers())
        pq.write_table(old.set_column(1, "name", bad), buffer)
        there["tables/lines.parquet"] = buffer.getvalue()

    refused(runtime, altered(made, latin), "lines")


def test_vectors_that_do_not_fit_are_not_used(runtime: Runtime, made: Path) -> None:
    """Of another size than said; of other texts than they say."""

    def size(there: dict[str, bytes], told: dict[str, Any]) -> None:
        told["embeddings"]["identity"]["dimensions"] = 65

    done = runtime.import_agent(altered(made, size), name="a")
    assert done.embeddings == 0
    assert any("made anew" in note for note in done.notes)

    def swapped(there: dict[str, bytes], told: dict[str, Any]) -> None:
        there["embeddings/recall.parquet"] = there["embeddings/pages.parquet"]

    with pytest.raises(BadExport, match="row called"):
        runtime.import_agent(altered(made, swapped), name="b")
    assert [each.name for each in runtime.agents()] == ["a"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: [], "not a definition"),
        (lambda d: d | {"v": 99}, "newer"),
        (lambda d: d | {"definition": d["definition"] | {"tools": ["rm"]}}, "rm"),
        (lambda d: d | {"definition": d["definition"] | {"system": "/etc/hostname"}}, "hostname"),
        (lambda d: d | {"definition": d["definition"] | {"system": "${X:-../key.pem}"}}, "key.pem"),
        (lambda d: d | {"definition": d["definition"] | {"system": ["memgpt", "a.txt"]}}, "a.txt"),
        (lambda d: d | {"prompts": {"a.txt": 7}}, "not a definition"),
    ],
)
def test_a_definition_that_cannot_be_used(
    runtime: Runtime, made: Path, change: Any, words: str
) -> None:
    """It may name no file of this machine."""

    def rewrite(there: dict[str, bytes], told: dict[str, Any]) -> None:
        there["definition.json"] = json.dumps(change(json.loads(there["definition.json"]))).encode()

    refused(runtime, altered(made, rewrite), words)


def test_a_file_that_was_packed_again_is_fine(runtime: Runtime, made: Path, tmp_path: Path) -> None:
    """Unzipped and zipped by a person: compressed, in another order."""
    entries = sorted(members(made).items(), reverse=True)
    path = write(tmp_path / "again.pmz", entries, compression=zipfile.ZIP_DEFLATED)
    runtime.import_agent(path, name="eva")
    runtime.import_agent(made, name="ada")
    with runtime.reader("eva") as a, runtime.reader("ada") as b:
        assert tables(a) == tables(b)


def test_an_older_file_is_brought_up(runtime: Runtime, made: Path) -> None:
    """Columns and tables that a former version did not have get their defaults."""
    import io

    from pyarrow import parquet as pq

    from pagemind.runtime.portable.tables import Column, RowsDigest, Table

    def older(there: dict[str, bytes], told: dict[str, Any]) -> None:
        told["state_schema"] = 1
        for table in ("accesses", "documents"):
            del there[f"tables/{table}.parquet"], told["tables"][table]
        old = pq.read_table(io.BytesIO(there["tables/pages.parquet"]))
        new = old.drop_columns(["heat_turn"])
        buffer = io.BytesIO()
        pq.write_table(new, buffer)
        there["tables/pages.parquet"] = buffer.getvalue()
        columns = tuple(Column(name, "text", False) for name in new.schema.names)
        digest = RowsDigest(Table("pages", columns, (0,)))
        for row in new.to_pylist():
            digest.add(tuple(row.values()))
        told["tables"]["pages"] |= {"columns": new.schema.names, "sha256": digest.sha256}

    runtime.import_agent(altered(made, older))
    with runtime.reader("ada") as reader:
        assert reader.state.pages.count() > 0
        assert not reader.state.database.number("SELECT sum(heat_turn) FROM pages")
