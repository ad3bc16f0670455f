"""docs/profiles.md and docs/choosing.md are true: what they show is printed, and loads."""

import re
import shlex
from pathlib import Path

import pytest
from cli_kit import Cli

from pagemind.runtime.definition import load_definition, parse_definition

DOCS = Path(__file__).resolve().parents[2] / "docs"
_SHOWN = re.compile(r"^```console\n(.+?)^```$", re.MULTILINE | re.DOTALL)
_YAML = re.compile(r"^```yaml\n(.+?)^```$", re.MULTILINE | re.DOTALL)
_PYTHON = re.compile(r"^```python\n(.+?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"\| `([a-z]+)` \|$", re.MULTILINE)


def test_the_page_of_profiles_shows_what_is_printed(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command with its output, and the Python below it runs."""
    text = (DOCS / "profiles.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAGEMIND_HOME", str(tmp_path / "home"))
    (tmp_path / "concierge.yaml").write_text(_YAML.findall(text)[0], encoding="utf-8")
    for block in _SHOWN.findall(text):
        for shown in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = shown.partition("\n")
            ran = cli(*shlex.split(command)[1:])
            if "…" not in expected:
                assert ran.out + ran.err == expected, command
            assert "Traceback" not in ran.err
    for code in _PYTHON.findall(text):
        exec(compile(code, "profiles.md", "exec"), {})


def test_the_examples_for_choosing_load() -> None:
    """Every definition is whole, and every agent that it names ships."""
    text = (DOCS / "choosing.md").read_text(encoding="utf-8")
    found = [parse_definition(each, "choosing.md") for each in _YAML.findall(text)]
    assert len(found) >= 5
    for name in _NAMED.findall(text):
        load_definition(name)
    faq = next(each for each in found if each.name == "faq")
    assert faq.functions == ("archival_search", "clock_now")
