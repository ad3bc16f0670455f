"""The scripted model of the demo acts on what stands in the request, and on nothing else."""

from datetime import UTC, datetime

from pagemind.runtime.demo import script
from pagemind.runtime.demo.talk import talk
from pagemind.runtime.demo.tree_walk import towards
from pagemind.runtime.message import Message, Text, ToolCall
from pagemind.runtime.model import ModelRequest

AT = datetime(2026, 3, 4, 9, 36, tzinfo=UTC)
QUESTION = "What opens the padlock?"
SEARCH = (
    "2 matches among 600 messages\n-- conversation 2, Wednesday 4 March 2026\n"
    "m20 (p5) 09:30 Ines: The padlock is green.\nm23 (p5) 09:36 Ines: The padlock opens with 7-2."
)
PAGE = (
    "[p5 part 1 of 1]\nm20 [2026-03-04 09:30] Ines: The padlock is green.\n"
    "m23 [2026-03-04 09:36] Ines: The padlock opens with 7-2."
)


def said(text: str, seq: int, kind: str = "talk") -> Message:
    return Message(
        "user",
        (Text(text if kind == "notice" else f"Ines: {text}"),),
        kind=kind,  # type: ignore[arg-type]  # a literal in the tests
        seq=seq,
        speaker="Ines",
        said_at=AT,
    )


def came_back(name: str, text: str, seq: int) -> Message:
    return Message("tool", (Text(text),), name=name, tool_call_id="c", seq=seq)


def asked(*messages: Message) -> object:
    return script.answer(ModelRequest(("",), messages))


def test_what_the_talk_says_gets_its_reply() -> None:
    """The text is recognised behind the name that the kernel puts before it."""
    first = talk()[0]
    assert asked(said(first.said, 1)) == first.reply


def test_a_warning_is_heeded_once() -> None:
    """At the notice the most telling message is archived; then the reply comes."""
    first, second = talk()[:2]
    window = (said(first.said, 1), said(second.said, 2), said("90 % full", 3, "notice"))
    kept = asked(*window)
    assert isinstance(kept, ToolCall)
    assert kept.name == "archival_insert"
    assert kept.parsed()["content"].startswith("2026-03-04, Ines: ")
    saved = Message("assistant", tool_calls=(kept,), seq=4)
    assert asked(*window, saved, came_back("archival_insert", "stored", 5)) == second.reply


def test_a_question_is_searched_read_and_quoted() -> None:
    """Search first, then the page of the best line, then its words, date, message and page."""
    question = said(QUESTION, 700)
    search = asked(question)
    assert isinstance(search, ToolCall)
    assert (search.name, search.parsed()) == ("recall_search", {"query": QUESTION})
    found = came_back("recall_search", SEARCH, 702)
    read = asked(question, found)
    assert isinstance(read, ToolCall)
    assert (read.name, read.parsed()) == ("page_in", {"id": "p5"})
    reading = came_back("page_in", PAGE, 704)
    answer = asked(question, found, reading)
    assert isinstance(answer, str)
    assert script.parse(answer) == ("The padlock opens with 7-2.", "m23", "p5")
    assert "On Wednesday 4 March 2026 at 09:36 you said" in answer
    # A flush in between may take the search's result away: the page says enough.
    assert asked(question, reading) == answer


def test_what_is_not_in_the_reading_is_not_quoted() -> None:
    """The script knows the talk's replies, but answers questions from the request alone."""
    question = said(QUESTION, 700)
    search, empty = came_back("recall_search", SEARCH, 702), "[p5 part 1 of 1]\n"
    answer = asked(question, search, came_back("page_in", empty, 704))
    assert script.parse(str(answer)) == ("", "", "")


TABLE = (
    "<earlier>\n<page_table>\nd0 [2026-03-03 10:04 – 2026-04-20 08:24] 160 older pages\n"
    "p175 [2026-04-24 09:00]\n</page_table>\n</earlier>"
)
TOPS = (
    "[d0 part 1 of 1]\nd1 [2026-03-03 10:04 – 2026-03-08 10:09] 16 pages, 1,948 tokens: padlock\n"
    "d2 [2026-03-08 10:12 – 2026-03-14 09:50] 16 pages, 1,872 tokens: cake"
)
FIRST_PART = "[d1 part 1 of 2]\np4 [2026-03-04 09:27–09:32] 161 tokens: a deep teal"
SECOND_PART = "[d1 part 2 of 2]\np5 [2026-03-04 09:36–09:41] 30 tokens: the padlock"


def test_a_minute_is_walked_to_down_the_tree() -> None:
    """Table, root, directory, its next part, page: page_in only, and the words of that minute."""
    head = Message("user", (Text(TABLE),), kind="notice")
    window = [head, said("What did I tell you on 2026-03-04 at 09:36?", 700)]
    for seq, (calls, gives) in enumerate(
        (
            ({"id": "d0"}, TOPS),
            ({"id": "d1"}, FIRST_PART),
            ({"id": "d1", "part": 2}, SECOND_PART),
            ({"id": "p5"}, PAGE.replace("09:30", "09:35")),
        ),
        701,
    ):
        step = asked(*window)
        assert isinstance(step, ToolCall)
        assert (step.name, step.parsed()) == ("page_in", calls)
        window.append(came_back("page_in", gives, seq))
    answer = asked(*window)
    assert script.parse(str(answer)) == ("The padlock opens with 7-2.", "m23", "p5")


def test_a_walk_that_leads_nowhere_ends() -> None:
    """A time before the first page, a refused reading and a page without it: said, not guessed."""
    head = Message("user", (Text(TABLE),), kind="notice")
    early = said("What did I tell you on 2025-01-01 at 09:36?", 700)
    assert asked(head, early) == "No page of mine holds 2025-01-01 09:36."
    event = said("What did I tell you on 2026-03-04 at 09:36?", 700)
    refused = came_back("page_in", "no room", 702)
    assert asked(head, event, refused) == "I could not read on: no room"
    empty = came_back("page_in", "[p5 part 1 of 1]\n", 702)
    assert script.parse(str(asked(head, event, empty))) == ("", "", "")


def test_the_shortest_span_is_followed() -> None:
    """A page shown under its directory is read at once; of equal spans the first."""
    lines = (
        "d1 [2026-03-03 10:04 – 2026-03-08 10:09] 16 pages\np4 [2026-03-04 09:27–09:36] a\n"
        "p5 [2026-03-04 09:36] b\np6 [2026-03-04 09:36] c"
    )
    assert towards("2026-03-04 09:30", lines) == "p4"
    assert towards("2026-03-04 09:36", lines) == "p5"
    assert towards("2026-03-05 09:36", lines) == "d1"
    assert towards("2026-03-09 09:36", lines) == ""


def test_nothing_found_is_said() -> None:
    """A search whose lines are about something else ends the turn."""
    question = said("What is the capital of Peru?", 700)
    answer = asked(question, came_back("recall_search", SEARCH, 702))
    assert answer == "I looked among 600 messages and found nothing about that."
