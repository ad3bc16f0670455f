"""What waits for a person, as it is shown: what goes and what comes, with what it came from.

Every character is seen, hidden ones by their names. Floods of nearly the same are folded.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pagemind.runtime.quarantine import Kept
    from pagemind.runtime.reviewing import Seen

    Item = Seen | Kept

_EXCERPT = 100  # characters of a message that something came from


def show_all(found: "Sequence[Item]", *, folded: bool = True) -> None:
    from pagemind.runtime.cli.failure import say

    for each, others in folded_of(found) if folded else [(each, []) for each in found]:
        print_item(each)
        if others:
            print(f"  … and {len(others):,} nearly the same: {' '.join(others)}")
        print()
    if not found:
        say("nothing waits for review")


def folded_of(found: "Sequence[Item]") -> "list[tuple[Item, list[str]]]":
    """Each with the ids of the rest of its flood, which is not listed for itself."""
    rest: dict[str, list[str]] = {}
    heads: list[Item] = []
    for each in found:
        burst = getattr(each, "burst", "")
        if burst in rest:
            rest[burst].append(each.id)
            continue
        heads.append(each)
        if burst:
            rest[burst] = []
    return [(each, rest.get(getattr(each, "burst", ""), [])) for each in heads]


def print_item(item: "Item") -> None:
    """What goes and what comes, why, and what it rests on."""
    from pagemind.runtime.cli.consent_view import exact
    from pagemind.runtime.cli.render import console, local

    body = item.as_json()
    record = item.id.startswith("a")
    out = console()
    target = f" {body['target']}" if body["target"] else ""
    what = f"{body['job']}: {body['op'] or 'not decided'}{target}"
    if record:
        what = f"{body['kind']}, {'waits' if item.state == 'pending' else item.state}"
    out.print(f"{item.id}  {what}", style="bold", end="", markup=False, highlight=False)
    at = _time(body["at"])
    about = f"  {'' if record else f'{item.state}, '}{local(at) if at else ''}"
    about += f", trust {body['trust']}"
    out.print(about, style="dim", markup=False, highlight=False)
    for sign, text, style in (("-", body["before"], "red"), ("+", body["after"], "green")):
        for line in text.split("\n") if text else ():
            out.print(f"{sign} {exact(line)}", style=style, markup=False, highlight=False)
    for name, text in (("why", body["why"]), ("error", body["error"])):
        if text:
            out.print(f"  {name}: {exact(text)}", markup=False, highlight=False)
    told = {each["id"] for each in body["messages"]}
    if rest := [each for each in item.sources if each not in told]:
        out.print(f"  from: {', '.join(rest)}", markup=False, highlight=False)
    for each in body["messages"]:
        text = " ".join(each["text"].split())
        cut = f"{text[:_EXCERPT]}…" if len(text) > _EXCERPT else text
        said = f"  from {each['id']} ({exact(each['source'])}): {exact(cut)}"
        out.print(said, style="dim", markup=False, highlight=False)
    if len(body["told_by"]) > 1 and body["like"]:
        by = ", ".join(map(exact, body["told_by"]))
        out.print(f"  said by {len(body['told_by'])} sources: {by}", markup=False, highlight=False)


def _time(written: str | None) -> "Any":
    from pagemind.runtime.clock import parse_rfc3339

    return parse_rfc3339(written) if written else None
