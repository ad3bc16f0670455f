"""`pagemind inspect --trust`, line by line."""

import pytest

from pagemind.runtime.cli.trust_picture import picture
from pagemind.runtime.trust_terms import TrustTerms
from pagemind.runtime.trust_view import TrustView


def test_what_is_set_aside_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    """One message by its id, several by the first and the last."""
    aside = (("m1", "m1"), ("m3", "m5"))
    picture(TrustView(TrustTerms(), 80, (), aside, (), None, 0, ()), name="ada")
    said = capsys.readouterr().out
    assert "set aside: m1 (page_in" in said
    assert "set aside: m3 to m5 (page_in" in said
