"""The filter that is pushed down says what the filter in Python says."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pagemind.runtime.tiers.row_filter import RowFilter, quote
from pagemind.runtime.tiers.schema import TierRow
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
    ),
)
T0 = datetime(2026, 5, 1, tzinfo=UTC)


def row(i: int) -> TierRow:
    """Row i of a small world in which every value occurs with every kind of other."""
    name = NASTY[i % len(NASTY)]
    tags = tuple(NASTY[(i + k) % len(NASTY)] for k in range(i % 3))
    return TierRow(
        *(f"m{i}.{i % 2 + 1}", f"m{i}", i % 2 + 1, 2, i, i, i % 4),
        *(("user", "assistant", "tool")[i % 3], name, "talk", "user", 100),
        *(("active", "retired", name)[i % 3], tags, None, "{}"),
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
filters = st.builds(
    RowFilter,
    role=st.none() | st.sampled_from(["user", "tool", "nobody'"]),
    speakers=st.none() | st.lists(names, max_size=4).map(tuple),
    start=st.none() | moments,
    end=st.none() | moments,
    tags=st.lists(names, max_size=2).map(tuple),
    parents=st.none() | st.lists(st.sampled_from(["m3", "m4", "m'", "x"]), max_size=3).map(tuple),
    ids=st.none(),
    statuses=st.none() | st.lists(names | st.just("active"), max_size=3).map(tuple),
    seqs=st.none() | st.lists(ranges, max_size=3).map(tuple),
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
