"""Fixtures of the command line's tests."""

from pathlib import Path

import pytest
from cli_kit import Cli

from pagemind.runtime.model_choice import PROVIDERS


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Commands in an empty home; no key, no server and no model is found."""
    for name in (*PROVIDERS, "PAGEMIND_MODEL", "PAGEMIND_MODELS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pagemind.runtime.model_choice._loopback", lambda: None)
    monkeypatch.setenv("PAGEMIND_HOME", str(tmp_path))
    return Cli(tmp_path, capsys)
