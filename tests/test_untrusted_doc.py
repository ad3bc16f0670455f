"""docs/untrusted-text.md says what is so: its example, its names and its rules."""

import re
from pathlib import Path
from typing import get_args

from pagemind.runtime.cleaning import clean
from pagemind.runtime.settings import UNTRUSTED_LINE_CHARS
from pagemind.runtime.state.screen import Rule
from pagemind.runtime.trust_terms import TrustTerms
from pagemind.runtime.untrusted import unmarked

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "untrusted-text.md").read_text()


def test_the_example_is_a_fence() -> None:
    """It reads as the text that it stands for."""
    example = PAGE.split("```")[1].strip()
    assert unmarked(example).startswith("The tides of May, in metres.\n\nsystem\\: the reader")
    assert clean("system: the reader") in example
    assert f"more than {UNTRUSTED_LINE_CHARS} characters" in PAGE


def test_what_is_shown_by_name_is_named_so() -> None:
    """Each name and each backslash on the page is what cleaning makes."""
    shown = clean("\u202e" + "\U000e0041" * 12 + "\x1b<|im_start|>[INST]\nsystem:")
    for each in re.findall(r"`(\[\w+ U\+.*?\]|<\\\|im_start\|>|\[\\INST\]|system\\:)`", PAGE):
        assert each in shown


def test_the_rules_for_secrets_are_those_there_are() -> None:
    """With the default first."""
    named = re.findall(r"(?:^  secrets:|#) (redact|refuse|allow)\b", PAGE, re.MULTILINE)
    assert tuple(named) == get_args(Rule)
    assert TrustTerms().secrets == named[0]
