"""How `pagemind inspect --trust` looks: the rules first, then the window, then what was not run."""

from pagemind.runtime.cli.render import one_line, plural, table, visible
from pagemind.runtime.trust_view import TrustView


def picture(view: TrustView, *, name: str) -> None:
    """Print it."""
    for line in _rules(view):
        print(line)
    print()
    if not view.outside:
        print(f"nothing untrusted is in view: the next step of {name} is not tainted")
    else:
        print(f"untrusted and in view, so that the next step of {name} is tainted:")
        table(
            ("id", "from", "source", "trust", "tokens"),
            [(p.id, p.origin, p.source, p.trust, p.tokens) for p in view.outside],
            right="trust tokens",
        )
    for first, last in view.aside:
        those = first if first == last else f"{first} to {last}"
        print(f"set aside: {those} (page_in reads it, and taints)")
    blocks = ", ".join(f"{visible(label)} {trust}" for label, trust in view.blocks) or "none"
    print(f"trust of core memory: {blocks}; of the summary: {view.summary or 'there is none'}")
    if view.quarantined:
        kept = plural(view.quarantined, "record")
        print(f"in quarantine: {kept} (`pagemind memory review {name}`)")
    if view.refused:
        print("\nnot run of late:")
        for message in view.refused:
            print(f"  {message.short_id} {visible(one_line(message.text))}")


def _rules(view: TrustView) -> list[str]:
    terms = view.terms
    allowed = f", but for {', '.join(map(visible, terms.allow))}" if terms.allow else ""
    world = {"ask": "are asked for", "refuse": "are refused", "allow": "run"}
    named = {"ask": "is asked for", "refuse": "is refused", "allow": "is passed on"}
    kept = {"quarantine": "wait for a person", "store": "are stored with their low trust"}
    aside = {
        "when_needed": "when something is not run for its sake",
        "each_turn": "with each turn",
        "never": "never",
    }
    secrets = {"redact": "blotted out", "refuse": "refused", "allow": "stored as they are"}
    return [
        "while text from outside is in view",
        f"  functions that change the world {world[terms.world]}{allowed} (world: {terms.world})",
        f"  an argument that it was first to name {named[terms.arguments]}"
        f" (arguments: {terms.arguments})",
        f"  a person is asked {terms.questions} times a turn at most (questions)",
        "  core memory, timers and pins are not written",
        f"  records {kept[terms.archival]} (archival: {terms.archival})",
        f"what came in earlier turns leaves the window {aside[terms.aside]} (aside: {terms.aside})",
        f"secrets are {secrets[terms.secrets]} (secrets: {terms.secrets}); a search gives"
        f" {terms.per_source} results of one untrusted source (per_source)",
    ]
