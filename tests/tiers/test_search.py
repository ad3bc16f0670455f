"""Search over a real LanceDB, the outbox and a small authority."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tier_fakes import START, Authority, AuthorityView, BrokenEmbedder

from pagemind.runtime.message import Provenance, Text
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.models.hashing_embedder import HashingEmbedder
from pagemind.runtime.outbox import Tier
from pagemind.runtime.services import Hit, SearchFilters
from pagemind.runtime.settings import SEARCH_WEIGHTS
from pagemind.runtime.tiers.schema import embedded_text, rows_of_message, rows_of_passage
from pagemind.runtime.tiers.search import Search, TierSearch
from pagemind.runtime.tiers.store import TierStore

ANY = SearchFilters()
MEANINGS = {"vessel": "boat", "ship": "boat", "pup": "dog", "hound": "dog"}


class MeaningEmbedder(HashingEmbedder):
    """Knows a few synonyms: enough to tell meaning from words."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.extend(texts)
        return super().embed([" ".join(MEANINGS.get(w, w) for w in t.split()) for t in texts])


class World:
    """An authority, its tiers and their search."""

    def __init__(self, folder: Path, embedder: HashingEmbedder | BrokenEmbedder | None) -> None:
        self.authority = Authority()
        self.embedder = embedder
        self.store = TierStore(folder / "lance", embedder.identity if embedder else None)
        self.search = Search(self.store, embedder, AuthorityView(self.authority))

    def write(self, *, vectors: bool = True) -> None:
        """Carry everything over, as WriteBack does."""
        items = self.authority.pending(100_000)
        for tier in ("recall", "archival"):
            rows = []
            for item in items:
                if item.tier == tier and item.message is not None:
                    rows += rows_of_message(item.message, item.before)
                elif item.tier == tier and item.passage is not None:
                    rows += rows_of_passage(item.passage)
            if vectors and self.embedder is not None and rows:
                made = self.embedder.embed([embedded_text(row) for row in rows])
                rows = [replace(row, vector=v) for row, v in zip(rows, made, strict=True)]
            self.store.delete(tier, [i.key for i in items if i.tier == tier and i.op == "delete"])
            self.store.put(tier, rows)
        self.authority.done(items)

    def find(
        self, query: str | None, filters: SearchFilters = ANY, *, tier: Tier = "recall"
    ) -> list[str]:
        return [hit.id for hit in self.hits(query, filters, tier=tier)]

    def hits(
        self, query: str | None, filters: SearchFilters = ANY, *, tier: Tier = "recall"
    ) -> tuple[Hit, ...]:
        result = self.search.search(tier, query, filters, 10)
        assert result.warnings == ()
        return result.hits


@pytest.fixture
def plain(tmp_path: Path) -> World:
    return World(tmp_path, None)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path, MeaningEmbedder())


def talk(world: World) -> None:
    """A little conversation; the boat is in m1, the dog in m4, the ticket in m6."""
    world.authority.say("My boat is called Nomad and lies in Porto.", "Sam")
    world.authority.say("A fine name for a boat!", "assistant", "assistant")
    world.authority.say("What is your dog called, Sam?", "Ada")
    world.authority.say("He is Rex.", "Sam")
    world.authority.say("I like the rain in spring.", "Ada")
    world.authority.say("Ticket ABC-1234 is about the broken mast.", "Ada")
    world.authority.say("Ticket ABC-1243 is about the sails.", "Ada")
    world.authority.say("昨日、東京タワーに行きました。", "Yuki")


def test_a_message_is_found_before_and_after_it_is_written(plain: World) -> None:
    """The same query, the same best hit; nothing twice."""
    talk(plain)
    before = plain.find("boats called Nomad")
    plain.write()
    after = plain.find("boats called Nomad")
    assert before[0] == after[0] == "m1"
    assert len(set(after)) == len(after)


def test_a_message_said_a_second_ago_ranks_among_the_written_ones(plain: World) -> None:
    """Written and unwritten rows have one scale."""
    talk(plain)
    plain.write()
    plain.authority.say("The new boat is called Vagabond.", "Sam")
    assert plain.find("Vagabond")[0] == "m9"
    assert plain.find("boat called Nomad in Porto")[0] == "m1"
    assert set(plain.find("boat called")[:3]) >= {"m1", "m9"}


def test_what_is_left_out_is_no_measure_of_the_others(plain: World) -> None:
    """A question that was just said is a hit of its own; without it the rest stand as if it had
    never been said, written or not."""
    talk(plain)
    plain.write()
    query = "What is the name of the boat in Porto?"
    alone = plain.hits(query)
    plain.authority.say(query, "Ada")
    without = SearchFilters(without=("m9",))
    for _ in range(2):
        assert "m9" in plain.find(query)
        found = plain.hits(query, without)
        assert [hit.id for hit in found] == [hit.id for hit in alone]
        assert [hit.score for hit in found] == pytest.approx([h.score for h in alone], rel=0.1)
        assert plain.find(None, without)[0] == "m8"
        assert TierSearch("recall", plain.search, lambda: ("m9",)).search(
            query, ANY, 10
        ).hits == tuple(found)
        plain.write()


def test_an_answer_is_found_by_the_words_of_its_question(plain: World) -> None:
    """The last three lines are a field of their own."""
    talk(plain)
    for _ in range(2):
        assert "m4" in plain.find("dog called")[:3]
        plain.write()


def test_meaning_finds_what_words_do_not(world: World) -> None:
    """Written or not."""
    talk(world)
    for _ in range(2):
        assert set(world.find("vessel")[:2]) == {"m1", "m2"}
        world.write()


def test_participants_names_are_not_embedded_with_the_query(world: World) -> None:
    """Only the names of those who take part."""
    talk(world)
    world.write()
    world.find("What does Sam call Rex?")
    assert isinstance(world.embedder, MeaningEmbedder)
    assert world.embedder.asked[-1] == "What does call Rex?"


def test_a_query_is_embedded_once(world: World) -> None:
    """Asking again costs nothing."""
    talk(world)
    world.write()
    assert isinstance(world.embedder, MeaningEmbedder)
    before = len(world.embedder.asked)
    for _ in range(3):
        world.find("rain in spring")
    assert len(world.embedder.asked) == before + 1


@pytest.mark.parametrize("written", [False, True])
def test_an_exact_identifier_goes_first(world: World, written: bool) -> None:
    """Before its neighbours, whatever else the query says."""
    for i in range(40):
        world.authority.say(f"Ticket ABC-{1000 + i} and ABC-{1000 + i}4: report_{i}.pdf, spring")
    if written:
        world.write()
    assert world.find("ticket about spring ABC-1017")[0] == "m18"
    assert world.find("what is in report_7.pdf")[0] == "m8"
    assert world.find("abc-10394")[0] == "m40"


@pytest.mark.parametrize("written", [False, True])
def test_scripts_without_spaces_are_found_by_parts_of_words(plain: World, written: bool) -> None:
    """A word, a part of one, or a single character."""
    talk(plain)
    if written:
        plain.write()
    for query in ("東京", "タワー", "昨"):
        assert plain.find(query)[0] == "m8", query


def test_the_one_who_is_named_gets_a_little_more(plain: World) -> None:
    """Of two equal lines the one by the person asked about comes first, and the other second."""
    plain.authority.say("I love chess.", "Ada")
    plain.authority.say("I love chess.", "Sam")
    plain.write()
    hits = plain.hits("Ada chess")
    assert [hit.id for hit in hits] == ["m1", "m2"]
    assert plain.find("does Sam love chess") == ["m2", "m1"]


def test_an_edited_passage_is_found_by_its_new_text_only(world: World) -> None:
    """From the moment of the edit: the written row no longer counts."""
    world.authority.keep("The boat lies in Porto.", "boat")
    world.authority.keep("The car stands in Lisbon.")
    world.write()
    world.authority.edit(1, "The yacht lies in Faro.")
    for _ in range(2):
        assert world.find("Faro yacht", tier="archival")[0] == "a1"
        assert not any("Porto" in hit.text for hit in world.hits("Porto", tier="archival"))
        world.write()


def test_a_retired_passage_is_gone_at_once(plain: World) -> None:
    """Also while the tier still holds it."""
    plain.authority.keep("The boat lies in Porto.")
    plain.write()
    plain.authority.retire(1)
    assert plain.find("boat", tier="archival") == []
    plain.write()
    assert plain.find("boat", tier="archival") == []


def test_what_the_authority_lost_is_not_shown(plain: World) -> None:
    """The tier is only an index: the text comes from the authority."""
    talk(plain)
    plain.write()
    del plain.authority.said[1]
    assert "m1" not in plain.find("boat Nomad")


def test_hits_carry_what_the_authority_knows(plain: World) -> None:
    """Text, page, speaker, origin, time, tags, and whether it is in the window."""
    talk(plain)
    plain.authority.context = {6}
    plain.authority.said[1] = replace(
        plain.authority.said[1], provenance=Provenance("import", "diary.txt", 50)
    )
    plain.write()
    hit = plain.hits("Nomad")[0]
    assert hit.text == "My boat is called Nomad and lies in Porto."
    assert (hit.seq, hit.page, hit.role, hit.speaker) == (1, "p1", "user", "Sam")
    assert (hit.origin, hit.source, hit.conversation) == ("import", "diary.txt", 1)
    assert hit.said_at == START + timedelta(minutes=1)
    assert hit.in_context is False
    assert 0 < hit.score <= 3
    assert {"line", "lines"} <= set(hit.scores) <= set(SEARCH_WEIGHTS)
    assert plain.hits("ABC-1234")[0].in_context is True
    plain.authority.keep("Slip 14.", "boat", "harbour", importance=7.0)
    kept = plain.hits("slip", tier="archival")[0]
    assert (kept.tags, kept.importance, kept.tier) == (("boat", "harbour"), 7.0, "archival")


@pytest.mark.parametrize("written", [False, True])
def test_filters_are_exact(plain: World, written: bool) -> None:
    """Role, speaker in any case, from and to; all tags."""
    talk(plain)
    plain.authority.keep("boat one", "a", "b'c")
    plain.authority.keep("boat two", "a")
    if written:
        plain.write()
    assert plain.find("boat", SearchFilters(role="assistant")) == ["m2"]
    assert set(plain.find("called", SearchFilters(speaker="SAM"))) <= {"m1", "m4"}
    from_6 = SearchFilters(start=START + timedelta(minutes=6))
    assert plain.find("ticket boat", from_6)[0] in ("m6", "m7")
    assert set(plain.find("ticket boat", from_6)) <= {"m6", "m7", "m8"}
    until_6 = SearchFilters(end=START + timedelta(minutes=6))
    assert not {"m6", "m7"} & set(plain.find("ticket boat", until_6))
    tagged = SearchFilters(tags=("a", "b'c"))
    assert plain.find("boat", tagged, tier="archival") == ["a1"]


def test_nobody_of_that_name_finds_nothing(plain: World) -> None:
    """An honest zero among all that was searched."""
    talk(plain)
    result = plain.search.search("recall", "boat", SearchFilters(speaker="Zoe"), 10)
    assert (result.hits, result.searched) == ((), 8)


@pytest.mark.parametrize("query", ["", "   ", "?!…", "😀", "\n", "\ud83d"])
def test_a_query_without_a_word_finds_nothing(world: World, query: str) -> None:
    """And says how much there is."""
    talk(world)
    world.write()
    result = world.search.search("recall", query, ANY, 10)
    assert (result.hits, result.searched) == ((), 8)


def test_a_query_of_a_hundred_thousand_characters_is_cut(world: World) -> None:
    """Its beginning is what is asked."""
    talk(world)
    world.write()
    assert world.find("boat Nomad " + "lorem ipsum " * 10_000)[0] == "m1"


def test_without_a_query_the_newest_come_first(plain: World) -> None:
    """Written and unwritten in one order; a long message once."""
    talk(plain)
    plain.write()
    plain.authority.say("A long story. " * 300, "Sam")
    plain.authority.say("And the end.", "Ada")
    assert plain.find(None)[:3] == ["m10", "m9", "m8"]
    plain.write()
    assert plain.find(None)[:3] == ["m10", "m9", "m8"]
    assert plain.find(None, SearchFilters(speaker="Sam")) == ["m9", "m4", "m1"]


def test_a_long_passage_is_shown_by_the_piece_that_fits(plain: World) -> None:
    """Which piece it is, and of how many."""
    filler = "The harbour master wrote about nets and ropes. " * 40
    plain.authority.keep(f"{filler}\n\nThe lighthouse keeper was called Erasmus.\n\n{filler}")
    for _ in range(2):
        (hit,) = plain.hits("lighthouse keeper Erasmus", tier="archival")
        assert "Erasmus" in hit.text
        assert 1 < hit.part < hit.parts
        assert len(hit.text) < 1200
        plain.write()


def test_a_line_that_was_left_is_not_searched(plain: World) -> None:
    """Rewinding closes ranges of seqs; what lies outside does not exist."""
    talk(plain)
    plain.write()
    plain.authority.say("The boat burnt down.", "Sam")
    plain.authority.ranges = [(1, 1), (9, 9)]
    assert set(plain.find("boat")) == {"m1", "m9"}
    plain.authority.ranges = []
    assert plain.find("boat") == plain.find(None) == []


def test_a_broken_embedder_is_named_and_the_words_still_find(tmp_path: Path) -> None:
    """Nothing is left out silently."""
    world = World(tmp_path, BrokenEmbedder())
    talk(world)
    world.write(vectors=False)
    result = world.search.search("recall", "boat Nomad", ANY, 10)
    assert result.hits[0].id == "m1"
    assert result.warnings == ("meanings were not compared: no route to the embedder",)


class OddEmbedder(HashingEmbedder):
    """Answers once rightly, and then with what it is given to break."""

    def __init__(self, broken: Callable[[list[list[float]]], list[list[float]]]) -> None:
        super().__init__(8)
        self.broken = broken

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return self.broken(super().embed(texts))


def _raise(vectors: list[list[float]]) -> list[list[float]]:
    raise RuntimeError("a library's own error")


@pytest.mark.parametrize(
    "broken",
    [
        _raise,
        lambda vectors: [v[:5] for v in vectors],
        lambda vectors: [*vectors[:-1], vectors[-1][:5]],
        lambda vectors: [[float("nan")] * 8 for _ in vectors],
        lambda vectors: vectors[:-1],
    ],
    ids=["foreign error", "too short", "one too short", "NaN", "too few"],
)
def test_an_embedder_that_answers_nonsense_is_named_and_the_words_still_find(
    tmp_path: Path, broken: Callable[[list[list[float]]], list[list[float]]]
) -> None:
    """Whatever an embedder does, a search neither raises nor compares what is no vector."""
    world = World(tmp_path, OddEmbedder(broken))
    talk(world)
    result = world.search.search("recall", "boat Nomad", ANY, 10)
    assert result.hits[0].id == "m1"
    assert len(result.warnings) == 1
    assert result.warnings[0].startswith("meanings were not compared: ")
    assert world.search.near("boat") == []


def test_a_broken_disk_is_named_and_the_tail_is_still_found(tmp_path: Path) -> None:
    """The table cannot be read; what is unwritten can."""
    world = World(tmp_path, None)
    talk(world)
    world.write()
    world.authority.say("The boat was sold.")
    for path in (tmp_path / "lance" / "recall.lance" / "_versions").iterdir():
        path.write_bytes(b"garbage")
    search = Search(TierStore(tmp_path / "lance", None), None, AuthorityView(world.authority))
    result = search.search("recall", "boat sold", ANY, 10)
    assert [hit.id for hit in result.hits] == ["m9"]
    assert len(result.warnings) == 1
    assert "the recall index was not searched" in result.warnings[0]


def test_another_embedders_table_is_searched_by_words(world: World, tmp_path: Path) -> None:
    """With the command that mends it in sight."""
    talk(world)
    world.write()
    other = HashingEmbedder(32)
    store = TierStore(tmp_path / "lance", other.identity, agent="ada")
    result = Search(store, other, AuthorityView(world.authority)).search("recall", "boat", ANY, 5)
    assert result.hits
    assert "64 dimensions" in result.warnings[0]


def test_near_finds_the_passage_a_text_repeats(world: World) -> None:
    """By meaning; nothing where no embedder is."""
    world.authority.keep("The ship lies in Porto.")
    world.authority.keep("Rain in spring.")
    world.write()
    assert world.search.near("The boat lies in Porto.")[0][0] == "a1"
    assert Search(world.store, None, AuthorityView(world.authority)).near("boat") == []


def test_a_tier_search_is_the_service(plain: World) -> None:
    """What the tools ask for."""
    talk(plain)
    assert TierSearch("recall", plain.search).search("Nomad", ANY, 1).hits[0].id == "m1"


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(query=st.text(max_size=40) | st.sampled_from(["ABC-1'", "a' OR '1'='1", "%", "\\", "[SEP]"]))
def test_no_query_raises_or_shows_anything_twice(query: str, tmp_path: Path) -> None:
    """Whatever a model writes."""
    world = World(tmp_path, HashingEmbedder())
    if not world.store.count("recall"):
        talk(world)
        world.write()
    else:
        talk(world)
        world.authority.done(world.authority.pending(6))
    found = world.find(query)
    assert len(set(found)) == len(found)


def test_identity_is_only_asked_when_needed(tmp_path: Path) -> None:
    """A text-only search never asks a remote embedder who it is."""

    def never() -> EmbeddingIdentity:
        raise AssertionError("asked")

    authority = Authority()
    authority.say("The boat is red.")
    search = Search(TierStore(tmp_path / "lance", never), None, AuthorityView(authority))
    assert search.search("recall", "boat", ANY, 5).hits[0].text == "The boat is red."
    assert authority.said[1].parts == (Text("The boat is red."),)
