"""The filter that is pushed down says what the filter in Python says."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pagemind.runtime.services import SearchFilters
from pagemind.runtime.tiers.row_filter import RowFilter, quote, where_of
from pagemind.runtime.tiers.schema import PRIVATE, TierRow, owner_tag, scope_tag
from pagemind.runtime.tiers.store import TierStore

NASTY = (
    *("Sam", "sam", "", "O'Neil", "''", "a%b", "a_b", "axb", "back\\slash", "\\'", "new\nline"),
    *(
        "tab\t",
        '"quoted"',
        "--",
        "; DROP TABLE recall",
        "`",
        "日本",
        "é",
        "e\u0301",
        "😀",
        "$1",
        "?",
        "\u200fשלום\u200e",
        "ａ",  # a look-alike of a
        "а",  # another
        "a,b",
        "nul\x00y",
        "🏴\U000e0067",
    ),
)
T0 = datetime(2026, 5, 1, tzinfo=UTC)


def row(i: int) -> TierRow:
    """Row i of a small world in which every value occurs with every kind of other."""
    name = NASTY[i % len(NASTY)]
    tags = tuple(NASTY[(i + k) % len(NASTY)] for k in range(i % 3))
    if i % 4 == 1:
        tags += (scope_tag(f"/{name}"),)
    if i % 5 == 2:
        tags += (PRIVATE, owner_tag(name))
    return TierRow(
        *(f"m{i}.{i % 2 + 1}", f"m{i}", i % 2 + 1, 2, i, i, i % 4),
        *(("user", "assistant", "tool")[i % 3], name, "talk", ("user", "model", name)[i % 3], 100),
        *(("active", "retired", name)[i % 3], tags, None if i % 4 == 0 else i / 9, "{}"),
        *(None if i % 7 == 0 else T0 + timedelta(microseconds=i), None),
        *(f"text {i}", f"line {i}", f"lines {i}", ""),
    )


ROWS = [row(i) for i in range(1, 90)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TierStore]:
    made = TierStore(Path(tmp_path_factory.mktemp("filters")) / "lance", None)
    made.put("recall", ROWS)
    yield made
    made.close()


names = st.sampled_from(NASTY) | st.text(max_size=6)
moments = st.integers(-5, 95).map(lambda i: T0 + timedelta(microseconds=i))
ranges = st.tuples(st.integers(-3, 95), st.integers(-3, 95))
weights = st.integers(0, 95).map(lambda i: i / 9) | st.floats(1, 10)
filters = st.builds(
    RowFilter,
    role=st.none() | st.sampled_from(["user", "tool", "nobody'"]),
    speakers=st.none() | st.lists(names, max_size=4).map(tuple),
    start=st.none() | moments,
    end=st.none() | moments,
    tags=st.lists(names, max_size=2).map(tuple),
    any_tags=st.lists(names, max_size=4).map(tuple),
    importance_from=st.none() | weights,
    importance_to=st.none() | weights,
    origins=st.none() | st.lists(names | st.just("model"), max_size=3).map(tuple),
    parents=st.none() | st.lists(st.sampled_from(["m3", "m4", "m'", "x"]), max_size=3).map(tuple),
    ids=st.none(),
    statuses=st.none() | st.lists(names | st.just("active"), max_size=3).map(tuple),
    seqs=st.none() | st.lists(ranges, max_size=3).map(tuple),
    kinds=st.none() | st.lists(names | st.just("talk"), max_size=2).map(tuple),
    scopes=st.lists(names.map(lambda name: f"/{name}"), max_size=2).map(tuple),
    viewer=st.none() | names,
    first_parts=st.booleans(),
)


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(where=filters)
def test_the_store_finds_exactly_what_brute_force_finds(where: RowFilter, store: TierStore) -> None:
    """Whatever the values: quotes, %, _, backslashes, newlines, any Unicode."""
    expected = sorted(row.id for row in ROWS if where.matches(row))
    assert sorted(row.id for row in store.scan("recall", where)) == expected
    assert store.count("recall", where) == len(expected)


@pytest.mark.parametrize("name", NASTY)
def test_each_awkward_name_finds_its_own_rows(name: str, store: TierStore) -> None:
    """No name is a pattern, and none ends the literal."""
    found = store.scan("recall", RowFilter(speakers=(name,)))
    assert {row.speaker for row in found} == {name}


def test_a_quote_is_doubled_and_nothing_else() -> None:
    """LanceDB's SQL knows no escapes."""
    assert quote("it's a \\ %") == "'it''s a \\ %'"


@pytest.mark.parametrize("name", NASTY)
def test_each_awkward_tag_finds_the_rows_that_have_it(name: str, store: TierStore) -> None:
    """All of one tag is any of it."""
    found = {row.id for row in store.scan("recall", RowFilter(tags=(name,)))}
    assert found == {row.id for row in ROWS if name in row.tags}
    assert found == {row.id for row in store.scan("recall", RowFilter(any_tags=(name, "no such")))}


def test_a_thousand_values_are_one_filter(store: TierStore) -> None:
    """No list is too long for the SQL."""
    many = tuple(f"t{i}'" for i in range(999))
    where = RowFilter(any_tags=(*many, "Sam"), parents=tuple(row.parent for row in ROWS))
    expected = {row.id for row in ROWS if "Sam" in row.tags}
    assert expected
    assert {row.id for row in store.scan("recall", where)} == expected


def test_importance_is_compared_as_it_is_stored(store: TierStore) -> None:
    """In 32 bits: a limit that equals a row's importance includes it."""
    seven = 61 / 9  # of row 61; not a number that 32 bits hold
    found = store.scan("recall", RowFilter(importance_from=seven, importance_to=seven))
    assert [row.seq for row in found] == [61]
    assert RowFilter(importance_to=seven).matches(ROWS[60])


def test_what_is_asked_for_becomes_the_filter_of_each_tier() -> None:
    """Speakers without regard to case, ids by their letter and archive, the live line."""
    ids = ("m4", "a7", "p2", "handbook:a9")
    asked = SearchFilters(ids=ids, origins=("model",), any_tags=("x\ud800",))
    recall = where_of(asked, "recall", live=[(1, 9)])
    assert recall is not None
    assert (recall.parents, recall.seqs, recall.statuses) == (("m4",), ((1, 9),), ("active",))
    assert (recall.origins, recall.any_tags) == (("model",), ("x\ufffd",))
    parents = [
        where.parents if (where := where_of(asked, tier, archive=archive)) else None
        for tier, archive in (("archival", ""), ("pages", ""), ("archival", "Handbook"))
    ]
    assert parents == [("a7",), ("p2",), ("a9",)]
    assert where_of(SearchFilters(ids=("m4",)), "archival") is None
    sam = where_of(SearchFilters(speaker=" SAM"), "recall", speakers=["Sam", "sam", "Ada"])
    assert sam is not None
    assert sam.speakers == ("Sam", "sam")
    assert where_of(SearchFilters(speaker="Zoe"), "recall", speakers=["Sam"]) is None
    assert where_of(SearchFilters(role="user"), "archival") is None
