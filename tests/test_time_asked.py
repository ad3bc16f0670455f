"""Which time a question is about."""

from datetime import UTC, datetime

import pytest

from pagemind.runtime.time_asked import TimeAsked, time_asked

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Where does Sam live?", "now"),
        ("Where does Sam live now?", "now"),
        ("What is Sam's latest phone number?", "now"),
        ("What should I do before I visit Sam?", "now"),
        ("How old is Sam?", "now"),
        ("Is Sam used to the cold?", "now"),
        ("Which car does Sam drive, and until when is it insured?", "now"),
        ("What did Sam say about the boat?", "now"),
        ("Where did Sam live before moving?", "before"),
        ("Where did Sam live before that changed?", "before"),
        ("Where did Sam use to live? Where he used to live I mean", "before"),
        ("What was Sam's old phone number?", "before"),
        ("What is my old number?", "before"),
        ("Who was her previous manager?", "before"),
        ("Under which number could one call Ines before?", "before"),
        ("Who wrote Ines's prescriptions earlier?", "before"),
        ("What stood in Ines's garage before the new one?", "before"),
        ("In which town was Ines's flat before?", "before"),
        ("Where did Sam live in May 2024?", "then"),
        ("Who was Sam's manager before 2025?", "then"),
        ("Where did Sam go today?", "now"),
    ],
)
def test_a_question_is_about_now_unless_it_says_otherwise(question: str, kind: str) -> None:
    """By words that are sure, and by the past tense beside those that are not."""
    assert time_asked(question, NOW).kind == kind


def test_a_time_is_asked_at_its_end() -> None:
    """Of May: how things stood when it was over."""
    asked = time_asked("Where did Sam live in May 2024?", NOW)
    assert asked == TimeAsked("then", datetime(2024, 5, 31, 23, 59, 59, 999999, tzinfo=UTC))
