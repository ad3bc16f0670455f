"""docs/durability.md names only what is there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_test_that_is_named_exists() -> None:
    """A promise without its test is no promise."""
    text = (ROOT / "docs" / "durability.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:\w+/)*test_\w+\.py)`", text))
    assert len(named) > 10
    assert not [path for path in sorted(named) if not (ROOT / "tests" / path).is_file()]
    for path in re.findall(r"`((?:runtime|benchmarks)/\w+\.py)`", text):
        assert (ROOT / path).is_file()
