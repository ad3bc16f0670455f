"""Memory as a library: an archive without an agent, a model or a loop."""

import re
import signal
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from processes import python

from pagemind.runtime import Memory, Runtime
from pagemind.runtime.errors import (
    ArchiveInUse,
    BadFilter,
    InvalidName,
    NotFound,
    UnknownArchive,
    UserError,
)
from pagemind.runtime.testing import FrozenClock, HashingEmbedder


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def runtime(tmp_path: Path, clock: FrozenClock) -> Iterator[Runtime]:
    with Runtime(tmp_path, clock=clock, embedder=HashingEmbedder(64)) as runtime:
        yield runtime


@pytest.fixture
def memory(runtime: Runtime) -> Memory:
    return runtime.memory("customers")


def test_ten_lines_are_enough(tmp_path: Path) -> None:
    """Add, search, update, history: no agent is made and no model looked for."""
    with Runtime(tmp_path, embedder=HashingEmbedder(64)) as runtime:
        memory = runtime.memory("customers")
        added = memory.add("Ada prefers calls in the morning.", tags=["ada"], importance=7)
        memory.add(["Bo has a dog.", "The office closes at six."])
        found = memory.search("when does Ada like calls", limit=1)
        assert found[0].id == added.id == "a1"
        memory.update(added.id, "Ada prefers calls in the evening.")
        assert memory.get("a1").text.endswith("evening.")
        assert [v.text.split()[-1] for v in memory.history("a1")] == ["morning.", "evening."]
        assert runtime.agents() == []


def test_the_example_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """docs/memory-library.md, as it stands."""
    page = Path(__file__).parents[1] / "docs" / "memory-library.md"
    (example,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.setenv("PAGEMIND_HOME", str(tmp_path))
    monkeypatch.setattr("pagemind.runtime.archives.DEFAULT_EMBEDDING", "hashing")
    exec(example, {})
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("a1 ")
    assert out[-2:] == [
        "1 user inserted Ada prefers to be called in the morning.",
        "2 user edited Ada prefers to be called in the evening.",
    ]


def test_what_was_added_is_there_in_the_next_process(tmp_path: Path) -> None:
    """Closing is no condition: the text, its tags, importance and metadata are on disk."""
    with Runtime(tmp_path, embedder=HashingEmbedder(64)) as runtime:
        memory = runtime.memory("m")
        memory.add("Berth 42.", tags=["boat", " boat "], importance=9, metadata={"row": 3})
    with Runtime(tmp_path, embedder=HashingEmbedder(64)) as runtime:
        kept = runtime.memory("m", create=False).get("a1")
        hit = runtime.memory("m").search("berth")[0]
    assert (kept.text, kept.tags, kept.importance) == ("Berth 42.", ("boat",), 9)
    assert kept.metadata == hit.metadata == {"row": 3}
    assert (kept.origin, kept.version, kept.deleted) == ("user", 1, False)


def test_the_same_text_is_a_duplicate(memory: Memory) -> None:
    """Nothing is stored, and the id is that of the one that was there."""
    first = memory.add("The boat is called Nomad.")
    again = memory.add("The boat is called Nomad. ")
    assert (again.ids, again.duplicates, again.id) == ((), ("a1",), first.id)
    assert memory.count() == len(memory) == 1


def test_what_means_nearly_the_same_is_named(memory: Memory) -> None:
    """Written out or not, so that a program may update the old one instead."""
    memory.add("Ada prefers to be called in the morning, before ten.")
    added = memory.add("Ada prefers to be called in the morning, before ten!")
    assert [(each.id, each.near) for each in added.near] == [("a2", "a1")]
    assert 0.92 <= added.near[0].similarity <= 1
    assert memory.add("The harbour light went out.").near == ()
    memory.add([f"Ship {n} sailed on day {n} of the year." for n in range(80)])
    added = memory.add("Ada prefers to be called in the morning; before ten.")
    assert {each.near for each in added.near} <= {"a1", "a2"}
    assert len(added.near) == 1


def test_many_are_added_as_one(memory: Memory) -> None:
    """Several texts in one go; if one cannot be stored, none is."""
    added = memory.add([f"Fact {n}: the tide is {n}." for n in range(100)])
    assert len(added.ids) == 100
    with pytest.raises(UserError, match="empty"):
        memory.add(["Good.", " "])
    assert memory.count() == 100
    assert memory.search("fact 77", limit=1)[0].text.startswith("Fact 77")


def test_deleted_memories_are_hidden_and_come_back(memory: Memory) -> None:
    """No search finds them; get and history do; restore undoes it."""
    memory.add("The door code is 4711.")
    memory.delete("a1", reason="it was changed")
    assert len(memory.search("door code")) == 0
    assert memory.get("a1").deleted
    assert memory.history("a1")[-1].reason == "it was changed"
    assert memory.history("a1")[-1].author == "user"
    with pytest.raises(NotFound):
        memory.delete("a1")
    with pytest.raises(NotFound):
        memory.update("a1", "The door code is 1.")
    assert not memory.restore("a1", 1).deleted
    assert memory.search("door code")[0].id == "a1"


def test_an_update_changes_what_it_names(memory: Memory) -> None:
    """Text, tags, importance and metadata, each by itself; all are versions."""
    memory.add("Sam lives in Faro.", tags=["sam"], importance=3, metadata={"a": 1})
    changed = memory.update("a1", importance=8)
    assert (changed.text, changed.tags, changed.importance) == ("Sam lives in Faro.", ("sam",), 8)
    changed = memory.update("a1", "Sam lives in Horta.", tags=["sam", "home"], metadata={})
    assert (changed.tags, dict(changed.metadata), changed.version) == (("sam", "home"), {}, 3)
    assert memory.search("Sam", tags=["home"])[0].text == "Sam lives in Horta."


def test_a_search_is_narrowed_by_filters(memory: Memory, clock: FrozenClock) -> None:
    """Tags, days, importance and ids."""
    today = clock.now().date()
    memory.add("The old mast.", tags=["boat", "old"], importance=2)
    clock.advance(hours=72)
    memory.add("The new mast.", tags=["boat"], importance=9)

    def ids(**filters: object) -> list[str]:
        return [hit.id for hit in memory.search("mast", **filters)]  # type: ignore[arg-type]

    assert set(ids()) == {"a1", "a2"}
    assert ids(tags=["boat", "old"]) == ["a1"]
    assert set(ids(any_tags=["old", "boat"])) == {"a1", "a2"}
    assert ids(importance_from=5) == ["a2"]
    assert ids(ids=["a1"]) == ["a1"]
    assert ids(end=today + timedelta(days=1)) == ["a1"]
    assert ids(start=clock.now() - timedelta(hours=1)) == ["a2"]
    assert ids(start="today") == ["a2"]
    assert ids(start=date(2001, 1, 1), end=date(2001, 1, 2)) == []


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        ({"tagz": ["x"]}, "Did you mean tags"),
        ({"user_id": "ada"}, "no filter is called 'user_id'"),
        ({"speaker": "ada"}, "no speaker"),
        ({"tags": 7}, "text"),
        ({"start": "the day after never"}, "not a date"),
        ({"start": "2026-02", "end": "2026-01"}, "after end"),
    ],
)
def test_a_filter_that_cannot_be_is_an_error(
    memory: Memory, filters: dict[str, object], says: str
) -> None:
    """Unknown keys are never passed over."""
    with pytest.raises(BadFilter, match=says):
        memory.search("x", **filters)  # type: ignore[arg-type]


def test_a_budget_of_tokens_stands_in_for_a_number(memory: Memory) -> None:
    """As many of the best as fit; a single one that does not is cut, not dropped."""
    memory.add([f"The lighthouse of Horta, line {n}. " + "It is bright. " * 20 for n in range(30)])
    few = memory.search("lighthouse", max_tokens=200)
    assert 1 <= len(few) < len(memory.search("lighthouse", max_tokens=1000)) < 30
    assert len(memory.search("lighthouse")) == 10
    assert len(memory.search("lighthouse", limit=2, max_tokens=1000)) == 2
    (cut,) = memory.search("lighthouse", max_tokens=10)
    assert len(cut.text) < 100


def test_without_a_query_the_newest_come_first(memory: Memory) -> None:
    """And a query of nothing but punctuation finds nothing."""
    memory.add(["One.", "Two."])
    assert [hit.id for hit in memory.search(None)] == ["a2", "a1"]
    assert len(memory.search("?!")) == 0
    assert memory.search("?!").searched == 2


def test_what_nothing_can_be_is_refused(memory: Memory, runtime: Runtime) -> None:
    """Empty texts, wild importance, ids of other things, closed memories, odd names."""
    with pytest.raises(UserError, match="empty"):
        memory.add("  ")
    with pytest.raises(UserError, match="1 to 10"):
        memory.add("x", importance=11)
    with pytest.raises(UserError, match="characters"):
        memory.add("x" * 1_000_000)
    with pytest.raises(UserError, match="at least 1"):
        memory.search("x", limit=0)
    for id in ("m1", "a0", "a9", "", "a1; DROP"):
        with pytest.raises(NotFound):
            memory.get(id)
        with pytest.raises(NotFound):
            memory.history(id)
    with pytest.raises(InvalidName):
        runtime.memory("../customers")
    memory.close()
    memory.close()
    with pytest.raises(UserError, match="closed"):
        memory.add("x")


def test_a_scope_is_an_archive(runtime: Runtime) -> None:
    """Made on first use, or not with create=False; the same object as long as it is open."""
    with pytest.raises(UnknownArchive):
        runtime.memory("nobody", create=False)
    memory = runtime.memory("team")
    assert runtime.memory("TEAM") is memory
    assert [each.name for each in runtime.archives.all()] == ["team"]
    memory.close()
    again = runtime.memory("team")
    assert again is not memory
    again.add("One.")
    runtime.archives.delete("team")
    assert runtime.memory("team").count() == 0


def test_threads_share_one(memory: Memory) -> None:
    """Each add is stored once; searches go on meanwhile."""
    failures: list[BaseException] = []

    def work(who: int) -> None:
        try:
            for n in range(8):
                memory.add(f"Worker {who} says {n}.")
                memory.search(f"worker {who}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert memory.count() == 32


WORKER = """
    import sys
    from pagemind.runtime import Runtime
    from pagemind.runtime.testing import HashingEmbedder

    with Runtime(sys.argv[1], embedder=HashingEmbedder(64)) as runtime:
        memory = runtime.memory("shared", wait=60)
        print("ready", flush=True)
        sys.stdin.readline()
        for n in range(20):
            memory.add(f"{sys.argv[2]} saw ship {n}.")
            print(n, flush=True)
        if sys.argv[2] == "mortal":
            sys.stdin.readline()
"""


def test_processes_share_one(tmp_path: Path) -> None:
    """Two that add at the same time lose nothing and repeat nothing."""
    children = [python(WORKER, tmp_path, name) for name in ("ada", "bo")]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    for child in children:
        assert child.communicate(timeout=120)[1] == ""
        assert child.returncode == 0
    with Runtime(tmp_path, embedder=HashingEmbedder(64)) as runtime:
        memory = runtime.memory("shared", create=False)
        assert memory.count() == 40
        texts = {memory.get(f"a{n}").text for n in range(1, 41)}
        assert texts == {f"{who} saw ship {n}." for who in ("ada", "bo") for n in range(20)}
        assert {memory.search(t, limit=1)[0].text for t in sorted(texts)[:5]} <= texts


@pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL")
def test_what_add_returned_survives_a_kill(tmp_path: Path) -> None:
    """The process is killed right after: every memory is there and found."""
    child = python(WORKER, tmp_path, "mortal")
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.stdin.write("\n")
    child.stdin.flush()
    for n in range(20):
        assert child.stdout.readline() == f"{n}\n"
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=60)
    with Runtime(tmp_path, embedder=HashingEmbedder(64)) as runtime:
        memory = runtime.memory("shared", create=False)
        assert memory.count() == 20
        assert memory.search("ship 19", limit=1)[0].text == "mortal saw ship 19."
        memory.add("Life goes on.")


def test_a_busy_archive_is_waited_for(runtime: Runtime, tmp_path: Path) -> None:
    """For `wait` seconds; reading needs no wait."""
    memory = runtime.memory("busy", wait=0.05)
    memory.add("One.")
    with runtime.archives.writer("busy"):
        with pytest.raises(ArchiveInUse) as refused:
            memory.add("Two.")
        assert refused.value.exit_code == 75
        assert memory.search("one")[0].id == "a1"
    assert memory.add("Two.").id == "a2"


def test_times_are_aware(memory: Memory) -> None:
    """Whatever comes out has a time zone."""
    memory.add("One.")
    assert memory.get("a1").created_at is not None
    assert memory.history("a1")[0].at.utcoffset() is not None
    assert memory.search("one", end=datetime.now(UTC) + timedelta(days=3650))[0].created_at
