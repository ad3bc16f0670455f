"""Each kind of file is read as text, and what cannot be read says why."""

import sys
from pathlib import Path

import pytest
from document_kit import docx, encrypted, pdf

from pagemind.runtime.documents import docx_reader, row_reader
from pagemind.runtime.documents.document import Broken, Document, Section
from pagemind.runtime.documents.passages import Cut, passages
from pagemind.runtime.documents.pdf_reader import read_pdf
from pagemind.runtime.documents.read import parse, read_document
from pagemind.runtime.errors import DocumentError
from pagemind.runtime.testing import FrozenClock


def document(name: str, data: bytes | str) -> Document:
    return parse(Path(name), data.encode() if isinstance(data, str) else data)


def sections(name: str, data: bytes | str) -> list[Section]:
    """All of it was read."""
    found = list(document(name, data).sections)
    assert not [each for each in found if isinstance(each, Broken)]
    return [each for each in found if isinstance(each, Section)]


def text(name: str, data: bytes | str) -> str:
    return "\n".join(section.text for section in sections(name, data))


def why(name: str, data: bytes | str) -> str:
    """Why the file cannot be read."""
    with pytest.raises(DocumentError) as caught:
        list(document(name, data).sections)
    return caught.value.message


def broken(name: str, data: str) -> list[tuple[str, str]]:
    """The parts of it that could not be read."""
    found = document(name, data).sections
    return [(each.where, each.why) for each in found if isinstance(each, Broken)]


# --- text -------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_text_is_read_in_every_unicode_encoding(codec: str) -> None:
    """Those without a mark are UTF-8; line ends become one."""
    assert text("a.txt", "Olá,\r\nFaial ⚓".encode(codec)) == "Olá,\nFaial ⚓"


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf_16_is_known_by_its_mark(mark: bytes) -> None:
    """Both byte orders."""
    codec = "utf-16-le" if mark == b"\xff\xfe" else "utf-16-be"
    assert text("a.txt", mark + "Horta".encode(codec)) == "Horta"


def test_what_is_no_text_says_so() -> None:
    """By its bytes, whatever its name; other encodings are named with the place."""
    assert why("a.txt", b"\x89PNG\r\n\x1a\n\0\0") == "is not a text file"
    assert why("a.txt", bytes(range(1, 32)) * 20 + b"\xff") == "is not a text file"
    assert why("a.txt", "Faial é ilha".encode("latin-1")) == "is not UTF-8 text (byte 6)"
    assert why("a.txt", b"\xff\xfeH\0o") == "is not UTF-16 text (byte 4)"
    assert why("a.txt", b" \n ") == "is empty"


def test_front_matter_gives_the_title() -> None:
    """It stays text too; its lines are no headings."""
    found = document("a.md", "---\ntitle: 'Ports'\ntags: x\n---\n# Horta\n\nBerth 42.\n")
    assert found.title == "Ports"
    front, rest = found.sections
    assert isinstance(front, Section)
    assert isinstance(rest, Section)
    assert (front.text, front.headings) == ("title: 'Ports'\ntags: x\n", False)
    assert (rest.text, rest.headings) == ("# Horta\n\nBerth 42.\n", True)


# --- HTML -------------------------------------------------------------------------------------


def test_html_is_read_without_what_is_no_text() -> None:
    """Scripts, styles and menus go; headings, tables, lists and the words of pictures stay."""
    page = """<html><head><title>Ports</title><style>p {}</style></head><body>
    <nav>Menu</nav><h1>Horta</h1><script>alert("x")</script><!-- a remark -->
    <p>Berth <a href="https://example.org/b">42</a> &amp; <b>43</b>.<ul><li>fuel<li>water</ul>
    <img src="x.png" alt="a map"><table><tr><th>day<td>time<tr><td>Monday<td>8_00</table>
    <footer>Imprint</footer></body></html>"""
    found = text("a.html", page)
    assert document("a.html", page).title == "Ports"
    for word in ("# Horta", "Berth 42 & **43**.", "- fuel", "- water", "a map", "Monday", "8_00"):
        assert word in found
    for word in ("alert", "p {}", "Menu", "Imprint", "remark", "example.org"):
        assert word not in found


def test_html_may_declare_its_encoding() -> None:
    """Without a declaration it is UTF-8."""
    page = '<meta charset="windows-1252"><p>caf\u00e9 \u2013 bar'
    assert text("a.htm", page.encode("windows-1252")) == "café – bar"
    assert text("a.htm", "<p>café") == "café"
    assert why("a.htm", "<p>café".encode("latin-1")) == "is not UTF-8 text (byte 6)"
    assert text("a.htm", '<meta charset="rot13"><p>x') == "x"


def test_html_that_is_nested_too_deeply_says_so() -> None:
    """No crash and no silent loss."""
    assert why("a.html", "<div>" * 20_000 + "deep") == "is nested too deeply"


# --- PDF --------------------------------------------------------------------------------------


def test_a_pdf_is_read_page_by_page() -> None:
    """Each passage knows its page."""
    found = sections("a.pdf", pdf(["Horta has 300 berths.", "", "Fuel is at the pier."]))
    assert [(s.text.strip(), dict(s.metadata)) for s in found] == [
        ("Horta has 300 berths.", {"page": 1}),
        ("Fuel is at the pier.", {"page": 3}),
    ]


def test_a_pdf_is_known_by_its_first_bytes() -> None:
    """Whatever its name."""
    assert "Horta" in text("report.txt", pdf(["Horta"]))


def test_a_password_is_said_unless_it_is_empty() -> None:
    """Many files are encrypted only against changes."""
    data = pdf(["Horta"])
    assert why("a.pdf", encrypted(data, "secret", "owner")) == "is a PDF with a password"
    assert "Horta" in text("a.pdf", encrypted(data, "", "owner"))


@pytest.mark.parametrize("data", [b"%PDF-1.4\nnothing", b"%PDF-", pdf(["Horta"])[:200], b"GIF89a"])
def test_a_broken_pdf_says_so(data: bytes) -> None:
    """One line."""
    said = why("a.pdf", data)
    assert said.startswith("is a broken PDF: ")
    assert "\n" not in said


def test_a_scanned_pdf_says_so() -> None:
    """Pages without text."""
    assert why("a.pdf", pdf(["", ""])) == "has no text (scanned?)"


def test_reading_a_pdf_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages, text and time are bounded."""
    clock = FrozenClock()
    pages = read_pdf(pdf(["one", "two"]), clock).sections
    next(pages)
    clock.advance(hours=1)
    with pytest.raises(DocumentError, match=r"takes more than 600 seconds \(page 2\)"):
        next(pages)
    monkeypatch.setattr("pagemind.runtime.documents.pdf_reader.TEXT_BYTES", 5)
    assert why("a.pdf", pdf(["123456"])) == "has more than 5 characters of text"
    monkeypatch.setattr("pagemind.runtime.documents.pdf_reader.PDF_PAGES", 1)
    assert why("a.pdf", pdf(["1", "2"])) == "has more than 1 pages"


# --- DOCX -------------------------------------------------------------------------------------


def test_a_docx_keeps_its_headings() -> None:
    """As Markdown."""
    data = docx([("Heading1", "Horta"), ("Normal", "Berth 42 & 43.")])
    assert text("a.docx", data) == "# Horta\n\nBerth 42 & 43."


def test_a_docx_that_cannot_be_read_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken, empty, with a password, or a bomb, which is never unpacked."""
    good = docx([("Normal", "Horta")])
    assert why("a.docx", b"no archive").startswith("is a broken DOCX: ")
    assert why("a.docx", good[: len(good) // 2]).startswith("is a broken DOCX: ")
    assert why("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 600) == (
        "is a Word file with a password, or one older than DOCX"
    )
    bomb = docx([("Normal", "Horta")], filler=20 << 20)
    assert len(bomb) < 100_000
    monkeypatch.setattr(docx_reader, "of_html", lambda *_: pytest.fail("it was unpacked"))
    assert why("a.docx", bomb) == "has more than 16,777,216 bytes of text when unpacked"


# --- rows -------------------------------------------------------------------------------------


def test_a_csv_row_is_a_text_with_its_columns() -> None:
    """Quotes, commas and line ends inside; empty cells are left out."""
    rows = sections("a.csv", 'port,note\nHorta,"300 berths, ""blue"" flag\nfuel"\nLajes,\n\n')
    assert [(row.text, row.metadata["row"]) for row in rows] == [
        ('port: Horta\nnote: 300 berths, "blue" flag\nfuel', 2),
        ("port: Lajes", 4),
    ]
    assert text("a.csv", "port;berths\nHorta;300\n") == "port: Horta\nberths: 300"
    assert text("a.tsv", "port\tberths\nHorta\t300\n") == "port: Horta\nberths: 300"


def test_a_broken_csv_row_is_said() -> None:
    """The others are read."""
    data = 'port,berths\nHorta,300\nLajes,80,x\n"Velas"y,1\nMadalena,50\n"open,2\nlast,3\n'
    assert broken("a.csv", data) == [
        ("row 3", "has 3 fields, and there are 2 columns"),
        ("row 4", "',' expected after '\"'"),
        ("row 6", "has a quote that is not closed"),
    ]
    found = [s.text for s in document("a.csv", data).sections if isinstance(s, Section)]
    assert found == ["port: Horta\nberths: 300", "port: Madalena\nberths: 50"]
    assert "field of more than" in why("a.csv", 'a,b\n1,"' + "x\n" * 100_000)


def test_a_jsonl_row_is_its_text_or_its_fields() -> None:
    """What stands beside the text is metadata."""
    data = '{"text": "Berth 42.", "port": "Horta"}\n\n{"port": "Lajes", "n": [1]}\n"plain"\n'
    rows = sections("a.jsonl", data)
    assert [(row.text, dict(row.metadata)) for row in rows] == [
        ("Berth 42.", {"row": 1, "fields": {"port": "Horta"}}),
        ("port: Lajes\nn: [1]", {"row": 3}),
        ("plain", {"row": 4}),
    ]


def test_a_broken_jsonl_row_is_said() -> None:
    """Not JSON, no object, no text, nested without end."""
    rows = ['{"text": "x"', "[1]", '{"text": " "}', '{"a": NaN}', "[" * 100_000, '{"text": "ok"}']
    found = broken("a.jsonl", "\n".join(rows))
    assert [where for where, _ in found] == [f"row {n}" for n in range(1, 6)]
    assert found[0][1].startswith("is not JSON: ")
    assert found[1][1] == "is neither an object nor a text"
    assert found[2][1] == "has no text"
    assert found[3][1] == "is not JSON: NaN is no value"
    assert found[4][1] == "is nested too deeply"


def test_a_field_that_is_too_long_does_not_cost_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedding beside the text is left out, which is said."""
    monkeypatch.setattr(row_reader, "ROW_METADATA_CHARS", 20)
    line = '{"text": "Berth 42.", "vector": [0.1, 0.2, 0.3, 0.4, 0.5], "port": "Horta"}'
    said, row = document("a.jsonl", line).sections
    assert said == Broken("row 1", "was kept without its 'vector', which is too long")
    assert row == Section("Berth 42.", metadata={"row": 1, "fields": {"port": "Horta"}})


# --- all of them ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "library", "data"),
    [
        ("a.pdf", "pypdf", pdf(["x"])),
        ("a.html", "markdownify", b"<p>x"),
        ("a.docx", "mammoth", docx([("Normal", "x")])),
    ],
)
def test_a_missing_library_says_what_to_install(
    name: str, library: str, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the command."""
    monkeypatch.setitem(sys.modules, library, None)
    said = why(name, data)
    assert said.startswith("needs pagemind[documents]: pip install 'pagemind[documents]'")


def test_a_file_that_is_none_says_so(tmp_path: Path) -> None:
    """Absent, a folder, a pipe, too large."""
    import os

    (tmp_path / "big.txt").touch()
    os.truncate(tmp_path / "big.txt", (64 << 20) + 1)
    os.mkfifo(tmp_path / "pipe")
    for name, said in {
        "none.txt": "no such file or directory",
        ".": "is a folder",
        "pipe": "is not a file",
        "big.txt": "has more than 67,108,864 bytes",
    }.items():
        with pytest.raises(DocumentError) as caught:
            read_document(tmp_path / name)
        assert caught.value.message == said


def test_a_passage_says_where_it_stands() -> None:
    """In its metadata, and in a line above its text."""
    page = f"<title>Ports</title><h1>Azores</h1><h2>Horta</h2><p>{'Berth. ' * 300}"
    cuts = [cut for cut in passages(document("a.html", page)) if isinstance(cut, Cut)]
    assert cuts[0].text.startswith("Ports\n\n# Azores\n\n## Horta\n\nBerth.")
    assert cuts[0].metadata == {"title": "Ports"}
    assert cuts[1].text.startswith("Ports › Azores › Horta\n\nBerth.")
    assert cuts[1].metadata == {"title": "Ports", "section": "Azores › Horta"}
