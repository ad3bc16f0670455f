"""Prompts are filled strictly, in both directions, and everything else in them is literal."""

from pathlib import Path

import pytest

from pagemind.runtime import template
from pagemind.runtime.errors import TemplateError
from pagemind.runtime.settings import MAX_PROMPT_BYTES
from pagemind.runtime.template import Template, load


def test_every_occurrence_is_filled_whatever_the_spaces() -> None:
    """A variable is replaced everywhere, with or without spaces in its braces."""
    text = Template.from_text("{{ who }} and {{who}} at {{\thour }}")
    assert text.fill(who="Ada", hour=9) == "Ada and Ada at 9"


def test_a_missing_variable_names_file_line_and_what_exists() -> None:
    """Filling too little says which file, which line, which variable, and which there are."""
    text = Template.from_text("one {{ a }}\ntwo {{ b }}", "notice.md")
    with pytest.raises(TemplateError, match=r"notice\.md:2: no value for 'b'") as caught:
        text.fill(a="x")
    assert "a, b" in caught.value.hint


def test_an_unused_variable_is_refused_with_the_nearest() -> None:
    """Filling too much is an error as well, with the name that was probably meant."""
    text = Template.from_text("{{ tokens }}", "notice.md")
    with pytest.raises(TemplateError, match=r"notice\.md: does not use 'token'") as caught:
        text.fill(tokens=1, token=2)
    assert "did you mean tokens?" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    ['{"a": {"b": 1}}', "{ x }", "{{}}", '{{"a": 1}}', "}} {{", "f'{x}' ${y} %s {0}", "{% if %}"],
)
def test_literal_braces_survive(text: str) -> None:
    """What is no variable is text: JSON, format strings and other template languages."""
    assert Template.from_text(text).fill() == text


def test_a_value_is_not_read_again() -> None:
    """A value that looks like a variable stays as it is, so that data cannot reach the prompt."""
    text = Template.from_text("{{ said }} {{ secret }}")
    assert text.fill(said="{{ secret }} \\1", secret="s") == "{{ secret }} \\1 s"


@pytest.mark.parametrize("wrong", ["{{ user-name }}", "{{ 1st }}", "{{ two words }}", "{{ a.b }}"])
def test_a_near_variable_is_refused_when_loaded(wrong: str) -> None:
    """A misspelt variable cannot slip through as literal text."""
    with pytest.raises(TemplateError, match=r"x\.md:2: "):
        Template.from_text(f"first\n{wrong}", "x.md")


def test_a_value_of_another_type_is_a_mistake_of_the_caller() -> None:
    """None never becomes the word None in a prompt."""
    with pytest.raises(TypeError, match="who is NoneType"):
        Template.from_text("{{ who }}").fill(who=None)  # type: ignore[arg-type]  # the point


def test_a_prompt_loads_by_name_with_and_without_suffix() -> None:
    """`memgpt` and `memgpt.md` are the same shipped prompt."""
    assert load("memgpt") == load("memgpt.md")
    assert load("memgpt").source == "memgpt.md"


def test_an_unknown_prompt_names_the_nearest() -> None:
    """A misspelt name gets the one that was probably meant, and all there are."""
    with pytest.raises(TemplateError, match="no prompt is called 'memgtp'") as caught:
        load("memgtp")
    assert "did you mean memgpt?" in caught.value.hint
    assert "heartbeat" in caught.value.hint


def test_the_readme_is_no_prompt() -> None:
    """The table in prompts/ is for people."""
    assert "README" not in template.available()
    with pytest.raises(TemplateError):
        load("README")


def test_a_path_loads_a_file_of_ones_own(tmp_path: Path) -> None:
    """A file is read as UTF-8, with a BOM and CRLF tolerated and the last newline dropped."""
    path = tmp_path / "mine.md"
    path.write_bytes("\ufeffHello\r\n{{ who }} – ok\r\n".encode())
    assert load(path).fill(who="Ada") == "Hello\nAda – ok"
    assert load(str(path)).source == str(path)


@pytest.mark.parametrize("data", [b"", b" \n", b"\xff\xfe\x00", b"a\x00b", b"x" * (1 << 20) + b"y"])
def test_a_file_that_is_no_prompt_is_refused(tmp_path: Path, data: bytes) -> None:
    """Empty, binary and huge files are named, not sent to a model."""
    assert MAX_PROMPT_BYTES == 1 << 20
    path = tmp_path / "bad.md"
    path.write_bytes(data)
    with pytest.raises(TemplateError, match=r"bad\.md"):
        load(path)


@pytest.mark.parametrize("name", ["absent.md", "."])
def test_an_unreadable_path_is_a_template_error(tmp_path: Path, name: str) -> None:
    """An absent file and a folder are errors of the person, in one line."""
    with pytest.raises(TemplateError) as caught:
        load(tmp_path / name)
    assert "\n" not in caught.value.message
