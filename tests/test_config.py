"""config.yaml: read strictly, changed a line at a time."""

from pathlib import Path

import pytest

from pagemind.runtime.config import Config, changed, fresh, load, path_of, set_value, values
from pagemind.runtime.errors import NotFound, UserError
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel

TEXT = """\
# mine
model: openai/gpt-4o-mini   # the cheap one

# embedding: local/minilm
otel: true
"""


def test_what_is_not_there_is_not_set(tmp_path: Path) -> None:
    """No file, an empty one and one of comments say nothing."""
    assert load(tmp_path) == Config()
    for text in ("", "# model: x\n\n"):
        path_of(tmp_path).write_text(text)
        assert load(tmp_path) == Config()


def test_a_key_changes_in_its_line(tmp_path: Path) -> None:
    """All other lines and the comment behind it stay."""
    path_of(tmp_path).write_text(TEXT)
    set_value(tmp_path, "model", "anthropic/claude-haiku-4-5")
    expected = TEXT.replace("openai/gpt-4o-mini", "anthropic/claude-haiku-4-5")
    assert path_of(tmp_path).read_text() == expected
    set_value(tmp_path, "embedding", "none")
    expected = expected.replace("# embedding: local/minilm", "embedding: none")
    assert path_of(tmp_path).read_text() == expected
    set_value(tmp_path, "otel", "off")
    assert load(tmp_path) == Config("anthropic/claude-haiku-4-5", "none", "", False)
    set_value(tmp_path, "model", None)
    assert "# model: anthropic" in path_of(tmp_path).read_text()
    assert load(tmp_path).model == ""
    set_value(tmp_path, "definition", "coder")
    assert path_of(tmp_path).read_text().endswith("definition: coder\n")


@pytest.mark.parametrize(
    "value", ["a: b", "x #y", "true", "null", "'quoted'", '"', "~/it.yaml", "ü.yaml", "- a", "{a}"]
)
def test_any_value_comes_back_as_it_was(value: str, tmp_path: Path) -> None:
    """What YAML would read otherwise is quoted."""
    path_of(tmp_path).write_text(TEXT)
    set_value(tmp_path, "definition", value)
    assert values(tmp_path)["definition"] == value
    set_value(tmp_path, "definition", "assistant")
    assert values(tmp_path)["definition"] == "assistant"


def test_a_fresh_file_reads_as_what_was_chosen(tmp_path: Path) -> None:
    """Keys that are not chosen stand there as comments, to be taken up."""
    chosen = Config("openai/gpt-4o-mini", "none")
    path_of(tmp_path).write_text(fresh(chosen))
    assert load(tmp_path) == chosen
    assert "# otel: true" in fresh(chosen)
    assert "otel: true" in changed(fresh(chosen), "otel", True).splitlines()


def test_what_is_wrong_is_named_with_its_line(tmp_path: Path) -> None:
    """A wrong key with the nearest, a wrong value with what could be, YAML that is none."""
    for text, message, hint in (
        ("a: 1\nmodle: x\n", ":1: 'a' is not a key", "keys are model"),
        ("modle: x\n", ":1: 'modle' is not a key", "did you mean model?"),
        ("otel: maybe\n", ":1: otel is true or false, not 'maybe'", "true"),
        ("model: [a]\n", ":1: model must be one value", ""),
        ("model: a: b\n", "a colon where none can stand", ""),
        ("- a\n", "a config is a mapping", "model:"),
    ):
        path_of(tmp_path).write_text(text)
        with pytest.raises(UserError) as raised:
            load(tmp_path)
        assert message in raised.value.message
        assert hint in raised.value.hint
    with pytest.raises(NotFound, match="not a key"):
        set_value(tmp_path, "embeding", "x")


def test_what_cannot_be_changed_in_a_line_is_left_alone(tmp_path: Path) -> None:
    """A value over several lines is for an editor."""
    text = "model: >-\n  openai/gpt-4o-mini\n"
    path_of(tmp_path).write_text(text)
    with pytest.raises(UserError, match="cannot be changed"):
        set_value(tmp_path, "model", "x")
    assert path_of(tmp_path).read_text() == text


def test_new_agents_follow_it(tmp_path: Path) -> None:
    """The definition and the embedding of agents that name none; what is stated wins."""
    path_of(tmp_path).write_text("definition: coder\nembedding: none\n")
    with Runtime(tmp_path) as runtime:
        runtime.agent("ada", model=ScriptedModel(["Hi."]))
        assert runtime.home.find("ada").definition == "coder"
        with runtime.reader("ada") as reader:
            assert reader.definition.embedding == "none"
    own = tmp_path / "own.yaml"
    own.write_text("name: own\nembedding: hashing\n")
    with Runtime(tmp_path, embedder=HashingEmbedder(32)) as runtime:
        runtime.agent("bob", own, model=ScriptedModel(["Hi."]))
        with runtime.reader("bob") as reader:
            assert reader.definition.embedding == "hashing"
