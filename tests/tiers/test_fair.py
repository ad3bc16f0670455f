"""Fair: of ten results at most so many are of one untrusted source, while there are others."""

from kernel_kit import small

from pagemind.runtime.services import Hit, SearchFilters
from pagemind.runtime.testing import ScriptedModel, temporary_runtime
from pagemind.runtime.tiers.fair import crowded, fair


def hit(number: int, source: str, trust: int = 30) -> Hit:
    return Hit(f"a{number}", "archival", "", 1.0 - number / 100, source=source, trust=trust)


def test_what_is_over_its_share_comes_after_what_others_say() -> None:
    """What is trusted is not counted, the order of all else stays, nothing is lost."""
    page = [hit(number, "page") for number in range(8)]
    other, own = hit(8, "other"), [hit(number, "", 80) for number in range(9, 13)]
    sources = [each.id for each in fair([*page, other, *own], 5)]
    first = ["a0", "a1", "a2", "a3", "a4", "a8", "a9", "a10", "a11", "a12", "a5", "a6", "a7"]
    assert sources == first
    assert fair(page, 5) == page
    assert fair(own, 1) == own
    assert (crowded(page, 5), crowded([*page[:5], *own], 5), crowded(own, 1)) == (
        True,
        False,
        False,
    )
    twenty = fair(
        [*(hit(n, "page") for n in range(20)), *(hit(n, "", 80) for n in range(20, 40))], 5
    )
    assert sum(each.source == "page" for each in twenty[:20]) == 10


def test_a_flood_does_not_hide_what_a_person_said() -> None:
    """More passages of one page than a search has candidates: what is trusted is looked for."""
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", definition=small(), model=ScriptedModel([]))
        agent.insert("The code of the harbour gate is 1234, says Sam.")
        for number in range(130):
            agent.insert(f"Code harbour gate, code harbour gate: {number}", document="evil.html")
        found = agent.engine.search("archival", "code harbour gate", SearchFilters(), 10).hits
        assert "a1" in [each.id for each in found]
        assert len(found) == 10
