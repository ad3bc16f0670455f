"""What a home keeps about erasures: the ledger, the denylist, the files that were made."""

from pathlib import Path

import pytest

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.state.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home", FrozenClock())


def test_an_erasure_is_unfinished_until_it_ends_and_its_plan_goes_with_the_end(home: Home) -> None:
    """An erasure is unfinished until it ends, and its plan goes with the end."""
    begun = home.erasures.begin("agent-1", '{"messages":[1]}')
    home.erasures.reached(begun.id, "purge", '{"messages":[1],"more":2}')
    assert [each.state for each in home.erasures.unfinished("agent-1")] == ["purge"]
    assert home.erasures.unfinished("agent-2") == []
    home.erasures.end(begun.id, "hash", begun.at)
    assert home.erasures.unfinished() == []
    assert [(each.plan, each.receipt) for each in home.erasures.done()] == [("", "hash")]


def test_a_denied_text_is_known_whatever_its_width_case_and_spaces(home: Home) -> None:
    """A denied text is known whatever its width, case and spaces; nothing of it is stored."""
    denied = home.denied
    assert not denied.has_text("Sam moved to Cadiz in May.")
    digest = denied.of_text("Sam moved to  Cadiz in May.")
    assert digest is not None
    denied.add("e1", [digest, denied.of_document("ab" * 32), denied.of_id("id-1")])
    assert denied.has_text("sam moved\nto Ｃadiz in may.")
    assert not denied.has_text("Sam moved to Cadiz in June.")
    assert denied.has_document("ab" * 32)
    assert denied.has_id("id-1")
    assert not denied.has_id("id-2")
    assert b"cadiz" not in home.database.path.read_bytes().lower()


def test_what_anybody_may_say_is_not_denied_by_its_words(home: Home) -> None:
    """What anybody may say is not denied by its words."""
    assert home.denied.of_text("  Yes, please.  ") is None


def test_a_file_that_two_agents_stand_in_is_noted_for_both(home: Home) -> None:
    """A file that two agents stand in is noted for both, and forgotten for one."""
    for agent in ("a", "b", "a"):
        home.made_files.note(agent, "trace.jsonl", "trace")
    path = home.made_files.of("a")[0].path
    assert path.is_absolute()
    assert home.made_files.shared(path, "a")
    home.made_files.forget("b", path)
    assert not home.made_files.shared(path, "a")
