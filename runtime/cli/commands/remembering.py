"""Commands that change what the agent holds: its blocks, and the passages that were kept."""

import re
from typing import TYPE_CHECKING

from pagemind.runtime.cli.commands.command import Command, Scene
from pagemind.runtime.cli.forgetting import active, matching
from pagemind.runtime.errors import NotFound, UserError

if TYPE_CHECKING:
    from pagemind.runtime.passage import Passage

_IDS = re.compile(r"[aA]\d{1,18}(?:[\s,]+[aA]\d{1,18})*")
_SHOWN_CHARS = 70


def _blocks(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.memory_show import print_blocks

    shared = scene.agent.shared_blocks
    found = scene.agent.blocks()
    named = {b.label: shared.name_of(b.label) for b in found if b.label in shared}
    print_blocks(found, named, scene.agent.context.core.profiles)


def _edit(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.text_editor import edited

    block = scene.agent.context.core.get(rest)
    with scene.cooked():
        value = edited(block.value, name=block.label)
    if value == block.value:
        print(f"{block.label} is as it was")
        return
    value = scene.agent.write_block(block.label, value)
    print(f"{block.label} is changed: {len(value):,} of {block.limit:,} characters")


def _remember(scene: Scene, rest: str) -> None:
    passage, new = scene.agent.insert(rest)
    print(f"kept as {passage.short_id}" if new else f"{passage.short_id} says so already")


def _forget(scene: Scene, rest: str) -> None:
    """Passages named by id go at once; those that a query finds, as the person chooses."""
    known = _named(scene, rest) if _IDS.fullmatch(rest) else _chosen(scene, rest)
    by_person = scene.agent.archival.for_person()
    for passage in known:
        by_person.delete(passage.number)
    if known:
        names = ", ".join(passage.short_id for passage in known)
        one = known[0]
        print(f"forgotten: {names} (hidden, not erased)")
        print(
            f"`pagemind memory restore {scene.agent.name} {one.short_id} {one.version}`"
            " brings it back"
        )
    else:
        print("nothing was forgotten")


def _named(scene: Scene, written: str) -> "list[Passage]":
    def absent(number: int) -> NotFound:
        hint = "/archival QUERY finds what there is"
        return NotFound(f"there is no passage a{number}", hint=hint)

    numbers = [int(number) for number in re.findall(r"\d+", written)]
    return active(scene.agent.state.passages, numbers, absent)


def _chosen(scene: Scene, query: str) -> "list[Passage]":
    from pagemind.runtime.cli.render import one_line, table

    ids = matching(scene.agent.engine, query)
    if not ids:
        raise UserError(f"no passage matches {query!r}", hint="/archival QUERY searches them")
    offered = {passage.short_id: passage for passage in _named(scene, " ".join(ids))}
    table(["id", "text"], [[id, one_line(each.text)] for id, each in offered.items()])
    answer = scene.ask("forget which? ids, or all; Enter for none: ").strip().lower()
    if answer == "all":
        return list(offered.values())
    if not answer:
        return []
    if not _IDS.fullmatch(answer):
        raise UserError(f"{answer!r} names no passage", hint="say a7, or all; nothing is forgotten")
    return _named(scene, answer)


def _review(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.memory_review import one_by_one
    from pagemind.runtime.reviewing import Reviewing

    def ask(question: str) -> str:
        return scene.ask(f"{question}: ")

    agent = scene.agent
    one_by_one(Reviewing(agent.state, agent.editor), rest, ask)
    agent.archival.changed()


def _revoke(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.memory_revoke import print_revocation
    from pagemind.runtime.revoke import Revoking

    agent = scene.agent
    revoking = Revoking(agent.state, agent.editor)
    found = revoking.preview(rest)
    print_revocation(found)
    if not found.taken:
        return
    if scene.ask("take this back? [y/N] ").strip().lower() not in ("y", "yes"):
        print("nothing was taken back")
        return
    revoking.revoke(rest)
    agent.archival.changed()
    print("taken back; `pagemind memory restore` brings back what is hidden, one by one")


COMMANDS = (
    Command("/blocks", "", "core memory: what the agent always sees", _blocks),
    Command("/edit", "BLOCK", "change a block in your $EDITOR", _edit, "block"),
    Command("/remember", "TEXT", "keep a passage in archival memory", _remember),
    Command("/forget", "QUERY", "hide passages: those you choose, or a7 a9", _forget, "passage"),
    Command("/review", "[SOURCE]", "decide on what waits for you, one by one", _review),
    Command("/revoke", "SOURCE", "take back all that came from m12, a function, a page", _revoke),
)
