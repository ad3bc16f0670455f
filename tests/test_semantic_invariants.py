"""What always holds of records and what ties them together: found where it does not, and mended."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sleep_kit import Bed, made

from pagemind.runtime.invariants import check_state
from pagemind.runtime.passage import Facets
from pagemind.runtime.semantic_invariants import check_records, mend_records


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    with made(tmp_path) as bed:
        yield bed


def checks(bed: Bed) -> dict[str, str]:
    return {each.check: each.detail for each in check_records(bed.state)}


def test_a_memory_in_order_has_nothing_to_tell(bed: Bed) -> None:
    """Facts, links, lineage of all sorts, names, a store: all of it holds."""
    entity = bed.state.entities.make("Sam", "sam", seq=1)
    said = bed.say("I live in Faro.")
    old = bed.note("Sam lived in Porto.", Facets("fact", subject_entity=entity, superseded_by=2))
    new = bed.note("Sam lives in Faro.", Facets("fact", subject_entity=entity))
    bed.state.links.add(old.number, new.number, author="worker", seq=1)
    bed.state.lineage.add(new.short_id, [said.short_id, "handbook:a7"], "from", seq=1)
    bed.note("k", Facets("item", key="k", scope="/n"))
    assert checks(bed) == {}


def test_what_points_nowhere_is_found_and_taken_out(bed: Bed) -> None:
    """Links, lineage, tallies, what took its place, whom a fact is about; of two
    items under one key the older is hidden. No text is changed; afterwards all holds."""
    db = bed.state.database
    bed.note(
        "Sam lives in Faro.", Facets("fact", subject="Sam", subject_entity=7, superseded_by=99)
    )
    bed.note("one", Facets("item", key="k", scope="/n"))
    bed.note("two", Facets("item", key="k", scope="/n"))
    with db.transaction():
        db.write("INSERT INTO links VALUES (1, 50, 'worker', '', 'now', 1)")
        for source in ("m80", "a80", "p80", "d80", "s80", "t80", "seg80", "block:none"):
            db.write("INSERT INTO lineage VALUES ('a1', ?, 'from', 1, 1, 'now')", (source,))
        db.write("INSERT INTO tallies VALUES (70, 1, 0, 'now')")
    assert checks(bed)["lineage"].endswith("and 3 more")
    assert checks(bed)["items"] == "several under one key: /n k"
    wrong = [each for each in check_state(bed.state) if each.status == "wrong"]
    assert {each.repair for each in wrong} == {"records"}
    assert {each.check for each in wrong} == {"records", "links", "lineage", "tallies", "items"}
    assert mend_records(bed.state) == 12
    assert [each for each in check_state(bed.state) if each.status == "wrong"] == []
    facets = bed.record(1).facets
    assert (facets.subject, facets.subject_entity, facets.superseded_by) == ("Sam", None, None)
    assert bed.record(1).text == "Sam lives in Faro."
    assert [bed.record(n).provenance.status for n in (2, 3)] == ["retired", "active"]
    assert mend_records(bed.state) == 0


def test_two_that_cannot_both_hold_are_noted_for_a_person(bed: Bed) -> None:
    """Of a relation with one value, the same subject, scope and owner; no repair chooses one."""
    entity = bed.state.entities.make("Sam", "sam", seq=1)
    for at, place in enumerate(("Faro", "Porto", "faro")):
        lives = Facets("fact", "Sam", "lives_in", place, entity, scope="/x" if at == 2 else "/")
        bed.note(f"Sam lives in {place}, {at}.", lives)
    bed.note("Sam likes tea.", Facets("fact", "Sam", "likes", "tea", entity))
    bed.note("Sam likes wine.", Facets("fact", "Sam", "likes", "wine", entity))
    (finding,) = check_records(bed.state)
    assert (finding.check, finding.status, finding.repair) == ("facts", "note", "")
    assert finding.detail == "several hold where one can: a1 a2"
