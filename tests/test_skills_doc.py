"""docs/skills.md is true: its definitions load, its words are those of the code."""

import re
from pathlib import Path
from typing import get_args

from kernel_kit import runtime_at

from pagemind.runtime import settings
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.definition_parts import Skilling
from pagemind.runtime.episode import FAILED_STOPS, RESULTS
from pagemind.runtime.instructions import own_of
from pagemind.runtime.skill import SkillState
from pagemind.runtime.testing import ScriptedModel

ACCEPT = Skilling.model_fields["accept"].annotation
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


def test_every_state_and_rule_of_a_skill_stands_there() -> None:
    """With the bounds that settings.py has."""
    rows = dict(re.findall(r"^\| `(\w+)`(?: \(default\))? \| (.+) \|$", DOC, re.MULTILINE))
    assert set(get_args(SkillState)) | set(get_args(ACCEPT)) <= set(rows)
    assert f"failed {settings.SKILL_FAILURES} times in a row" in rows["demoted"]
    assert f"of {settings.SKILL_TRIED} uses" in rows["demoted"]
    assert settings.SKILL_LEAST == 0.5
    assert f"trust below {settings.SUMMARY_TRUST}" in DOC.replace("\n", " ")
    texts = re.findall(r"```yaml\n(.*?)```", DOC, re.DOTALL)
    assert parse_definition(texts[1]).skills == Skilling()


def test_the_bounds_of_a_change_of_instructions_stand_there() -> None:
    """As settings.py has them."""
    words = " ".join(DOC.split())
    assert f"at most {settings.PROMPT_DIFF_LINES} lines" in words
    assert f"{settings.PROMPT_GROWTH_CHARS} characters more than before" in words
    texts = re.findall(r"```yaml\n(.*?)```", DOC, re.DOTALL)
    assert parse_definition(texts[2]).sleep.prompts


def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    """Its one example, with a proposal that waits."""
    (code,) = re.findall(r"```python\n(.*?)```", DOC, re.DOTALL)
    (definition,) = re.findall(r"```yaml\n(.*?)```", DOC, re.DOTALL)[2:]
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("clerk", parse_definition(definition), model=ScriptedModel())
        body = {"diff": "+Be brief.", "before": own_of(agent.state.database).text, "after": "Be x."}
        agent.state.changes.add(
            "prompts", "prompt", body, state="pending", target="system", seq=0, trust=80
        )
        agent.close()
        exec(code, {"runtime": runtime})
        with runtime.reader("clerk") as reader:
            assert own_of(reader.state.database).text == "Be x."
