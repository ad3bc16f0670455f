"""The inspector's page: whole, safe whatever was said, alone, and written with little memory."""

import base64
import hashlib
import re
import tracemalloc
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from inspector_kit import NASTY, embedded, lively, page_of, reading
from kernel_kit import agent_at, small

from pagemind.runtime.inspector.page import SCRIPTS, asset, write_page
from pagemind.runtime.inspector.tables import TABLES
from pagemind.runtime.message import Message, Provenance, Text
from pagemind.runtime.settings import INSPECTOR_TEXT_CHARS
from pagemind.runtime.testing import ScriptedModel


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    lively(home)
    return home


@pytest.fixture(scope="module")
def page(home: Path) -> str:
    return page_of(home)


class _Elements(HTMLParser):
    """Elements with their attributes, and the text of styles and scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._in = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._in = f"{tag} {dict(attrs).get('type', '')}".strip()

    def handle_data(self, data: str) -> None:
        if self._in:
            self.texts[self._in] = self.texts.get(self._in, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._in = ""


# --- what stands in it ----------------------------------------------------------------------------


def test_every_row_of_every_table_is_embedded(home: Path, page: str) -> None:
    """As many as the database has, each with a value for every field."""
    tables = embedded(page)
    with reading(home) as reader:
        for table, name in {
            "messages": "messages",
            "turns": "turns",
            "steps": "steps",
            "epochs": "epochs",
            "summaries": "summaries",
            "pages": "pages",
            "passages": "passages",
            "passage_versions": "passage_versions",
            "blocks": "block_versions",
        }.items():
            rows = reader.state.database.number(f"SELECT count(*) FROM {name}")
            assert len(tables[table]) == rows > 0, table
            assert {len(row) for row in tables[table]} == {len(TABLES[table])}, table


def test_messages_stand_there_word_for_word(home: Path, page: str) -> None:
    """In their order, with who said them, in which turn and whether they are still lived."""
    fields = TABLES["messages"]
    rows = [dict(zip(fields, row, strict=True)) for row in embedded(page)["messages"]]
    with reading(home) as reader:
        journal = reader.state.journal
        for message, tokens, _ in journal.range(1, journal.last_seq):
            row = rows[message.seq - 1]
            assert (row["seq"], row["turn"], row["tokens"]) == (message.seq, message.turn, tokens)
            assert row["text"] == message.text or message.kind == "reading"
            assert row["live"] is True
            assert [name for name, _ in row["calls"]] == [c.name for c in message.tool_calls]
    assert any(NASTY in row["text"] for row in rows)


def test_the_window_is_that_of_inspect(home: Path, page: str) -> None:
    """The same numbers as `inspect --json`."""
    (about,) = embedded(page)["about"]
    with reading(home) as reader:
        assert about["window"] == reader.inspect().as_json()
    assert about["name"] == "ada"
    assert about["zone"] == "Europe/Lisbon"


def test_an_agent_that_was_told_nothing_has_a_page(tmp_path: Path) -> None:
    """Without turns, pages, passages or messages."""
    with agent_at(tmp_path, ScriptedModel()):
        pass
    tables = embedded(page_of(tmp_path))
    assert "messages" not in tables
    assert tables["about"][0]["window"]["pages"] == 0


def test_a_very_long_message_is_cut_and_says_so(tmp_path: Path) -> None:
    """Its start is there; the page stays small."""
    with agent_at(tmp_path, ScriptedModel(), small(8192)) as agent:
        agent.observe("long " * INSPECTOR_TEXT_CHARS, source="file")
    (row,) = embedded(page_of(tmp_path))["messages"]
    text = row[TABLES["messages"].index("text")]
    assert text.startswith("long long")
    assert text.endswith(f"[… {4 * INSPECTOR_TEXT_CHARS:,} more characters]")


def test_what_was_taken_back_is_marked(tmp_path: Path) -> None:
    """It is there, and not live: messages by their number, pages by their line."""
    lively(tmp_path, 12)
    with agent_at(tmp_path, ScriptedModel(after="I see.")) as agent:
        first = agent.state.journal.last_seq + 1
        agent.send("Forget this.")
        last = agent.state.journal.last_seq
        agent.undo(1)
        agent.send("And this stays.")
    tables = embedded(page_of(tmp_path))
    messages = [dict(zip(TABLES["messages"], row, strict=True)) for row in tables["messages"]]
    dead = [row["seq"] for row in messages if not row["live"]]
    assert dead == list(range(first, last + 1))
    assert messages[first - 1]["text"] == "Forget this."
    with reading(tmp_path) as reader:
        numbers = [page.number for page in reader.state.pages.all()]
    pages = [dict(zip(TABLES["pages"], row, strict=True)) for row in tables["pages"]]
    assert [p["number"] for p in pages if p["live"] and p["kind"] == "page"] == numbers


# --- that nothing of it can do harm ---------------------------------------------------------------


def test_nothing_said_becomes_markup(page: str) -> None:
    """The page has the elements of its template and the data's, whatever messages hold."""
    elements = _Elements(page)
    template = Counter(tag for tag, _ in _Elements(asset("page.html")).found)
    data = sum(attributes.get("type") == "text/plain" for _, attributes in elements.found)
    assert Counter(tag for tag, _ in elements.found) == template + Counter(script=data)
    assert "hacked" not in page
    for _, attributes in elements.found:
        assert not any(name.startswith("on") for name in attributes)


def test_a_name_that_is_markup_is_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are checked when they are made, but the page does not rely on it."""
    lively(tmp_path, 1)
    written: list[str] = []
    with reading(tmp_path) as reader:
        reader.name = "</title><script>alert(1)</script>"
        write_page(written.append, reader)
    assert "<script>alert" not in "".join(written)
    assert "&lt;/title&gt;&lt;script&gt;alert(1)" in "".join(written)


def test_its_policy_allows_its_own_style_and_script_only(page: str) -> None:
    """By their hashes, so that anything else could not run even if it got in."""
    elements = _Elements(page)
    policy = next(
        attributes["content"]
        for _, attributes in elements.found
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for rule, text in (("style-src", "style"), ("script-src", "script module")):
        digest = hashlib.sha256(elements.texts[text].encode()).digest()
        assert rules[rule] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert "unsafe" not in policy


def test_it_needs_no_network(page: str) -> None:
    """No address but the name of the SVG namespace, nothing that loads."""
    shell = re.sub(r'(<script type="text/plain"[^>]*>)[^<]*', r"\1", page)
    addresses = set(re.findall(r"https?://[^\"'\s)]+", shell))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    for loading in ("@import", "url(", "fetch(", "XMLHttpRequest", "WebSocket", "import(", "src="):
        assert loading not in shell, loading


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_make_text_and_never_markup(name: str) -> None:
    """Nothing that parses a string as HTML or runs one."""
    script = asset(name)
    for parsing in (
        "innerHTML outerHTML insertAdjacentHTML document.write eval( Function( DOMParser setHTML"
        " createContextualFragment srcdoc </script <!--"
    ).split():
        assert parsing not in script, parsing


# --- that a person can use it ---------------------------------------------------------------------


def test_its_structure_is_there_for_those_who_do_not_see_it(page: str) -> None:
    """A language, one first heading, views with headings of their own, a way past the links."""
    found = _Elements(page).found
    assert ("html", {"lang": "en"}) in found
    assert [tag for tag, _ in found if re.fullmatch(r"h\d", tag)] == ["h1", *["h2"] * 6]
    ids = {attributes["id"] for _, attributes in found if "id" in attributes}
    for tag, attributes in found:
        if tag == "section":
            assert attributes["aria-labelledby"] in ids
    links = [attributes["href"] for tag, attributes in found if tag == "a"]
    views = [str(link).removeprefix("#") for link in links[1:]]
    assert links[0] == "#content"
    assert {f"view-{name}" for name in views} <= ids


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_on_their_ground(scheme: str) -> None:
    """Contrast of 4.5 and more (WCAG AA) for text, of 3 for what tells sections apart."""
    light, dark = asset("page.css").split("@media (prefers-color-scheme: dark)", 1)
    colours = dict(re.findall(r"--([\w-]+): (#\w{6});", light))
    if scheme == "dark":
        colours |= dict(re.findall(r"--([\w-]+): (#\w{6});", dark))
    for ground in ("ground", "raised", "chosen"):
        for words in ("text", "quiet", "link", "good", "warn", "bad"):
            assert contrast(colours[words], colours[ground]) >= 4.5, (words, ground)
    for ground in ("new", "old", "mark"):
        assert contrast(colours["text"], colours[ground]) >= 4.5, ground
    assert contrast(colours["focus"], colours["ground"]) >= 3
    assert contrast(colours["tools"], colours["raised"]) >= 4.5  # names of functions have it


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


# --- how it is written ----------------------------------------------------------------------------


def test_memory_stays_flat(tmp_path: Path) -> None:
    """Ten times the messages take no more memory to write; each piece is gone before the next."""
    peaks = []
    for number, rows in enumerate((1_500, 15_000)):
        home = tmp_path / str(number)
        home.mkdir()
        with agent_at(home, ScriptedModel()) as agent:
            fill(agent.state.database, rows)
        with reading(home) as reader:
            write_page(lambda text: None, reader)  # what is loaded once is loaded
            tracemalloc.start()
            write_page(lambda text: None, reader)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def fill(database: Any, rows: int) -> None:
    """So many messages, written straight into the table."""
    from pagemind.runtime.message import parts_to_json

    content = parts_to_json(Message("user", (Text("words and more words " * 8),)))
    at, who = "2026-01-05T09:00:00.000000Z", Provenance()
    database.write_many(
        "INSERT INTO messages (seq, id, role, kind, content, turn, conversation, speaker, said_at,"
        " recorded_at, tokens, origin, trust) VALUES (?,?,'user','notice',?,1,1,'Sam',?,?,40,?,?)",
        [(n, f"id{n}", content, at, at, who.origin, who.trust) for n in range(1, rows + 1)],
    )
    database.write("UPDATE epochs SET queue_start = ?", (rows,))  # all but one have left the window


def test_packing_pays(page: str, home: Path) -> None:
    """The data takes less than half of what it would as plain JSON."""
    import json

    packed = sum(len(text) for text in re.findall(r'data-rows="\d+">([^<]*)<', page))
    plain = len(json.dumps(embedded(page), ensure_ascii=False).encode())
    assert packed < plain / 2
