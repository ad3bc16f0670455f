"""Fixtures of the tests of HTTP."""

from pathlib import Path

import pytest
from cli_kit import Cli


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Commands, which are told their home."""
    return Cli(tmp_path, capsys)
