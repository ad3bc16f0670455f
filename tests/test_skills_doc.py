"""docs/skills.md is true: its definitions load, its words are those of the code."""

import re
from pathlib import Path

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.episode import FAILED_STOPS, RESULTS

DOC = (Path(__file__).resolve().parents[1] / "docs" / "skills.md").read_text(encoding="utf-8")


def test_the_definitions_of_the_page_are_some() -> None:
    """What it shows can be copied."""
    texts = re.findall(r"```yaml\n(.*?)```", DOC, re.DOTALL)
    definitions = [parse_definition(text) for text in texts]
    assert definitions[0].episodes.offer == 2
    assert "episode_search" in definitions[0].functions


def test_every_outcome_and_stop_reason_stands_there() -> None:
    """As episode.py has them."""
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", DOC, re.MULTILINE))
    assert tuple(each for each in rows if each in RESULTS) == RESULTS
    assert set(FAILED_STOPS) <= set(re.findall(r"`(\w+)`", rows["failed"]))
