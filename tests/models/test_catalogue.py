"""The catalogue of local models."""

import re

import pytest

from pagemind.runtime.errors import LocalModelError
from pagemind.runtime.models.catalogue import (
    Entry,
    HubSource,
    WheelSource,
    default_name,
    entries,
    find_entry,
    trained_window,
)


def test_the_default_stands_first() -> None:
    """Whoever takes the first of what is installed takes the default where it is there."""
    assert entries()[0].name == default_name() == "qwen2.5-coder-0.5b"


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_an_entry_is_complete(entry: Entry) -> None:
    """Every model has a whole hash, a licence, a window and a source."""
    assert re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
    assert entry.licence
    assert entry.window >= 2048
    assert entry.sources


def test_parts_of_wheels_add_up_to_the_file() -> None:
    """The wheels of a source hold exactly the bytes of the file."""
    for entry in entries():
        for source in entry.sources:
            if isinstance(source, WheelSource):
                assert sum(part.bytes for part in source.parts) == entry.bytes


def test_the_publisher_comes_before_the_mirror() -> None:
    """The default is asked for at its publisher's first, and the mirror is called what it is."""
    first, second = find_entry("qwen2.5-coder-0.5b").sources
    assert isinstance(first, HubSource)
    assert isinstance(second, WheelSource)
    assert "third party" in str(second)
    assert "never imported" in str(second)


def test_an_unknown_name_gets_the_nearest() -> None:
    """A mistyped name is answered with the one that was meant and all that there are."""
    with pytest.raises(LocalModelError) as caught:
        find_entry("local/smolm2-135m")
    assert "did you mean smollm2-135m?" in caught.value.hint
    assert "qwen2.5-coder-0.5b" in caught.value.hint


def test_the_window_is_known_for_named_models_only() -> None:
    """A file of one's own has no entry, hence no trained window."""
    assert trained_window("local/smollm2-135m") == 8192
    assert trained_window("/tmp/own.gguf") is None
