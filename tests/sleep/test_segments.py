"""Segments: pages of one topic together, warm by use, the coldest out of view."""

from datetime import timedelta

import pytest
from sleep_kit import Bed, bed

from pagemind.runtime import settings
from pagemind.runtime.memory_answers import segments_json
from pagemind.runtime.sleep import segments as job
from pagemind.runtime.sleep.segments import Segmenting

__all__ = ["bed"]
YEAR = timedelta(days=365)


def topics(bed: Bed) -> list[list[int]]:
    kept = bed.state.segments
    return [kept.pages(each.number) for each in kept.all(hidden=True)]


def test_pages_of_one_topic_are_put_together(bed: Bed) -> None:
    """By meaning and by keywords, either being enough; each page is in one, however often it is
    looked at."""
    bed.page("the red boat in the harbour of Porto", "boat", "Porto")
    bed.page("taxes for the house", "tax", "house")
    bed.page("the red boat in the harbour of Lisbon", "Lisbon")
    bed.page("quarterly forms", "tax", "house", "forms")
    bed.run(Segmenting())
    assert topics(bed) == [[1, 3], [2, 4]]
    assert not Segmenting().due(bed.context())
    bed.state.segments.append(2, 1, "again", (), trust=100)
    bed.run(Segmenting())
    assert topics(bed) == [[1, 3], [2, 4]]
    first = bed.state.segments.get([1])[1]
    assert first.gist.startswith("the red boat in the harbour of Porto")
    assert set(first.keywords) == {"boat", "Porto", "Lisbon"}


def test_without_an_embedder_keywords_alone_tell(bed: Bed) -> None:
    """Nothing waits for one."""
    bed.embeds = False
    bed.page("the boat", "boat", "Porto")
    bed.page("the boat", "boat", "Porto", "mast")
    bed.page("the boat", "tax")
    bed.run(Segmenting())
    assert topics(bed) == [[1, 2], [3]]


def test_the_heat_of_what_nobody_visits_falls(bed: Bed) -> None:
    """Without anything being written; a visit warms, a promotion begins anew."""
    bed.page("the boat", "boat")
    bed.run(Segmenting())
    kept = bed.state.segments
    now = bed.clock.now()
    segment = kept.get([1])[1]
    assert segment.heat(now) == 2
    assert 1 < segment.heat(now + YEAR) < segment.heat(now + YEAR / 2) < 2
    kept.visit([1])
    assert kept.get([1])[1].heat(now) == 3
    kept.promoted(1)
    assert kept.get([1])[1].heat(now) == 1


def test_the_coldest_leaves_the_view_and_not_the_newest(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pages stay; whoever comes upon one brings it back. What was taken back is not shown."""
    monkeypatch.setattr(job, "SEGMENTS", 2)
    bed.embeds = False
    for name in ("boat", "tax"):
        bed.page(f"the {name}", name)
    bed.run(Segmenting())
    bed.state.segments.visit([1])
    bed.clock.advance(days=365)
    bed.page("the newest", "newest")
    bed.run(Segmenting())
    assert [each.number for each in bed.state.segments.all()] == [1, 3]
    assert bed.state.pages.get(2) is not None
    assert segments_json(bed.state, bed.clock.now(), hidden=True)[-1]["id"] == "seg2"
    bed.state.segments.visit([2])
    assert [each.number for each in bed.state.segments.all()] == [1, 2, 3]
    bed.state.database.write("UPDATE pages SET live = 0 WHERE number = 3")
    assert [each["id"] for each in segments_json(bed.state, bed.clock.now())] == ["seg2", "seg1"]


def test_the_view_holds_two_hundred() -> None:
    """As in the paper."""
    assert settings.SEGMENTS == 200
