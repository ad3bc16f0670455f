"""The table in prompts/README.md is true: files, who fills them, variables and size."""

import re
from pathlib import Path

import pytest

from pagemind.runtime.template import available, load
from pagemind.runtime.tokens import TokenCounter

ROOT = Path(__file__).resolve().parents[1]
ROW = re.compile(
    r"^\| `(\w+)\.md` \| .+ \| `((?:runtime|tools)/[\w/]+\.py)` \| (.+) \|$", re.MULTILINE
)
ROWS = {
    name: (filler, set(re.findall(r"`(\w+)`", variables)))
    for name, filler, variables in ROW.findall((ROOT / "prompts" / "README.md").read_text())
}
INSTRUCTIONS = (
    *("memgpt", "guided", "heartbeat", "demo"),
    *("companion", "researcher", "support", "coder", "secretary"),
)


def test_every_prompt_has_its_row() -> None:
    """Table and folder name the same files."""
    assert set(ROWS) == set(available())


@pytest.mark.parametrize("name", available())
def test_a_row_lists_the_variables_of_its_file(name: str) -> None:
    """The variables of a row are those of the file."""
    assert set(load(name).variables) == ROWS[name][1]


@pytest.mark.parametrize("name", [n for n in available() if n not in INSTRUCTIONS])
def test_a_prompt_is_loaded_by_the_file_its_row_names(name: str) -> None:
    """Whoever is said to fill a prompt does load it, so that no prompt lies dead."""
    assert f'load("{name}")' in (ROOT / ROWS[name][0]).read_text()


@pytest.mark.parametrize("name", available())
def test_what_holds_the_text_of_others_calls_it_data(name: str) -> None:
    """A prompt that takes a transcript, memories or blocks says that they are not instructions."""
    template = load(name)
    if {"transcript", "memories", "blocks", "sections"} & set(template.variables):
        assert re.search(r"is data|not (a source of )?instructions", template.text)


def test_the_system_prompt_teaches_every_function() -> None:
    """memgpt names each function that stores or finds something."""
    text = load("memgpt").text
    for function in (
        *("core_append", "core_edit", "core_rewrite", "recall_search"),
        *("archival_insert", "archival_search", "archival_edit"),
        *("page_in", "page_find", "page_pin"),
    ):
        assert f"`{function}`" in text


def test_system_prompts_are_short() -> None:
    """Instructions leave the window to the conversation: 550 tokens, 725 with a role."""
    count = TokenCounter().count
    assert count(load("memgpt").text) <= 550
    for role in ("companion", "researcher", "support", "coder", "secretary"):
        assert count(f"{load('memgpt').text}\n\n{load(role).text}") <= 725
