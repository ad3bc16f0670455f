"""An erasure from its preview to its receipt: nothing of the erased is left in the home."""

import hashlib
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from erasure_kit import MARKER, Life

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.erasure.wanted import wanted
from pagemind.runtime.errors import AgentInUse, NotFound, UnknownAgent
from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.state.erasures import STEPS
from pagemind.runtime.testing import FrozenClock, ScriptedModel, call, temporary_runtime


def marks_in(home: Path) -> set[str]:
    """Every marker that stands in any byte of any file."""
    found: set[str] = set()
    for path in home.rglob("*"):
        if path.is_file():
            found |= {m.upper() for m in MARKER.findall(path.read_bytes().decode("latin-1"))}
    return found


def of(marks: set[str], person: str) -> set[str]:
    return {each for each in marks if each.startswith(person)}


def test_not_a_byte_of_the_erased_is_left_and_all_of_the_others(tmp_path: Path) -> None:
    """Not a byte of the erased is left anywhere in the home, all of the others is, the receipt says
    that it was proved and says no word; the agent is whole."""
    life = Life(tmp_path, 7)
    life.live(14)
    with life.runtime() as runtime:
        before = marks_in(tmp_path)
        assert of(before, "DANA")
        with runtime.erasing("ada") as erasing:
            preview = erasing.preview(wanted(subject="Dana"))
            assert any("DANA" in each.text for each in preview.items)
            receipt = erasing.erase(preview, markers=sorted(of(before, "DANA")))
        assert receipt.verified, receipt.found
        assert receipt.erased.messages == len(preview.prepared.plan.messages)
        with runtime.reader("ada") as reader:
            found = check_tiers(reader.state, reader.store) + check_state(reader.state)
        assert not [each for each in found if each.status == "wrong"]
        assert runtime.home.erasures.unfinished() == []
    after = marks_in(tmp_path)
    assert not of(after, "DANA")
    assert of(after, "ROBIN") == of(before, "ROBIN")
    assert receipt.path is not None
    written = receipt.path.read_bytes()
    assert hashlib.sha256(written).hexdigest() == receipt.sha256
    assert b"ana" not in written
    assert json.loads(written)["verified"] is True


@pytest.mark.parametrize("step", STEPS[1:4])
def test_what_is_cut_off_at_a_step_is_finished_at_the_next_opening(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it is cut off at, the next opening of the agent comes to the same end."""

    class CutOff(BaseException):
        pass

    def stop(at: str) -> None:
        if at == step:
            raise CutOff

    with temporary_runtime() as runtime:
        home = runtime.home.path
        agent = runtime.agent("ada", definition="assistant", model=ScriptedModel(["Noted."] * 4))
        agent.send("My sister Zenobia lives at number 77 in Kilkenny street.")
        agent.send("The ferry to Oban leaves at nine every morning.")
        agent.close()
        with pytest.raises(CutOff), runtime.erasing("ada", at_step=stop) as erasing:
            erasing.erase(erasing.preview(wanted(subject="Zenobia")))
        assert [each.state for each in runtime.home.erasures.unfinished()] == [step]
        agent = runtime.agent("ada", model=ScriptedModel([]))
        assert runtime.home.erasures.unfinished() == []
        assert "Oban" in str(agent.state.journal.newest(10))
        assert "Zenobia" not in str(agent.state.journal.newest(10))
        agent.close()
        (done,) = runtime.home.erasures.done()
        receipt = json.loads((home / "receipts" / f"{done.id}.json").read_bytes())
        assert receipt["verified"], receipt["found"]
        assert receipt["erased"]["messages"] == 2
        held = [path for path in home.rglob("*") if path.is_file()]
        assert not [path for path in held if b"zenobia" in path.read_bytes().lower()]


def test_readers_search_throughout(tmp_path: Path) -> None:
    """Readers search throughout, at each step anew, without an error."""
    life = Life(tmp_path, 3)
    life.live(12)
    done, searched = threading.Event(), threading.Semaphore(0)
    errors: list[BaseException] = []
    with life.runtime() as runtime:

        def search() -> None:
            try:
                with runtime.reader("ada") as reader:
                    while not done.is_set():
                        reader.search.search("recall", "word", SearchFilters(), 5)
                        searched.release()
            except BaseException as error:
                errors.append(error)

        def at_step(step: str) -> None:
            """Two more: the second of them began in this step."""
            while searched.acquire(blocking=False):
                pass
            assert searched.acquire(timeout=120), step
            assert searched.acquire(timeout=120), step

        thread = threading.Thread(target=search)
        thread.start()
        try:
            with runtime.erasing("ada", at_step=at_step) as erasing:
                receipt = erasing.erase(erasing.preview(wanted(subject="Dana")))
        finally:
            done.set()
            thread.join()
        assert not errors
        assert receipt.verified, receipt.found


def test_a_whole_agent_goes_with_its_folder_its_mail_and_its_name(tmp_path: Path) -> None:
    """A whole agent goes with its folder and its name; the other one stays."""
    with temporary_runtime() as runtime:
        for name in ("ada", "bob"):
            agent = runtime.agent(name, definition="assistant", model=ScriptedModel(["Yes."]))
            agent.send(f"The secret of {name} is buried under the old lighthouse of {name}.")
            agent.close()
        folder = runtime.path("ada")
        receipt = runtime.erase("ada", everything=True)
        assert receipt.verified, receipt.found
        assert not folder.exists()
        with pytest.raises(UnknownAgent):
            runtime.home.find("ada")
        assert runtime.info("bob").messages
        assert runtime.home.denied.has_text(
            "The secret of ada is buried under the old lighthouse of ada."
        )


def test_who_is_in_use_or_has_nothing_of_it_is_not_erased_from() -> None:
    """An agent in use, an id of nothing and another agent's id: nothing is erased."""
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", definition="assistant", model=ScriptedModel(["Yes."]))
        agent.send("The key lies under the third flower pot.")
        with pytest.raises(AgentInUse, match="open in this process"):
            runtime.erasing("ada")
        agent.close()
        with pytest.raises(NotFound):
            runtime.erase("ada", ids=["m99"])
        with runtime.erasing("ada") as erasing:
            assert erasing.preview(wanted(query="submarine")).nothing
        assert runtime.home.erasures.unfinished() == []


def test_tags_and_branches_of_a_table_go_and_the_receipt_says_so() -> None:
    """Tags and branches of a table, which hold old versions, go first; the receipt says so."""
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", definition="assistant", model=ScriptedModel(["Yes."] * 2))
        agent.send("The vault of Zenobia opens with the number 4711-beta.")
        agent.send("It rains in Oban today, and the ferry is late.")
        runtime.drain(agent)
        agent.close()
        import lancedb

        table = lancedb.connect(runtime.path("ada") / "lance").open_table("recall")
        table.tags.create("mine", table.version)
        table.branches.create("side")
        receipt = runtime.erase("ada", subject="Zenobia")
        assert receipt.verified, receipt.found
        assert receipt.holds == ("recall: tag mine", "recall: branch side")


def test_what_was_left_behind_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a step forgot is found by reading, and the receipt says where, not what."""
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", definition="assistant", model=ScriptedModel(["Yes."] * 2))
        said = "The vault of Zenobia opens with the word Xylophone at midnight."
        agent.send(said)
        agent.send("It rains in Oban today, and the ferry is late.")
        agent.close()
        (runtime.path("ada") / "forgotten.txt").write_text(f"note: {said}\n")
        receipt = runtime.erase("ada", subject="Zenobia")
        assert not receipt.verified
        assert [each for each in receipt.found if "forgotten.txt" in each]
        assert "Xylophone" not in str(receipt.as_json())


def test_the_agent_may_be_told_again() -> None:
    """What was erased is left out by nobody's chat: a person who says it again is heard."""
    with temporary_runtime() as runtime:
        said = "My sister Zenobia lives at number 77 in Kilkenny street."
        model = ScriptedModel(["Noted.", call("archival_insert", content=said), "Kept.", "Yes."])
        agent = runtime.agent("ada", definition="assistant", model=model)
        agent.send(said)
        agent.close()
        runtime.erase("ada", subject="Zenobia")
        agent = runtime.agent("ada", model=ScriptedModel(["Noted again."]))
        agent.send(said)
        assert said in str(agent.state.journal.newest(4))


def test_what_a_definition_no_longer_keeps_is_erased_at_the_opening() -> None:
    """What is older than `keep` goes when the agent is opened, with a receipt; the rest stays."""
    clock = FrozenClock()
    with temporary_runtime(clock) as runtime:
        definition = parse_definition("name: desk\nsystem: You help.\nkeep: 30d\n")
        agent = runtime.agent("ada", definition, model=ScriptedModel(["Yes."]))
        agent.send("The old password was swordfish-77-alpha.")
        agent.close()
        clock.advance(days=20)
        agent = runtime.agent("ada", model=ScriptedModel(["Yes."]))
        agent.send("The ferry to Oban leaves at nine.")
        assert "swordfish" in str(agent.state.journal.newest(9))
        agent.close()
        clock.advance(days=20)
        agent = runtime.agent("ada", model=ScriptedModel([]))
        said = str(agent.state.journal.newest(9))
        assert "swordfish" not in said
        assert "Oban" in said
        assert {row.by for row in agent.state.audit.rows(op="erased")} == {"runtime"}
        agent.close()
        (row,) = runtime.home.audit.rows(op="erased")
        assert (row.by, row.detail["verified"]) == ("runtime", True)


def test_an_undo_makes_nobody_say_what_a_block_said() -> None:
    """What a move of the time machine wrote back into a block is no word of a person: results that
    repeat it go with what it came from."""
    told = "The key is at QX4711."
    script = [
        *(call("core_append", block="human", content=told), "Kept."),
        *(call("core_append", block="human", content="Tea is liked."), "Now it says QX4711."),
        *(call("core_append", block="human", content="Rum is not."), "Noted."),
    ]
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", definition="assistant", model=ScriptedModel(script))
        agent.send("Zenobia hides the key at QX4711.")
        agent.send("I like tea.")
        agent.send("I do not like rum.")
        agent.undo()
        agent.close()
        receipt = runtime.erase("ada", subject="Zenobia")
        assert receipt.verified, receipt.found
        held = [path for path in runtime.home.path.rglob("*") if path.is_file()]
        assert not [path for path in held if b"QX4711" in path.read_bytes()]


def test_who_erased_goes_on_seeing_what_other_processes_write() -> None:
    """Reading the home for the proof lets go of none of the locks that this process has on it."""
    other = (
        "import sys; from pathlib import Path; from pagemind.runtime.runtime import Runtime\n"
        "with Runtime(Path(sys.argv[1])) as runtime:\n"
        "    runtime.home.audit.add('erased', 'other', by='user')"
    )
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", "assistant", model=ScriptedModel(["Yes."]))
        agent.send("The old password was swordfish-77-alpha.")
        agent.close()
        assert runtime.erase("ada", ids=["m1"]).verified
        for number in range(2, 5):
            subprocess.run([sys.executable, "-c", other, str(runtime.home.path)], check=True)
            assert len(list(runtime.home.audit.rows(op="erased"))) == number
