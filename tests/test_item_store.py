"""The store: JSON values under a namespace and a key."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from kernel_kit import small

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import BadArguments, RecordChanged, ToolError, ToolFailed, UserError
from pagemind.runtime.item import passes
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel

CLOCK = FrozenClock()


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    with Runtime(
        tmp_path, clock=FrozenClock(), embedder=HashingEmbedder(64), background=False
    ) as runtime:
        yield runtime


@pytest.fixture
def ada(runtime: Runtime) -> Agent:
    return agent_of(runtime, "ada")


def agent_of(runtime: Runtime, name: str, more: str = "") -> Agent:
    definition = small(4096, "store", "archival", more=more)
    return runtime.agent(name, definition=definition, model=ScriptedModel([]))


def test_put_is_a_new_version_and_keeps_when_it_was_made(ada: Agent, runtime: Runtime) -> None:
    """What is put again replaces the value; the versions before are kept."""
    first = ada.store.put("users/sam", "settings", {"theme": "dark"})
    runtime.clock.advance(days=1)  # type: ignore[attr-defined]  # it is frozen
    second = ada.store.put("/users/sam", "settings", {"theme": "light"})
    assert (first.version, second.version) == (1, 2)
    assert second.created_at == first.created_at < second.updated_at
    item = ada.store.get("users/sam", "settings")
    assert item is not None
    assert item.value == {"theme": "light"}
    assert len(ada.state.passages.history(1)) == 2
    assert ada.store.get("users", "settings") is None


def test_a_change_planned_on_another_version_is_refused(ada: Agent) -> None:
    """Compare and swap, and no version comes twice: not after a deletion either."""
    store = ada.store
    store.put("n", "k", 1, if_version=0)
    for wrong in (0, 2):
        with pytest.raises(RecordChanged, match="is version 1 now"):
            store.put("n", "k", 2, if_version=wrong)
    assert store.put("n", "k", 2, if_version=1).version == 2
    assert store.delete("n", "k", if_version=2)
    assert not store.delete("n", "k")
    with pytest.raises(RecordChanged, match="is not there, and not version 2"):
        store.put("n", "k", 3, if_version=2)
    again = store.put("n", "k", 3, if_version=0)
    assert again.version > 2


def test_an_item_is_gone_when_its_time_is_over_unless_it_is_read(
    ada: Agent, runtime: Runtime
) -> None:
    """Reading begins the time anew, without a version; what is over is in no answer."""
    clock, store = runtime.clock, ada.store
    store.put("n", "read", 1, ttl="10 days")
    store.put("n", "unread", 1, ttl=timedelta(days=10))
    store.put("n", "fixed", 1, ttl="10 days", refresh_on_read=False)
    clock.advance(days=8)  # type: ignore[attr-defined]
    assert store.get("n", "read") is not None
    assert store.get("n", "fixed") is not None
    clock.advance(days=8)  # type: ignore[attr-defined]
    assert [item.key for item in store.search("n")] == ["read"]
    assert [item.key for item in store.search("n", query="read unread fixed")] == ["read"]
    assert store.get("n", "unread") is None
    assert store.put("n", "unread", 2, if_version=0).version > 1
    assert len(ada.state.passages.history(1)) == 1


def test_a_search_finds_by_words_by_fields_and_below_a_namespace(ada: Agent) -> None:
    """The filter holds before anything is ranked; /app has nothing of /apple; `index` says which
    fields are read."""
    store = ada.store
    store.put("app/eu", "faro", {"city": "Faro", "size": 3, "note": "harbour", "x": {"y": 1}})
    store.put("app/us", "boston", {"city": "Boston", "size": 9, "note": "harbour"})
    store.put("apple", "pie", {"city": "Faro", "size": 5, "note": "harbour"})
    store.put("app/us", "hidden", {"note": "harbour", "size": 7}, index=False)
    store.put("app/us", "partly", {"note": "harbour", "city": "Reno"}, index=["city"])

    def keys(namespace: str = "", **asked: Any) -> list[str]:
        return sorted(item.key for item in store.search(namespace, **asked))

    assert keys("app") == ["boston", "faro", "hidden", "partly"]
    assert keys("app", query="harbour") == ["boston", "faro"]
    assert keys("app", query="hidden")[:1] == ["hidden"]
    assert keys(filter={"city": "Faro"}) == ["faro", "pie"]
    assert keys("app", filter={"size": {"$gt": 3, "$lte": 9}}) == ["boston", "hidden"]
    assert keys("app", query="harbour", filter={"size": {"$gte": 9}}) == ["boston"]
    assert keys(filter={"x.y": 1}) == ["faro"]
    assert [i.key for i in store.search("app", limit=1, offset=1)] == ["boston"]
    listed = [(each.path, each.items) for each in store.namespaces()]
    assert listed == [("/app/eu", 1), ("/app/us", 3), ("/apple", 1)]
    assert [each.path for each in store.namespaces("*/us")] == ["/app/us"]
    assert [(n.path, n.items) for n in store.namespaces("app", depth=1)] == [("/app", 4)]


def test_items_are_no_hits_of_other_searches(ada: Agent) -> None:
    """Neither of archival_search nor of prefetch, by word or by id."""
    ada.store.put("n", "k", {"note": "harbour"})
    for filters in (SearchFilters(), SearchFilters(ids=("a1",))):
        assert ada.archival.search("harbour", filters, 5).hits == ()
    assert ada.archival.near("k\nnote: harbour") == []


@pytest.mark.parametrize(
    ("value", "wanted", "holds"),
    [
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": True}, {"a": 1}, False),
        ({"a": None}, {"a": None}, True),
        ({}, {"a": None}, False),
        ({}, {"a": {"$ne": 3}}, True),
        ({"a": "x"}, {"a": {"$gt": 3}}, False),
        ({"a": "b"}, {"a": {"$gte": "b", "$lt": "c"}}, True),
        ({"a.b": 1}, {"a.b": 1}, True),
        ({"a": {"b": [1]}}, {"a": {"b": [1]}}, True),
        ([1], {"a": 1}, False),
    ],
)
def test_a_filter_compares_only_what_is_alike(value: Any, wanted: Any, holds: bool) -> None:
    """Numbers with numbers, texts with texts; true is not 1; what is missing equals nothing."""
    assert passes(value, wanted) is holds


def test_bad_input_is_refused_with_what_is_allowed(ada: Agent) -> None:
    """Nothing is stored."""
    store = ada.store
    for bad in ("a/../b", "a b", "x" * 99, "/".join("abcdefghijklmnopqr")):
        with pytest.raises(UserError, match="is no scope"):
            store.put(bad, "k", 1)
    with pytest.raises(UserError, match="is no key"):
        store.put("n", "a\nb", 1)
    with pytest.raises(UserError, match="not JSON"):
        store.put("n", "k", float("nan"))
    with pytest.raises(UserError, match="bytes; an item holds 65,536"):
        store.put("n", "k", "x" * 70_000)
    deep: Any = 1
    for _ in range(40):
        deep = [deep]
    with pytest.raises(UserError, match="nested deeper than 32"):
        store.put("n", "k", deep)
    with pytest.raises(UserError, match=r"no operator is called '\$in'"):
        store.search("n", filter={"a": {"$in": [1]}})
    with pytest.raises(UserError, match="no time to keep"):
        store.put("n", "k", 1, ttl="soon")
    assert ada.state.passages.count() == 0


def test_the_model_has_the_same_functions(ada: Agent) -> None:
    """put, get, search in parts, list, delete; what is wrong is told."""
    put = {"namespace": "users/sam", "key": "home", "value": {"city": "Faro"}}
    assert ada.call("store_put", put) == "stored as version 1 of /users/sam home"
    where = {"namespace": "users/sam", "key": "home"}
    assert ada.call("store_get", where) == 'version 1: {"city": "Faro"}'
    found = ada.call("store_search", {"query": "Faro"})
    assert found == '1 found\n/users/sam home: {"city": "Faro"}'
    assert ada.call("store_list", {"depth": 1}) == "/users (1)"
    with pytest.raises(BadArguments, match="no operator"):
        ada.call("store_search", {"filter": {"a": {"$near": 1}}})
    with pytest.raises(RecordChanged):
        ada.call("store_put", {**put, "if_version": 7})
    assert ada.call("store_delete", where) == "home is deleted"
    with pytest.raises(ToolFailed, match="nothing is stored under home in users/sam"):
        ada.call("store_get", where)


def test_a_store_is_bounded_as_all_of_memory(runtime: Runtime) -> None:
    """Relative namespaces are below the agent's scope; out of sight nothing is there."""
    bounds = "scope: /team/ada\nscopes: {read: /team, write: /team/ada}\n"
    ada = agent_of(runtime, "ada", bounds)
    ada.store.put("/secret", "k", {"x": 1})
    ada.store.put("/team/bob", "k", {"x": 2})
    ada.call("store_put", {"namespace": "notes", "key": "k", "value": {"x": 3}})
    assert [i.namespace for i in ada.store.search("/")] == [
        "/secret",
        "/team/ada/notes",
        "/team/bob",
    ]
    assert ada.call("store_list", {"namespace": "/"}) == "/team/ada/notes (1)\n/team/bob (1)"
    for verb, more in (("store_get", {}), ("store_delete", {})):
        with pytest.raises(ToolError):
            ada.call(verb, {"namespace": "/secret", "key": "k", **more})
    with pytest.raises(ToolError, match="you cannot write to /team/bob"):
        ada.call("store_put", {"namespace": "/team/bob", "key": "k", "value": {}})
    assert "1 found" in ada.call("store_search", {"namespace": "/", "filter": {"x": {"$lt": 3}}})
    with runtime.reader("ada") as reader:
        found = reader.items.get("notes", "k", refresh=False)
        assert found is not None
        assert found.value == {"x": 3}


def test_a_store_may_be_shared(runtime: Runtime) -> None:
    """In an archive, without an agent; what is put is there for the next one who looks."""
    runtime.store("prefs").put("sam", "theme", "dark", ttl="1 day")
    item = runtime.store("prefs").get("sam", "theme")
    assert item is not None
    assert item.value == "dark"
    assert len(runtime.memory("prefs").search("dark")) == 0
