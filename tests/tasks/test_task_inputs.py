"""Inputs stream, in an order that is always the same, each with what it is known by."""

import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagemind.runtime.errors import TemplateError, UserError
from pagemind.runtime.tasks.inputs import Input, Source
from pagemind.runtime.tasks.parts import Inputs
from pagemind.runtime.tasks.text import Fields, Text


def source(folder: Path, **spec: object) -> Source:
    return Source(Inputs.model_validate(spec), folder)


def keys(found: Source) -> list[str]:
    return [one.key for one in found]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.md", "a.md", "sub/c.md", "sub/deep/d.md", "x.txt", ".hidden/e.md"):
        path = tmp_path / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}", encoding="utf-8")
    return tmp_path


def test_files_by_pattern(folder: Path) -> None:
    """Sorted; ** is any folders; a plain path is itself; what is hidden stays so."""
    assert keys(source(folder, files="notes/*.md")) == ["notes/a.md", "notes/b.md"]
    assert keys(source(folder, files="notes/**/*.md")) == [
        *("notes/a.md", "notes/b.md", "notes/sub/c.md", "notes/sub/deep/d.md")
    ]
    assert keys(source(folder, files=["notes/x.txt", "notes/[b]*"])) == [
        *("notes/x.txt", "notes/b.md")
    ]
    assert len(keys(source(folder, tree="notes"))) == 5


def test_an_unreadable_file_is_a_fault_of_its_own(folder: Path) -> None:
    """Not UTF-8, binary, empty: the others are read."""
    (folder / "notes" / "a.md").write_bytes(b"\xff\xfe\xfa")
    (folder / "notes" / "b.md").write_bytes(b"a\x00b")
    (folder / "notes" / "c.md").write_bytes(b" \n")
    found = list(source(folder, files="notes/*"))
    assert [one.fault for one in found] == [*("not UTF-8 text", "not a text file", "is empty", "")]


def test_rows_of_a_table(tmp_path: Path) -> None:
    """Columns are fields; a row with too many is a fault; the order is that of the file."""
    (tmp_path / "t.csv").write_text('name,what is\nSam,"a, b"\n\nEva,c,d\nIan\n', encoding="utf-8")
    found = list(source(tmp_path, csv="t.csv"))
    assert [one.value["name"] for one in found] == ["Sam", "Eva", "Ian"]
    assert found[0].value["what is"] == "a, b"
    assert "has 3 fields" in found[1].fault
    assert Text.parse("{{ input.what is }}!").fill({"input": found[0].value}) == "a, b!"


def test_values_a_line(tmp_path: Path) -> None:
    """An object has fields, any other value is itself; what is no JSON is a fault."""
    (tmp_path / "v.jsonl").write_text('{"a": [1, 2]}\n"text"\n{broken\n', encoding="utf-8")
    one, two, three = source(tmp_path, jsonl="v.jsonl")
    assert Text.parse("{{ input.a.1 }}").fill({"input": one.value}) == "2"
    assert Text.parse("{{ input }}").fill({"input": two.value}) == "text"
    assert three.fault == "not a JSON value"


def test_standard_input() -> None:
    """It cannot be counted, and is read once."""
    spec = Inputs.model_validate({"stdin": "lines"})
    found = Source(spec, Path(), io.StringIO("a\nb\n"))
    assert found.count() is None
    assert [one.value["text"] for one in found] == ["a", "b"]


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"files": "none/*.md"}, "matches no file"),
        ({"tree": "none"}, "is no folder"),
        ({"lines": "none.txt"}, "no such file"),
        ({"csv": "empty.csv"}, "is empty"),
    ],
)
def test_missing_inputs_are_told_before_anything(
    tmp_path: Path, spec: dict[str, str], says: str
) -> None:
    """With the path that was looked at."""
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match=says) as told:
        source(tmp_path, **spec).check()
    assert str(tmp_path) in told.value.message


def test_a_million_inputs_stream(tmp_path: Path) -> None:
    """They are counted and gone through in the memory of a few."""
    with (tmp_path / "many.txt").open("w", encoding="utf-8") as file:
        file.writelines(f"line {number}\n" for number in range(1_000_000))
    found = source(tmp_path, lines="many.txt")
    last: Input | None = None
    tracemalloc.start()
    try:
        for number, one in enumerate(found, 1):
            last = one
            if number == 10_000:
                break
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert last is not None
    assert last.label == "many.txt:10000"
    assert peak < 2 << 20
    assert found.count() == 1_000_000


@given(st.text(), st.text())
def test_all_but_variables_is_literal(before: str, value: str) -> None:
    """A value that is filled in is not read again."""
    before = before.replace("{", "(")
    text = Text.parse(before + "{{ input }}")
    assert text.fill({"input": Fields({"": value})}) == before + value


def test_what_is_not_known_is_told(tmp_path: Path) -> None:
    """With the nearest; a text has no fields; double braces hold a path alone."""
    with pytest.raises(TemplateError, match="did you mean 'reply'"):
        Text.parse("{{ repyl }}").fill({"reply": "x"})
    with pytest.raises(ValueError, match="is no variable"):
        Text.parse("{{ 1 + 1 }}")
    assert Text.parse('{{"a": 1}} { x }').fill({}) == '{{"a": 1}} { x }'
