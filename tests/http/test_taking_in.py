"""What of a client's history is new, whatever clients do with it."""

import itertools
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from pagemind.runtime.http.chat_request import Heard
from pagemind.runtime.http.taking_in import Stored, new_of


def client(*said: str) -> list[Heard]:
    """A history as a client has it: user, assistant, …"""
    roles = itertools.cycle(("user", "assistant"))
    return [Heard(role, text, "user") for role, text in zip(roles, said, strict=False)]  # type: ignore[arg-type]  # cycle() forgets the literals


def stored(*said: str, taken_in: bool = False) -> list[Stored]:
    """What the agent has of it, newest first, as stored_of() gives it."""
    return [Stored(one.role, one.text, (), taken_in) for one in reversed(client(*said))]


def new(history: Sequence[Heard], *known: Stored) -> list[str]:
    return [one.text for one in new_of(history, iter(known))]


def test_a_history_that_is_the_agents_has_nothing_new() -> None:
    """All of it stands in the journal."""
    assert new(client("a", "1", "b", "2"), *stored("a", "1", "b", "2")) == []


def test_only_the_last_exchange_is_looked_for_where_it_is_known() -> None:
    """The journal is read no further: a long life costs nothing."""

    def endless() -> "itertools.chain[Stored]":
        return itertools.chain(stored("a", "1"), _never())

    assert new_of(client("a", "1"), endless()) == []


def _never() -> "itertools.chain[Stored]":
    raise AssertionError("it was read on")
    yield


def test_a_history_of_strangers_is_all_new_in_its_order() -> None:
    """Nothing of it is known."""
    assert new(client("a", "1", "b", "2"), *stored("x", "7")) == ["a", "1", "b", "2"]


def test_what_another_model_said_in_between_is_new() -> None:
    """The client asked elsewhere and came back."""
    assert new(client("a", "1", "b", "elsewhere"), *stored("a", "1")) == ["b", "elsewhere"]


def test_a_thread_is_found_again_behind_others() -> None:
    """It may rest for long."""
    known = [*stored("x", "7", "y", "8"), *stored("a", "1")]
    assert new(client("a", "1"), *known) == []


def test_a_history_that_was_cut_to_its_end_is_known() -> None:
    """Clients leave out what is old, or put a summary in its place."""
    assert new(client("summary", "fine", "b", "2"), *stored("a", "1", "b", "2")) == []


def test_an_answer_that_was_cut_off_on_its_way_is_known() -> None:
    """The client stopped reading; the agent has more of it."""
    assert new(client("a", "The sea"), *stored("a", "The sea is blue [interrupted]")) == []


def test_white_space_is_not_what_a_message_is_known_by() -> None:
    """Clients trim texts."""
    assert new(client(" a\r\nb ", "1"), *stored("a b", "1")) == []


def test_an_edited_answer_is_new_and_its_question_is_not() -> None:
    """The agent learns what the client believes that it said."""
    known = stored("a", "1", "b", "2")
    assert new(client("a", "1", "b", "edited"), *known) == ["edited"]


def test_a_question_without_an_answer_is_not_stored_twice() -> None:
    """Its turn was stopped before a word was said."""
    history = [*client("a", "1"), Heard("user", "b", "user")]
    known = [Stored("user", "b"), *stored("a", "1")]
    assert new(history, *known) == []


def test_what_a_killed_process_had_taken_in_is_not_taken_in_again() -> None:
    """The request is sent again: the rest follows, in its order."""
    history = client("a", "1", "b", "2")
    whole = stored("a", "1", "b", "2", taken_in=True)
    for left in range(5):
        assert new(history, *whole[left:]) == ["a", "1", "b", "2"][4 - left :]


def test_an_image_is_a_part_of_what_is_said() -> None:
    """The same words with another picture are another message."""
    history = [Heard("user", "look", "user", (b"png",)), Heard("assistant", "1", "assistant")]
    known = [Stored("assistant", "1"), Stored("user", "look", history[0].digests)]
    assert new(history, *known) == []
    assert new(history, Stored("assistant", "1"), Stored("user", "look", ("other",))) != []


@given(st.lists(st.sampled_from(["yes", "no", "go on"]), min_size=1, max_size=8), st.data())
def test_a_talk_of_few_words_is_known_wherever_it_is_cut(
    said: list[str], data: st.DataObject
) -> None:
    """However much of it is alike, no part of it that a client sends is new."""
    texts = [text for word in said for text in (word, f"re {word}")]
    whole = client(*texts)
    start = data.draw(st.integers(0, len(said) - 1)) * 2
    assert new(whole[start:], *stored(*texts)) == []
