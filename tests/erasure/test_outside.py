"""What an erasure takes out beside the agent's folder: home.db, archives, files for a person."""

import json
from pathlib import Path

import pytest

from pagemind.runtime.erasure import outside
from pagemind.runtime.errors import StorageError, UserError
from pagemind.runtime.event import UserMessage
from pagemind.runtime.passage import Passage
from pagemind.runtime.portable.folder.dump import dump_memory
from pagemind.runtime.replay import replay
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.denied import ERASED
from pagemind.runtime.state.ledger import Ledger, Spent
from pagemind.runtime.state.mailbox import Mailbox
from pagemind.runtime.tasks.inputs import Input
from pagemind.runtime.tasks.taking_up import _was_erased
from pagemind.runtime.tasks.text import Fields
from pagemind.runtime.testing import FrozenClock, HashingEmbedder, ScriptedModel

SECRET = "Zenobia keeps the spare key in the blue teapot."
PUBLIC = "The ferry to Oban leaves at nine every morning."
DEFINITION = """
name: keeper
system: You keep things.
embedding: none
context_window: 4096
archives: [{name: shared, mode: write}]
tools: [archival_insert]
"""


def told(runtime: Runtime, tmp_path: Path) -> None:
    """Ada and Bob, who know things, and files that were written for ada."""
    definition = tmp_path / "keeper.yaml"
    definition.write_text(DEFINITION, encoding="utf-8")
    runtime.archives.new("shared", "none")
    agent = runtime.agent("ada", definition, model=ScriptedModel(["Noted."] * 4))
    agent.send(PUBLIC)
    runtime.export_agent("ada", tmp_path / "before.pmz")
    assert isinstance(runtime.clock, FrozenClock)
    runtime.clock.advance(seconds=60)
    agent.send(SECRET)
    with runtime.archives.writer("shared") as writer:
        writer.archival_of("ada").insert(f"Ada notes: {SECRET}")
        writer.archival_of("bob").insert("Bob notes that the harbour is closed on Sundays.")
    runtime.export_agent("ada", tmp_path / "after.pmz")
    runtime.export_agent("ada", tmp_path / "mine.pmz")
    (tmp_path / "mine.pmz").write_text("my own letter took its place")
    dump_memory(runtime, "ada", tmp_path / "folder")
    agent.close()
    id = runtime.home.find("ada").id
    mailbox = Mailbox(runtime.home.database, runtime.clock)
    mailbox.put(id, UserMessage(f"Remember: {SECRET}"))
    mailbox.put(id, UserMessage("What time is it in Lisbon now?"))
    (runtime.home.path / "chat_history").write_text(f"# now\n+{SECRET}\n+{PUBLIC}\n")
    output = tmp_path / "out.txt"
    output.write_text(f"{SECRET}\n")
    ledger = Ledger(runtime.home.database, runtime.clock)
    task = ledger.open("facts", "facts.yaml", "name: facts", {}, False)
    ledger.begin_input(task.id, "1", "line 1", 1, "d")
    ledger.set_agent(task.id, "1", "ada")
    ledger.begin_action(task.id, "1", "1", "say", 1)
    ledger.end_action(task.id, "1", "1", "done", {"reply": f"I see: {SECRET}"}, "", Spent())
    ledger.end_input(task.id, "1", "done", "")
    ledger.set_output(task.id, str(output.resolve()), 0, output.stat().st_size)


def everywhere(folder: Path, text: bytes) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and text in path.read_bytes().lower()
    ]


def test_what_stands_beside_the_agent_goes_and_what_others_said_stays(tmp_path: Path) -> None:
    """Mail, tasks and their outputs, shared archives, exports from after it was said, memory
    folders and what was typed: all of it goes; an older export and what others said stays."""
    with Runtime(
        tmp_path / "home", clock=FrozenClock(), embedder=HashingEmbedder(16), background=False
    ) as runtime:
        told(runtime, tmp_path)
        with runtime.erasing("ada") as erasing:
            from pagemind.runtime.erasure.wanted import wanted

            preview = erasing.preview(wanted(subject="Zenobia"))
            assert preview.beside == {
                "events that wait": 1,
                "entries of tasks": 1,
                "passages in shared archives": 1,
                "files": 3,
                "lines of logs": 1,
            }
            receipt = erasing.erase(preview)
        assert receipt.verified, receipt.found
        assert everywhere(tmp_path, b"teapot") == []
        left = Mailbox(runtime.home.database, runtime.clock).all()
        assert [mail.event.text for mail in left] == ["What time is it in Lisbon now?"]
        with runtime.archives.reader("shared") as reader:
            assert [p.text for p in passages(reader.state.passages)] == [
                "Bob notes that the harbour is closed on Sundays."
            ]
        assert (tmp_path / "before.pmz").exists()
        assert not (tmp_path / "after.pmz").exists()
        assert (tmp_path / "mine.pmz").read_text() == "my own letter took its place"
        assert not (tmp_path / "out.txt").exists()
        assert PUBLIC in (runtime.home.path / "chat_history").read_text()


def passages(found: object) -> list[Passage]:
    return list(found.after(0, 100))  # type: ignore[attr-defined]


def test_files_that_are_kept_stand_in_the_receipt(tmp_path: Path) -> None:
    """With keep_files what was written for a person stays, and the receipt names it."""
    with Runtime(
        tmp_path / "home", clock=FrozenClock(), embedder=HashingEmbedder(16), background=False
    ) as runtime:
        told(runtime, tmp_path)
        receipt = runtime.erase("ada", subject="Zenobia", keep_files=True)
        assert (tmp_path / "after.pmz").exists()
        assert str(tmp_path / "after.pmz") in receipt.kept
        assert any("after.pmz" in each for each in receipt.unverifiable)
        assert json.loads(receipt.to_bytes())["kept"]


def test_a_file_that_cannot_be_removed_is_named_and_holds_up_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stands in the receipt; all else is gone, and the agent can be opened."""

    def refuse(path: Path) -> None:
        if path.name == "after.pmz":
            raise PermissionError(13, "Permission denied", str(path))
        path.unlink(missing_ok=True)

    monkeypatch.setattr(outside, "remove", refuse)
    with Runtime(
        tmp_path / "home", clock=FrozenClock(), embedder=HashingEmbedder(16), background=False
    ) as runtime:
        told(runtime, tmp_path)
        receipt = runtime.erase("ada", subject="Zenobia")
        assert receipt.kept == (str(tmp_path / "after.pmz"),)
        assert not (tmp_path / "out.txt").exists()
        assert runtime.home.erasures.unfinished() == []
        runtime.agent("ada", model=ScriptedModel([])).close()


def test_what_the_disk_refuses_is_said_in_a_line_and_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No error of the system reaches a person; the agent, whose memory is clean, can be used."""

    def refuse(path: Path, lines: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    with Runtime(
        tmp_path / "home", clock=FrozenClock(), embedder=HashingEmbedder(16), background=False
    ) as runtime:
        told(runtime, tmp_path)
        with monkeypatch.context() as broken:
            broken.setattr(outside, "replace", refuse)
            with pytest.raises(StorageError, match="chat_history: Permission denied"):
                runtime.erase("ada", subject="Zenobia")
            runtime.agent("ada", model=ScriptedModel([])).close()
        with runtime.erasing("ada") as erasing:
            (receipt,) = erasing.resumed
        assert receipt.verified, receipt.found


def test_what_was_erased_is_left_out_by_imports_documents_and_tasks(tmp_path: Path) -> None:
    """An export from before brings back all but what was erased, and says so in a line; so does a
    document; a trace of it is not run again."""
    from pagemind.runtime.ingest import ingest

    with Runtime(
        tmp_path / "home", clock=FrozenClock(), embedder=HashingEmbedder(16), background=False
    ) as runtime:
        told(runtime, tmp_path)
        saved = tmp_path / "copy.pmz"
        saved.write_bytes((tmp_path / "after.pmz").read_bytes())
        runtime.erase("ada", subject="Zenobia")
        done = runtime.import_agent(saved, name="eva")
        assert [note for note in done.notes if "erased from this home before" in note]
        with runtime.reader("eva") as reader:
            said = str(reader.messages(20))
            assert PUBLIC in said
            assert "teapot" not in said
        letter = tmp_path / "letter.txt"
        letter.write_text(SECRET)
        with runtime.writer("eva") as writer:
            ingested = ingest(writer, [letter], denied=runtime.home.denied)
        assert not ingested.ids
        assert "erased" in ingested.skipped[0].why


def test_what_was_erased_is_left_out_of_other_tools_chats_replays_and_tasks(tmp_path: Path) -> None:
    """A chat of another tool loses the message and says why; a trace is not replayed into the home;
    a task does not take such an input."""
    with Runtime(
        tmp_path / "home",
        clock=FrozenClock(),
        embedder=HashingEmbedder(16),
        background=False,
        trace=tmp_path / "t.jsonl",
    ) as runtime:
        agent = runtime.agent("ada", "assistant", model=ScriptedModel(["Noted."]))
        agent.send(SECRET)
        agent.close()
        saved = tmp_path / "saved.jsonl"
        saved.write_bytes((tmp_path / "t.jsonl").read_bytes())
        runtime.erase("ada", subject="Zenobia")
        chat = tmp_path / "chat.json"
        said = [{"role": "user", "content": text} for text in (PUBLIC, SECRET)]
        chat.write_text(json.dumps({"messages": said}))
        done = runtime.import_chats(chat, name="old", definition="assistant")
        assert (done.taken.messages, done.taken.left) == (1, {("message", ERASED): 1})
        with pytest.raises(UserError, match="holds what was erased"):
            replay(saved, home=runtime.home.path)
        taken = Input(1, "1", "line 1", "d", Fields(text=SECRET))
        assert _was_erased(runtime.home.denied, taken)
        assert not _was_erased(runtime.home.denied, Input(2, "2", "l", "d", Fields(text=PUBLIC)))
