"""Paths as people write them."""

from pathlib import Path

from pagemind.runtime.written_path import expanded

ROOT = Path(__file__).resolve().parents[1]


def test_a_home_that_nobody_has_is_no_fault() -> None:
    """`~` is the home folder; `~name` of nobody stays as it is."""
    assert expanded("~/boats") == Path.home() / "boats"
    assert expanded("~no-such-user/boats") == Path("~no-such-user/boats")
    assert expanded(Path("boats")) == Path("boats")


def test_every_written_path_is_read_so() -> None:
    """Python's own way raises what nobody expects: no other module calls it."""
    found = [
        str(path.relative_to(ROOT))
        for folder in ("runtime", "tools")
        for path in (ROOT / folder).rglob("*.py")
        if ".expanduser()" in path.read_text(encoding="utf-8")
    ]
    assert found == ["runtime/written_path.py"]
