"""docs/threat-model.md names what there is: attacks, defences, trust, terms; its figures add up."""

import re
from pathlib import Path

from bench_kit import benchmark

from pagemind.runtime.message import TRUST
from pagemind.runtime.settings import SUMMARY_TRUST, TAINTED_QUESTIONS
from pagemind.runtime.trust_terms import TrustTerms

ROOT = Path(__file__).resolve().parents[1]
DOC = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")


def figures() -> dict[str, str]:
    """The table of what was measured: figure and value."""
    return dict(re.findall(r"^\| `(\w+)` \| ([\d.]+)", DOC, re.MULTILINE))


def test_every_attack_stands_in_the_table() -> None:
    """Under its kind, and no other."""
    row = re.compile(r"^\| ([\w -]+) \| ((?:`\w+`(?:, )?)+) \|$", re.MULTILINE)
    told = {
        (kind, name) for kind, names in row.findall(DOC) for name in re.findall(r"`(\w+)`", names)
    }
    assert told == {(each.kind, each.name) for each in benchmark("trust_attacks").every()}


def test_its_figures_are_of_these_attacks() -> None:
    """Nothing got through, and people got done what they wanted."""
    found = figures()
    attacks = len(list(benchmark("trust_attacks").every()))
    assert int(found["attacks"]) == attacks * benchmark("trust").VARIANTS
    assert found["consequential_actions"] == found["trusted_changed"] == "0"
    assert float(found["utility"]) >= 0.95
    names = {each.name for each in benchmark("trust_ablation").DEFENCES}
    told = set(re.findall(r"^\| ([\w ]+) \| \d+ of \d+ \|", DOC, re.MULTILINE))
    assert told == {*names, "all of them"}


def test_what_it_says_of_trust_and_terms_is_so() -> None:
    """The levels, the terms that switch a defence off, the files."""
    for origin, level in (("agent", 60), ("import", 50), ("tool", 40), ("document", 30)):
        assert TRUST[origin] == level
        assert f"| {level}" in DOC
    assert f"Below {SUMMARY_TRUST}" in DOC
    assert TAINTED_QUESTIONS == 5
    for term, value in re.findall(r"`trust: \{(\w+): (\w+)\}`", DOC):
        assert TrustTerms.model_validate({term: value})
    for path in re.findall(r"`((?:runtime|benchmarks)/[\w/]+\.py)`", DOC):
        assert (ROOT / path).is_file(), path
    for page in re.findall(r"\]\(([\w-]+\.md)\)", DOC):
        assert (ROOT / "docs" / page).is_file(), page
