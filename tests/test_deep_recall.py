"""Deep recall: a model takes a question apart; what it says only narrows."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pagemind.runtime.deep_recall import DeepRecall, SubQuery, fused, plan
from pagemind.runtime.errors import PagemindError
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import Hit, SearchFilters, SearchResult
from pagemind.runtime.testing import ScriptedModel, call

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)
MAY = datetime(2026, 5, 1, tzinfo=UTC)
JUNE = datetime(2026, 6, 1, tzinfo=UTC)


def searches(*found: dict[str, Any]) -> str:
    return json.dumps({"searches": list(found)})


class Shelf:
    """A search that finds what stands under its words, and notes how it was asked."""

    def __init__(self, **found: list[str]) -> None:
        self.found = found
        self.asked: list[tuple[str | None, SearchFilters]] = []

    def search(
        self, query: str | None, filters: SearchFilters, limit: int, *, ranking: str | None = None
    ) -> SearchResult:
        self.asked.append((query, filters))
        ids = self.found.get((query or "").split()[0], [])
        return SearchResult(tuple(Hit(id, "recall", id, 1.0) for id in ids), 9)


def deep(shelf: Shelf, reply: str) -> DeepRecall:
    return DeepRecall(shelf, lambda: ScriptedModel([reply]), lambda: NOW)


def test_each_part_of_a_question_is_searched() -> None:
    """What none of them finds alone is found together; the question's own hits stay."""
    shelf = Shelf(Who=["m1"], dog=["m7", "m1"], vet=["m9"])
    reply = searches({"words": "dog name"}, {"words": "vet town"})
    found = deep(shelf, reply).search("Who treats the dog?", SearchFilters(), 10)
    assert [hit.id for hit in found.hits] == ["m1", "m7", "m9"]
    assert found.warnings == ()


def test_a_plan_never_widens_what_the_caller_may_see() -> None:
    """Dates only narrow; scopes, speakers and the rest are the caller's."""
    filters = SearchFilters(speaker="sam", start=MAY, end=JUNE, scopes=("/team",))
    shelf = Shelf()
    reply = searches({"words": "boat", "start": "2020-01-01", "end": "2027-01-01"})
    deep(shelf, reply).search("Which boat was it?", filters, 10)
    assert [asked for _, asked in shelf.asked] == [filters, filters]
    later = SubQuery("boat", start=NOW)
    assert later.within(filters).start == NOW


def test_a_scope_of_the_model_is_one_that_the_caller_may_read() -> None:
    """Named and there, it narrows; outside of the caller's, or invented, it is left out."""
    filters = SearchFilters(scopes=("/team",))
    for said, asked in (
        ("/team/app", "/team/app"),
        ("/", "/team"),
        ("/hr", "/team"),
        ("x", "/team"),
    ):
        shelf = Shelf()
        reply = searches({"words": "boat", "scope": said})
        search = DeepRecall(
            shelf, lambda r=reply: ScriptedModel([r]), lambda: NOW, lambda: ["/team/app", "/hr"]
        )
        search.search("Which boat was it?", filters, 10)
        assert [each.scopes for _, each in shelf.asked] == [("/team",), (asked,)]


@pytest.mark.parametrize(
    "reply",
    ["I cannot help with that.", "请问您要找什么？", '{"searches": "boat"}', "{", "", "[[[["],
)
def test_without_a_plan_it_is_a_shallow_search_that_says_so(reply: str) -> None:
    """Prose, another shape, nothing: the question itself is searched all the same."""
    shelf = Shelf(Which=["m1"])
    found = deep(shelf, reply).search("Which boat was it?", SearchFilters(), 10)
    assert [hit.id for hit in found.hits] == ["m1"]
    assert "without sub-queries" in found.warnings[0]


def test_a_plan_is_bounded() -> None:
    """At most three searches; one without a word is none, a date that is none is no bound."""
    many = [{"words": f"word{n}", "start": "soon", "end": ""} for n in range(10_000)]
    found = plan(ScriptedModel([searches({"words": " ?! "}, *many)]), "a b c", NOW)
    assert [each.words for each in found] == ["word0", "word1", "word2"]
    assert found[0].start is None
    with pytest.raises(PagemindError):
        plan(ScriptedModel(["no"]), "a b c", NOW)


def test_fusion_prefers_what_several_find() -> None:
    """By reciprocal ranks."""
    one, two = ([Hit(id, "recall", id, 1.0) for id in ids] for ids in (["a1", "a2"], ["a2"]))
    assert [hit.id for hit in fused([one, two])] == ["a2", "a1"]


def test_an_agent_searches_as_deep_as_its_definition_says(tmp_path: Path) -> None:
    """The model that works beside the turns is asked once a search, and no prefetch asks it."""
    path = tmp_path / "ada.yaml"
    path.write_text(
        "name: ada\nembedding: hashing\nsystem: You are a test.\n"
        "tools: [archival]\nsearch: {depth: deep}\n",
        encoding="utf-8",
    )
    script = [
        [call("archival_search", query="Where does the dog of Sam live?")],
        searches({"words": "kennel Porto"}),
        "In Porto.",
    ]
    with Runtime(tmp_path / "home", background=False) as runtime:
        model = ScriptedModel(script)
        agent = runtime.agent("ada", path, model=model)
        agent.insert("The kennel stands in Porto.")
        turn = agent.send("Where does the dog live?")
        assert turn.text == "In Porto."
        assert [request.purpose for request in model.requests] == ["turn", "background", "turn"]
