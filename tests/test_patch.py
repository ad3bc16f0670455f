"""A diff is applied by what its lines say."""

import pytest

from pagemind.runtime.patch import DoesNotApply, diff_of, patched

TEXT = "Be kind.\nBe brief.\n\nAnswer in English.\nBe kind."


@pytest.mark.parametrize(
    ("diff", "after"),
    [
        # The numbers are wrong, and the header is missing: neither says where.
        ("@@ -9,1 +9,2 @@\n Be brief.\n+Be exact.", TEXT.replace("brief.", "brief.\nBe exact.")),
        (" Be brief.\n+Be exact.", TEXT.replace("brief.", "brief.\nBe exact.")),
        (
            "```diff\n--- a\n+++ b\n@@\n-Answer in English.\n+Answer in French.\n```",
            TEXT.replace("English", "French"),
        ),
        ("@@\n+Say goodbye.", f"{TEXT}\nSay goodbye."),
        ("@@\n-Be brief.\n@@\n+Be long.", f"{TEXT.replace('Be brief.' + chr(10), '')}\nBe long."),
    ],
)
def test_a_diff_finds_its_place(diff: str, after: str) -> None:
    """By context and removed lines."""
    assert patched(TEXT, diff) == after


@pytest.mark.parametrize(
    ("diff", "why"),
    [
        ("@@\n-Be rude.\n+Be kind.", "do not stand in the text"),
        ("@@\n-Be kind.\n+Be cruel.", "fits in 2 places"),
        ("Please add a line.", "neither space, - nor \\+"),
        ("", "changes nothing"),
        ("@@\n Be brief.", "changes nothing"),
    ],
)
def test_what_has_no_place_is_refused(diff: str, why: str) -> None:
    """With the reason; nothing is guessed."""
    with pytest.raises(DoesNotApply, match=why):
        patched(TEXT, diff)


def test_a_diff_of_two_texts_leads_from_one_to_the_other() -> None:
    """Also from nothing."""
    for before in ("", TEXT):
        after = "Be kind.\nBe exact."
        assert patched(before, diff_of(before, after, "x")) == after
