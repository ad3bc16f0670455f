"""WriteBack: one thread, many agents, nothing lost."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tier_fakes import Authority, BrokenEmbedder

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import StorageError
from pagemind.runtime.message import Message, Text
from pagemind.runtime.models.hashing_embedder import HashingEmbedder
from pagemind.runtime.outbox import Tier
from pagemind.runtime.settings import TEXT_RECIPE, WRITE_BACK_ROWS
from pagemind.runtime.tiers import schema, upkeep, write_back
from pagemind.runtime.tiers.row_filter import RowFilter
from pagemind.runtime.tiers.schema import TierRow
from pagemind.runtime.tiers.store import TierStore
from pagemind.runtime.tiers.write_back import WriteBack

EVERY = RowFilter()
LONG = 60.0  # seconds a test may take on a busy machine; none waits for it to pass


def eventually(true: Callable[[], bool]) -> bool:
    """Wait for another thread's doing."""
    pause = threading.Event()
    for _ in range(int(LONG / 0.02)):
        if true():
            return True
        pause.wait(0.02)
    return False


class FailingStore(TierStore):
    """A disk that is full until it is not."""

    failing = True
    crash_after_put = False

    def put(self, tier: Tier, rows: Sequence[TierRow]) -> None:
        if self.failing:
            raise StorageError("no space left")
        super().put(tier, rows)
        if self.crash_after_put and rows:
            raise StorageError("killed before the outbox heard of it")


class SlowEmbedder(HashingEmbedder):
    """Takes as long as it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.begun.set()
        assert self.go_on.wait(LONG)
        return super().embed(texts)


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Iterator[WriteBack]:
    monkeypatch.setattr(write_back, "WRITE_BACK_IDLE_SECONDS", 0.1)
    monkeypatch.setattr(write_back, "WRITE_BACK_RETRY_SECONDS", (0.05, 0.1))
    made = WriteBack()
    yield made
    made.close()


def test_rows_go_out_when_it_is_quiet(writer: WriteBack, tmp_path: Path) -> None:
    """A few messages are written some time after the last kick, with their vectors."""
    ada, store = Authority(), TierStore(tmp_path / "lance", HashingEmbedder().identity)
    writer.register("ada", ada, store, HashingEmbedder())
    ada.say("The boat is red.")
    ada.keep("Slip 14.", "boat")
    writer.kick("ada")
    assert eventually(lambda: ada.count() == 0)
    assert eventually(lambda: writer.status("ada").missing_vectors == 0)
    assert (store.count("recall"), store.count("archival")) == (1, 1)
    assert writer.status("ada").last_error is None


def test_a_full_batch_goes_out_at_once_and_a_few_rows_wait(tmp_path: Path) -> None:
    """With a clock that stands still only the number of rows can be the reason."""
    writer = WriteBack(FrozenClock())
    ada, store = Authority(), TierStore(tmp_path / "lance", None)
    writer.register("ada", ada, store, None)
    for i in range(WRITE_BACK_ROWS + 5):
        ada.say(f"message {i}")
        writer.kick("ada")
    assert eventually(lambda: ada.count() <= 5)
    assert ada.count() == 5
    assert writer.drain("ada", LONG)
    assert (ada.count(), store.count("recall")) == (0, WRITE_BACK_ROWS + 5)
    writer.close()


def test_what_short_processes_left_goes_out_when_it_is_a_batch(tmp_path: Path) -> None:
    """No process of its own ever appended that many; the clock stands still."""
    ada, store = Authority(), TierStore(tmp_path / "lance", HashingEmbedder().identity)
    for i in range(WRITE_BACK_ROWS):
        ada.say(f"message {i}")
    writer = WriteBack(FrozenClock())
    writer.register("ada", ada, store, HashingEmbedder())
    ada.say("one more")
    writer.kick("ada")
    assert eventually(lambda: ada.count() == 1)
    assert store.count_missing("recall") == 0
    writer.close()


def test_a_drain_takes_everything_of_one_agent(writer: WriteBack, tmp_path: Path) -> None:
    """More than a batch; other agents' rows stay where they are."""
    ada, bob = Authority(), Authority()
    stores = {name: TierStore(tmp_path / name, None) for name in ("ada", "bob")}
    writer.register("ada", ada, stores["ada"], None)
    writer.register("bob", bob, stores["bob"], None)
    for i in range(3 * WRITE_BACK_ROWS + 1):
        ada.say(f"message {i}")
    bob.say("hello")
    assert writer.drain("ada", LONG)
    assert stores["ada"].count("recall") == 3 * WRITE_BACK_ROWS + 1
    assert (bob.count(), stores["bob"].count("recall")) == (1, 0)
    assert writer.drain("bob", LONG)
    assert stores["bob"].count("recall") == 1


def test_edits_and_deletions_arrive(writer: WriteBack, tmp_path: Path) -> None:
    """The tier holds the newest state of every passage, and nothing retired."""
    ada, store = Authority(), TierStore(tmp_path / "lance", None)
    writer.register("ada", ada, store, None)
    ada.keep("The boat is red.")
    ada.keep("The car is blue.")
    assert writer.drain("ada", LONG)
    ada.edit(1, "The boat is green.")
    ada.retire(2)
    assert writer.drain("ada", LONG)
    assert [row.text for row in store.scan("archival", EVERY)] == ["The boat is green."]


def test_what_is_no_row_leaves_the_outbox(writer: WriteBack, tmp_path: Path) -> None:
    """A look-up's result is done with, and no table is made for it."""
    ada, store = Authority(), TierStore(tmp_path / "lance", None)
    writer.register("ada", ada, store, None)
    ada.say("m1 …", role="tool", name="recall_search")
    ada.say("memory is nearly full", kind="notice")
    assert writer.drain("ada", LONG)
    assert ada.count() == 0
    assert list(tmp_path.iterdir()) == []


def test_a_broken_embedder_delays_vectors_and_nothing_else(
    writer: WriteBack, tmp_path: Path
) -> None:
    """The text is written, doctor hears why, and the vectors follow when it works again."""
    embedder = BrokenEmbedder()
    ada, store = Authority(), TierStore(tmp_path / "lance", embedder.identity)
    writer.register("ada", ada, store, embedder)
    for i in range(70):
        ada.say(f"message {i}")
    assert writer.drain("ada", LONG)
    status = writer.status("ada")
    assert (status.unwritten, status.missing_vectors) == (0, 70)
    assert status.last_error == "ModelUnreachable: no route to the embedder"
    embedder.broken = False
    assert eventually(lambda: writer.status("ada").missing_vectors == 0)
    assert writer.status("ada").last_error is None
    assert store.count("recall") == 70


def test_a_failing_disk_keeps_the_rows_and_is_tried_again(
    writer: WriteBack, tmp_path: Path
) -> None:
    """Nothing is raised; the outbox is as it was until the disk works."""
    ada, store = Authority(), FailingStore(tmp_path / "lance", None)
    writer.register("ada", ada, store, None)
    ada.say("The boat is red.")
    writer.kick("ada")
    assert writer.drain("ada", LONG) is False
    status = writer.status("ada")
    assert (status.unwritten, status.last_error) == (1, "StorageError: no space left")
    store.failing = False
    assert eventually(lambda: ada.count() == 0)
    assert eventually(lambda: writer.status("ada").last_error is None)


def test_a_crash_between_commit_and_done_repeats_without_doubling(
    writer: WriteBack, tmp_path: Path
) -> None:
    """The batch is written again over itself."""
    ada, store = Authority(), FailingStore(tmp_path / "lance", None)
    store.failing, store.crash_after_put = False, True
    writer.register("ada", ada, store, None)
    for i in range(10):
        ada.say(f"message {i}")
    assert writer.drain("ada", LONG) is False
    assert (ada.count(), store.count("recall")) == (10, 10)
    store.crash_after_put = False
    assert writer.drain("ada", LONG)
    assert (ada.count(), store.count("recall")) == (0, 10)


def test_a_hurried_drain_does_not_wait_for_the_embedder(writer: WriteBack, tmp_path: Path) -> None:
    """A page-out needs the text on its way, not its vectors; they follow by themselves."""
    embedder = BrokenEmbedder()
    ada, store = Authority(), TierStore(tmp_path / "lance", embedder.identity)
    writer.register("ada", ada, store, embedder)
    calls_then = []
    put = store.put

    def watched(tier: Tier, rows: Sequence[TierRow]) -> None:
        calls_then.append(embedder.calls)
        put(tier, rows)

    store.put = watched  # type: ignore[method-assign]  # a spy for one test
    embedder.broken = False
    ada.say("The boat is red.")
    assert writer.drain("ada", LONG, vectors=False)
    assert set(calls_then) == {0}
    assert eventually(lambda: writer.status("ada").missing_vectors == 0)


def test_a_huge_message_is_written_before_it_is_embedded(writer: WriteBack, tmp_path: Path) -> None:
    """Its hundreds of pieces get their vectors batch by batch."""
    ada, store = Authority(), TierStore(tmp_path / "lance", HashingEmbedder().identity)
    writer.register("ada", ada, store, HashingEmbedder())
    ada.say("A sentence that goes on for a while. " * 6000)
    assert writer.drain("ada", LONG)
    assert store.count("recall") > 2 * WRITE_BACK_ROWS
    assert eventually(lambda: writer.status("ada").missing_vectors == 0)


def test_an_unregistered_agent_is_left_alone(writer: WriteBack, tmp_path: Path) -> None:
    """Its rows stay in its outbox; kicks and drains for it do nothing."""
    ada = Authority()
    writer.register("ada", ada, TierStore(tmp_path / "lance", None), None)
    ada.say("hello")
    writer.unregister("ada")
    writer.unregister("ada")
    writer.kick("ada")
    assert writer.drain("ada", 0.1) is False
    assert ada.count() == 1
    with pytest.raises(KeyError):
        writer.status("ada")


def test_what_an_embedder_holds_up_is_not_written_once_the_agent_is_let_go(
    writer: WriteBack, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By then it may be erased. The rows stay in the outbox, and no log speaks of a failure."""
    embedder = SlowEmbedder()
    ada, store = Authority(), TierStore(tmp_path / "lance", embedder.identity)
    bob = Authority()
    writer.register("ada", ada, store, embedder)
    writer.register("bob", bob, TierStore(tmp_path / "bob", None), None)
    ada.say("The boat is red.")
    for _ in range(WRITE_BACK_ROWS):
        writer.kick("ada")
    assert embedder.begun.wait(LONG)
    writer.unregister("ada", 0.01)
    embedder.go_on.set()
    bob.say("hello")
    assert writer.drain("bob", LONG)  # after her batch
    assert (ada.count(), store.count("recall")) == (1, 0)
    assert "failed" not in caplog.text


def test_closing_twice_is_fine_and_nothing_is_written_after(tmp_path: Path) -> None:
    """What was not written waits in the outbox for the next process."""
    ada, writer = Authority(), WriteBack()
    writer.register("ada", ada, TierStore(tmp_path / "lance", None), None)
    writer.close()
    writer.close()
    ada.say("hello")
    writer.kick("ada")
    assert writer.drain("ada", 0.1) is False
    assert ada.count() == 1


def test_an_item_that_breaks_its_batch_does_not_end_the_thread(
    writer: WriteBack, tmp_path: Path
) -> None:
    """Another agent is still served."""
    ada, bob = Authority(), Authority()
    writer.register("ada", ada, TierStore(tmp_path / "ada", None), None)
    writer.register("bob", bob, TierStore(tmp_path / "bob", None), None)
    ada.say("x")
    ada.said[1] = Message("user", (Text("x"),), seq="one")  # type: ignore[arg-type]  # on purpose
    bob.say("hello")
    assert writer.drain("ada", LONG) is False
    assert writer.status("ada").last_error is not None
    assert writer.drain("bob", LONG)


def test_the_interpreter_leaves_while_rows_wait(tmp_path: Path) -> None:
    """Nobody has to close anything, and the way out is clean."""
    code = f"""
import sys
sys.path[:0] = [{str(Path(__file__).parents[1])!r}]
from tier_fakes import Authority, BrokenEmbedder
from pagemind.runtime.tiers.store import TierStore
from pagemind.runtime.tiers.write_back import WriteBack
ada, writer, embedder = Authority(), WriteBack(), BrokenEmbedder()
writer.register("ada", ada, TierStore({str(tmp_path / "lance")!r}, embedder.identity), embedder)
for i in range(200):
    ada.say("message"); writer.kick("ada")
print("bye")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=LONG
    )
    assert (done.returncode, done.stdout) == (0, "bye\n")
    assert "Traceback" not in done.stderr


def test_a_table_of_an_older_recipe_is_made_anew(
    writer: WriteBack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next thing that is written brings all the rest with it: rows are derived."""
    authority, store = Authority(), TierStore(tmp_path / "lance", None)
    authority.say("The boat is called Nomad.")
    authority.keep("Berth 14.")
    writer.register("ada", authority, store, None)
    assert writer.drain("ada", LONG)
    writer.unregister("ada")
    monkeypatch.setattr(upkeep, "TEXT_RECIPE", TEXT_RECIPE + 1)
    monkeypatch.setattr(schema, "TEXT_RECIPE", TEXT_RECIPE + 1)
    newer = TierStore(tmp_path / "lance", None)
    writer.register("ada", authority, newer, None)
    authority.say("It lies in Porto.")
    assert writer.drain("ada", LONG)
    assert newer.count("recall", EVERY) == 2
    assert newer.count("archival", EVERY) == 1
    assert authority.count() == 0
