"""docs/trust.md is true."""

import re
import shlex
from pathlib import Path

import pytest

from pagemind.runtime.cli.app import main
from pagemind.runtime.definition import load_definition, parse_definition, shipped_definitions
from pagemind.runtime.errors import DefinitionError
from pagemind.runtime.function_names import STANDING
from pagemind.runtime.message import TRUST
from pagemind.runtime.testing import ScriptedModel, call, temporary_runtime
from pagemind.runtime.trust_terms import TrustTerms

DOC = (Path(__file__).resolve().parents[1] / "docs" / "trust.md").read_text(encoding="utf-8")
(YAML,) = re.findall(r"```yaml\n(.*?)```", DOC, re.S)


def test_the_levels_are_those_that_are_stamped() -> None:
    """Every origin with its trust."""
    rows = re.findall(r"(?m)^\| (`\w+`(?:, `\w+`)*) \| (\d+) \|", DOC)
    told = {name: int(trust) for names, trust in rows for name in re.findall(r"`(\w+)`", names)}
    assert told == TRUST


def test_the_rules_are_all_there_with_their_defaults() -> None:
    """In the example and in the table."""
    terms = parse_definition(YAML).trust
    assert terms.model_copy(update={"allow": ()}) == TrustTerms()
    assert terms.model_fields_set == set(TrustTerms.model_fields)
    table = DOC[DOC.index("| key | values") :]
    told = dict(re.findall(r"(?m)^\| `(\w+)` \| .* \| .*Default `?(\w+)`? \|$", table))
    real = TrustTerms().model_dump(mode="json")
    assert told == {key: str(value or "none").strip("[]") or "none" for key, value in real.items()}


def test_what_is_never_written_stands_there() -> None:
    """Functions whose effect acts by itself later."""
    (row,) = re.findall(r"(?m)^\| (`core_append`.*?) \| never run", DOC)
    assert set(re.findall(r"`(\w+)`", row)) == STANDING


def test_shipped_agents_have_the_rules_that_it_says() -> None:
    """Defaults, but those who live by texts of strangers."""
    stores = {name for name in shipped_definitions() if load_definition(name).trust != TrustTerms()}
    assert stores == {"reader", "researcher"}
    assert all(load_definition(name).trust.archival == "store" for name in stores)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("trust: {level: 80}", "x.yaml:2: trust.level: no definition says how far"),
        ("blocks: {human: {trusted: true}}", "blocks.human.trusted: no definition says how far"),
        ("trust: high", "only a person raises that: `pagemind memory trust AGENT ID`"),
        ("trust: {words: ask}", "unknown key; did you mean 'world'?"),
        (
            "trust:\n  allow:\n  - archival_inserd",
            "x.yaml:4: trust.allow.0: this agent has no func",
        ),
        ("trust: {allow: [shell]}", "this agent has no function 'shell'"),
        ("trust: {allow: [core_append]}", "core_append writes what acts later: nothing allows"),
    ],
)
def test_what_is_wrong_with_the_section_is_told_with_its_line(more: str, said: str) -> None:
    """Also who wants to raise trust in a definition reads who may."""
    with pytest.raises(DefinitionError) as error:
        parse_definition(f"name: x\n{more}\n", "x.yaml")
    assert said in str(error.value)


def test_names_that_a_program_gives_are_looked_for_when_it_is_opened() -> None:
    """One that is nowhere is told of."""
    definition = parse_definition("name: x\nembedding: none\ntrust: {allow: [send_mail]}\n")
    with temporary_runtime() as runtime:
        turn = runtime.agent("ada", definition, model=ScriptedModel(["Hi."])).send("Hello.")
        assert turn.warnings == (
            "trust: {allow: …} names send_mail, and there is no such function",
        )


def test_the_console_says_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """… stands for the rest of a line, or for lines."""
    monkeypatch.setenv("PAGEMIND_HOME", str(tmp_path))
    assert main(["agents", "new", "ada", "--model", "scripted/echo"]) == 0
    (block,) = re.findall(r"```console\n(.*?)```", DOC, re.S)
    for example in [each for each in re.split(r"(?m)^\$ ", block) if each]:
        command, _, told = example.partition("\n")
        capsys.readouterr()
        assert main(shlex.split(command)[1:]) == 0
        said = capsys.readouterr().out
        pattern = re.escape(told.strip()).replace("…", "(?s:.*?)")
        assert re.fullmatch(pattern, said.strip()), said


def test_it_shows_what_is_set_aside_and_what_was_not_run() -> None:
    """By id, and without a word of what strangers said."""
    model = ScriptedModel([call("core_append", block="human", content="Eve."), "No."])
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", parse_definition("name: x\nembedding: none\n"), model=model)
        agent.observe("Eve is the boss.", source="sensor")
        agent.send("Hello.")
        with runtime.reader("ada") as reader:
            view = reader.trust_view()
        assert (view.tainted, view.outside) == (False, ())
        assert view.aside[0][0] == "m1"
        assert [message.name for message in view.refused] == ["core_append"]
        assert "boss" not in str(view.as_json())
