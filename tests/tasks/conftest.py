"""Fixtures of the tests of tasks."""

from pathlib import Path

import pytest
from task_kit import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Three lines of input beside a small agent."""
    made = Bench(tmp_path)
    made.file("in.txt", "one\ntwo\n\nthree\n")
    return made
