"""The Dockerfile names what is there; nobody runs it here."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_it_copies_all_that_the_package_is_made_of() -> None:
    """And no file that is not there."""
    copied = [word for line in re.findall(r"^COPY (.+) \S+$", TEXT, re.M) for word in line.split()]
    assert all((ROOT / name).exists() for name in copied)
    folders = set(PROJECT["tool"]["setuptools"]["package-dir"].values())
    assert folders <= set(copied)
    assert PROJECT["project"]["readme"] in copied


def test_it_runs_a_command_that_is_there_as_nobody_special() -> None:
    """The home is a volume of the user's own."""
    from pagemind.runtime.cli.app import COMMANDS

    assert re.search(r'^CMD \["up"\]$', TEXT, re.M)
    assert "up" in [words for _, words, _, _ in COMMANDS]
    assert TEXT.rindex("USER pagemind") < TEXT.rindex("ENTRYPOINT")
    home = re.search(r"PAGEMIND_HOME=(\S+)", TEXT)
    assert home is not None
    assert f"VOLUME {home[1]}" in TEXT


def test_its_python_and_extras_are_those_of_the_project() -> None:
    """As is what the page about it says."""
    version = re.search(r"^FROM python:(\d+\.\d+)-slim$", TEXT, re.M)
    assert version is not None
    assert PROJECT["project"]["requires-python"].removeprefix(">=") == version[1]
    page = (ROOT / "docs" / "awake.md").read_text(encoding="utf-8")
    extras = set(re.findall(r"EXTRAS=(\w+)", TEXT + page))
    assert extras
    assert extras <= set(PROJECT["project"]["optional-dependencies"])
