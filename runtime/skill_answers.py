"""Skills as the JSON answers of `memory skills`."""

from collections.abc import Sequence
from typing import Any

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.errors import NotFound
from pagemind.runtime.skill import Skill
from pagemind.runtime.skill_book import SkillBook
from pagemind.runtime.state.state import State


def in_force(versions: Sequence[Skill]) -> Skill:
    """The version that a person means by the name: the active one, else the newest that is
    there."""
    there = [each for each in versions if each.state != "withdrawn"] or versions
    return next((each for each in there if each.state == "active"), there[-1])


def waiting(versions: Sequence[Skill]) -> Skill | None:
    """The version that waits for a person."""
    return next((each for each in reversed(versions) if each.state == "pending"), None)


def chosen(versions: Sequence[Skill], number: int | None) -> Skill:
    """The version of this number; without one, that which is in force. Raises NotFound."""
    if number is None:
        return in_force(versions)
    found = next((each for each in versions if each.version == number), None)
    if found is None:
        numbers = ", ".join(str(each.version) for each in versions)
        raise NotFound(
            f"{versions[0].name} has no version {number}", hint=f"its versions: {numbers}"
        )
    return found


def skills_json(state: State) -> list[dict[str, Any]]:
    """Items of `memory skills`, by name; not those of which nothing is left."""
    book = SkillBook(state)
    by_name: dict[str, list[Skill]] = {}
    there = {each.name for each in book.all() if each.state != "withdrawn"}
    for each in [each for each in book.all() if each.name in there]:
        by_name.setdefault(each.name, []).append(each)
    return [_item(book, versions) for _, versions in sorted(by_name.items())]


def skill_json(state: State, name: str, number: int | None = None) -> dict[str, Any]:
    """One of them, with what it says or does, and every version."""
    book = SkillBook(state)
    versions = book.versions(name)
    shown = chosen(versions, number)
    records = state.passages.get([each.number for each in versions])
    listed = []
    for each in versions:
        good, bad = book.tallies(each.number)
        saved = records[each.number].created_at
        assert saved is not None
        listed.append(
            {
                "id": each.short_id,
                "version": each.version,
                "state": each.state,
                "why": each.why,
                "good": good,
                "bad": bad,
                "saved_at": rfc3339(saved),
            }
        )
    return {
        **_item(book, versions, shown),
        "body": shown.body,
        "tests": shown.tests,
        "sources": list(records[shown.number].provenance.sources),
        "history": listed,
    }


def _item(book: SkillBook, versions: Sequence[Skill], shown: Skill | None = None) -> dict[str, Any]:
    one = shown or in_force(versions)
    waits = waiting(versions)
    good, bad = book.tallies(one.number)
    return {
        "id": one.short_id,
        "name": one.name,
        "version": one.version,
        "state": one.state,
        "form": one.form,
        "called": one.shown,
        "when_to_use": one.when_to_use,
        "why": one.why,
        "trust": one.trust,
        "good": good,
        "bad": bad,
        "versions": len(versions),
        "waiting": waits.version if waits is not None else None,
    }
