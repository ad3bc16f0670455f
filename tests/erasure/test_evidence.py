"""What rests on what is erased: deleted, or made anew out of what is left."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.core_memory import Block
from pagemind.runtime.erasure.closure import plan_of
from pagemind.runtime.erasure.echoes import Echoes
from pagemind.runtime.erasure.named import Named
from pagemind.runtime.erasure.plan import Plan
from pagemind.runtime.erasure.scrub import scrub
from pagemind.runtime.erasure.wanted import wanted
from pagemind.runtime.invariants import check_state
from pagemind.runtime.message import Message, Origin, Provenance, Text
from pagemind.runtime.passage import Facets, Passage
from pagemind.runtime.state.state import State


class Book:
    """A state.db that is written by hand."""

    def __init__(self, folder: Path) -> None:
        self.state = State(folder, FrozenClock())
        self.state.journal.open_first_line()

    def say(self, text: str, speaker: str = "Sam", turn: int = 0) -> str:
        message = Message("user", (Text(text),), speaker=speaker, turn=turn)
        return self.state.journal.append(message, tokens=5)[0].short_id

    def keep(
        self,
        text: str,
        *sources: str,
        origin: Origin = "model",
        how: str = "from",
        detail: str = "",
        **facets: object,
    ) -> Passage:
        made, _ = self.state.passages.insert(
            text,
            tags=(),
            importance=None,
            metadata={},
            seq=self.state.journal.last_seq,
            provenance=Provenance(origin, detail, sources=sources if how == "from" else ()),
            author=origin,
            facets=Facets(**facets),  # type: ignore[arg-type] # as the test says
        )
        if how != "from":
            self.state.lineage.add(made.short_id, sources, how, seq=1)  # type: ignore[arg-type] # same
        return made

    def erase(self, **way: object) -> Plan:
        plan = plan_of(self.state, wanted(**way))  # type: ignore[arg-type] # same
        scrub(self.state, plan)
        assert not [each for each in check_state(self.state) if each.status == "wrong"]
        return plan

    def texts(self) -> list[str]:
        return [row["text"] for row in self.state.database.rows("SELECT text FROM passages")]

    def all_texts(self) -> str:
        """Of all versions."""
        rows = self.state.database.rows("SELECT * FROM passage_versions")
        return "\n".join(str(tuple(row)) for row in rows)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    made = Book(tmp_path)
    yield made
    made.state.close()


def test_a_fact_stays_where_another_source_says_it(book: Book) -> None:
    """With the sources that remain; one that only the erased had said goes."""
    one = book.say("My sister Ines lives in Porto.")
    two = book.say("Ines told me that she lives in Porto, by the river.")
    fact = {"kind": "fact", "subject": "Ines", "relation": "lives_in", "object": "Porto"}
    both = book.keep("Ines lives in Porto", one, two, **fact)
    fact["object"] = "a tower"
    book.keep("Ines lives in a tower", one, **fact)
    plan = book.erase(ids=[one])
    assert book.texts() == ["Ines lives in Porto"]
    assert book.state.passages.get([both.number])[both.number].provenance.sources == (two,)
    assert [edge.source for edge in book.state.lineage.sources_of(both.short_id)] == [two]
    assert "a2" in plan.derived


def test_what_was_drawn_from_several_goes_with_one_of_them(book: Book) -> None:
    """An insight, and what rests on that; the evidence that is left stays."""
    one = book.say("I slept badly on Monday.")
    first = book.keep("Sam slept badly on Monday", one)
    second = book.keep("Sam slept badly on Friday", book.say("And on Friday again."))
    insight = book.keep(
        "Sam sleeps badly", first.short_id, second.short_id, how="evidence", kind="insight"
    )
    book.keep("Sam should rest", insight.short_id, how="evidence", kind="digest")
    book.erase(ids=[one])
    assert book.texts() == ["Sam slept badly on Friday"]


def test_a_record_goes_back_to_what_is_still_said(book: Book) -> None:
    """A version that came from the erased is in no version any more."""
    note = book.keep("The bakery opens at seven", book.say("The bakery opens at seven."))
    two = book.say("The owner of the bakery is Dr. Quill-77.")
    book.state.passages.edit(
        note.number,
        "The bakery opens at seven; its owner is Dr. Quill-77",
        author="worker",
        reason="merged",
        seq=2,
    )
    book.state.lineage.add(note.short_id, [two], "merged", seq=2, version=2)
    plan = book.erase(ids=[two])
    assert plan.kept == ("a1@1",)
    assert book.texts() == ["The bakery opens at seven"]
    assert "Quill" not in book.all_texts()


def test_what_was_superseded_does_not_hold_again(book: Book) -> None:
    """The record that took its place is gone; it is over all the same, and points at nothing."""
    old = book.keep("Works at the mill", book.say("I work at the mill."), kind="fact")
    two = book.say("I work at the bank now.")
    new = book.keep("Works at the bank", two, kind="fact")
    facets = Facets("fact", superseded_by=new.number)
    book.state.passages.edit(old.number, None, facets=facets, author="model", reason="", seq=2)
    book.state.lineage.add(new.short_id, [old.short_id], "supersedes", seq=2)
    book.erase(ids=[two])
    left = book.state.passages.get([old.number])[old.number]
    assert left.facets.superseded_by is None
    assert left.closed
    assert book.texts() == ["Works at the mill"]


def test_somebody_goes_by_all_their_names(book: Book) -> None:
    """What they said, what names them as one who is known by it, facts about them, the entity; not
    a word of who is called nearly the same."""
    entities = book.state.entities
    dana = entities.make("Dana Reyes", "dana reyes", seq=1)
    entities.also(dana, "Dee", "dee", how="said", seq=1)
    entities.also(dana, "she", "she", how="said", seq=1)
    robin = entities.make("Robin", "robin", seq=1)
    book.say("I have a boat.", speaker="Dana Reyes")
    book.say("She has it from dana.reyes@example.org.")
    book.say("Dee's boat is red.")
    kept = book.say("Danaë and Deepak like she-oaks.", speaker="Robin")
    book.keep("The boat is red", kept, kind="fact", subject_entity=dana, subject="Dana")
    book.keep("Robin likes trees", kept, kind="fact", subject_entity=robin)
    plan = book.erase(subject="dana  REYES")
    assert plan.messages == (1, 2, 3)
    assert plan.entities == (dana,)
    assert book.texts() == ["Robin likes trees"]
    assert list(book.state.entities.get([dana, robin])) == [robin]
    assert book.state.journal.speakers() == ["Robin"]


def test_a_file_goes_with_all_its_pieces(book: Book) -> None:
    """By its path or its name alone; what another file says stays."""
    for path in ("/papers/boat.md", "/papers/tree.md"):
        pieces = [book.keep(f"{path} piece {n}", origin="document", detail=path) for n in (1, 2)]
        book.state.documents.put(path, "00" * 32, [piece.number for piece in pieces])
    book.erase(source="boat.md")
    assert book.texts() == ["/papers/tree.md piece 1", "/papers/tree.md piece 2"]
    rows = book.state.database.rows("SELECT source FROM documents UNION SELECT source FROM"
                                    " document_versions")  # fmt: skip
    assert [row["source"] for row in rows] == ["/papers/tree.md"]


def test_a_profile_loses_the_field(book: Book) -> None:
    """And stays JSON: the other fields are as they were, in every version."""
    one = book.say("My dog is called Biscuit.")
    value = {"pets": [{"name": "Biscuit", "kind": "dog"}], "city": "Lisbon"}
    first = {"city": "Lisbon"}
    for version, each in enumerate((first, value), 1):
        text = json.dumps(each)
        book.state.blocks.save(
            Block("human", text, 400, "", False, version),
            author="model",
            reason="set",
            seq=1,
            origin="model",
            trust=None,
        )
    book.state.lineage.add("block:human", [one], "from", seq=1, version=2)
    book.erase(ids=[one])
    values = [json.loads(v.value) for v in book.state.blocks.history("human")]
    assert values == [first, {"pets": [], "city": "Lisbon"}]
    assert "Biscuit" not in book.state.blocks.all()[0].value


def test_a_line_said_anew_goes_with_its_first_wording(book: Book) -> None:
    """The agent rewrote it in another turn: it is the same line."""
    one, two = book.say("I am allergic to walnuts."), book.say("Please tidy your notes.")
    for version, (text, source) in enumerate(
        (("Likes tea.\nAllergic to walnuts.", one), ("Likes tea.\nSam: allergic, walnuts!", two)), 1
    ):
        book.state.blocks.save(
            Block("human", text, 400, "", False, version),
            author="model",
            reason="edit",
            seq=version,
            origin="model",
            trust=None,
        )
        book.state.lineage.add("block:human", [source], "from", seq=version, version=version)
    before = book.state.blocks.all()[0].value
    book.erase(ids=[one])
    assert "walnuts" in before
    assert "walnuts" not in str(book.state.blocks.history("human"))


def test_a_planned_change_goes_with_its_source(book: Book) -> None:
    """Whatever became of it; others wait on."""
    one, two = book.say("My code is 4471."), book.say("I like jazz.")
    for text, source in (("The code is 4471", one), ("Likes jazz", two)):
        book.state.changes.add(
            "extract", "add", {"text": text}, state="pending", seq=1, sources=[source], trust=80
        )
    plan = book.erase(ids=[one])
    assert plan.changes == (1,)
    left = book.state.changes.in_state("pending")
    assert [change.body["text"] for change in left] == ["Likes jazz"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Ask Dana Reyes.", True),
        ("dana reyes's boat", True),
        ("dana\u200b reyes", True),
        ("DANA-REYES", True),
        ("ｄａｎａ reyes", True),
        ("Dana and Reyes", False),
        ("Danae Reyes", False),
        ("dana reyesland", False),
    ],
)
def test_a_name_is_found_however_it_is_written(text: str, named: bool) -> None:
    """And not in a longer word."""
    assert Named(["Dana Reyes"])(text) is named


def test_a_name_that_is_a_word_counts_with_its_capital() -> None:
    """Will is asked, and nothing that will be."""
    assert Named(["Will"])("Ask Will about it.")
    assert not Named(["Will"])("It will be fine.")


def test_only_what_nobody_else_said_is_an_echo() -> None:
    """Names and numbers by themselves, other words in runs."""
    echoes = Echoes(
        said=["My locker in Hall Verne has the code 4471, says Ottilie Brandt to everybody."],
        made=["I have noted your locker and shall gladly help you with anything else: A-1784."],
        staying=["The code of Hall Verne is easy. He says it to everybody."],
    )
    assert "It is 4471." in echoes
    assert "Is my locker in Hall Verne has the code?" in echoes
    assert "Ask Ms Ottilie Brandt." in echoes
    assert "It was A-1784." in echoes
    assert "Hall Verne is large." not in echoes
    assert "Otto knows Ottilie." not in echoes
    assert "I shall gladly help you with anything else" not in echoes
    for usual in ("10:30am", "2.5km", "2026-05-08", "3,000", "2000", "12:45"):
        assert f"It is {usual}." not in Echoes([f"Dana said {usual}."])
    for code in ("4471", "ab-123", "+351-912-345-678", "dana@example.org"):
        assert f"It is {code}." in Echoes([f"Dana said {code}."])
    assert "thank you so much for your help" not in Echoes(["Thank you so much for your time!"])
