"""Lift: what is known of the person from a promoted segment comes into the block `human`.

A model only chooses: which facts are added as lines, which line a fact takes the place of. The
words are those of the facts, which consolidation has let in. The block keeps its limit and every
line that no fact of the same matter replaces, so that it is never emptied; it is changed in one
version, which `memory review` shows and takes back.
"""

from collections.abc import Sequence
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.core_memory import Block
from pagemind.runtime.models.person_facts import is_known
from pagemind.runtime.models.plain_talk import content
from pagemind.runtime.settings import LIFT_FACTS, LIFT_LINES
from pagemind.runtime.sleep.asked import asked, whole
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.sleep.promote import LIFT
from pagemind.runtime.sleep.recent import Memory, numbered, of_records
from pagemind.runtime.template import load
from pagemind.runtime.untrusted import marker

BLOCK = "human"
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"add": {"type": "array"}, "replace": {"type": "array"}},
    "required": ["add", "replace"],
}


class Lift:
    """Implements Job."""

    name = LIFT

    def due(self, context: SleepContext) -> bool:
        if context.model is None or context.core is None or not context.may_write("working"):
            return False
        return bool(context.cursor(LIFT)) and _block(context) is not None

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        with context.held():
            segments = list(context.cursor(LIFT))
            block = _block(context)
            assert block is not None
            facts = _facts(context, segments, block)
            lines = numbered(context, facts, context.room() // 2)
        facts = facts[: len(lines)]
        after = ""
        if facts:
            shown = "\n".join(f"{n}. {line}" for n, line in enumerate(block.value.splitlines(), 1))
            told = "\n".join(lines)
            prompt = load("lift").fill(
                lines=shown, facts=told, fence=marker(f"{shown}\n{told}"), most=LIFT_LINES
            )
            after = changed(block, facts, asked(context, prompt, _SCHEMA, cancel))
        with context.held(), context.state.database.transaction():
            if after and _block(context) == block:
                self._write(context, block, after, facts)
            left = [n for n in context.cursor(LIFT) if n not in segments]
            context.set_cursor(LIFT, left)

    def _write(
        self, context: SleepContext, block: Block, after: str, facts: Sequence[Memory]
    ) -> None:
        used = [fact for fact in facts if _one_line(fact.text) in after]
        trust = min(fact.trust for fact in facts)  # of all that it was shown
        changes = context.state.changes
        change = changes.add(
            self.name,
            "block",
            {"before": block.value, "after": after},
            state="pending" if context.review else "planned",
            seq=context.state.journal.last_seq,
            target=block.label,
            base=block.version,
            why="known from what is often come upon",
            sources=[fact.id for fact in used],
            trust=trust,
        )
        if context.review:
            context.report.count("pending")
            return
        assert context.core is not None
        context.core(trust).rewrite(block.label, after)
        result = f"{block.label}@{block.version + 1}"
        context.state.lineage.add(
            f"block:{block.label}",
            [fact.id for fact in used],
            "promoted",
            seq=context.state.journal.last_seq,
            version=block.version + 1,
        )
        changes.settle(change.number, "applied", by="worker", result=result)
        context.report.count("lifted", len(used))


def _block(context: SleepContext) -> Block | None:
    """The block, if it is plain text that the worker may change, and nothing waits for it."""
    state = context.state
    found = next((each for each in state.blocks.all() if each.label == BLOCK), None)
    if found is None or found.read_only:
        return None
    if BLOCK in context.profiles or BLOCK in state.blocks.shared():
        return None
    waits = state.changes.in_state("planned", "pending", target=BLOCK, limit=1)
    return None if waits else found


def _facts(context: SleepContext, segments: Sequence[int], block: Block) -> list[Memory]:
    """What was kept of what was said in these segments and the block does not say, the most
    important first."""
    state = context.state
    pages = [page for number in segments for page in state.segments.pages(number)]
    ids: dict[int, None] = {}
    for page in state.pages.get_all(pages).values():
        for message, _, _ in state.journal.span(page.first_seq, page.last_seq):
            if message.role == "user":
                for edge in state.lineage.derived_of(message.short_id):
                    if edge.derived[:1] == "a":
                        ids[int(edge.derived[1:])] = None
    records = state.passages.get(list(ids)).values()
    known = block.value.splitlines()
    facts = [
        fact
        for fact in of_records(records, context.scope, derived=False)
        if not is_known(fact.text, known)
    ]
    return sorted(facts, key=lambda fact: -fact.importance)[:LIFT_FACTS]


def changed(block: Block, facts: Sequence[Memory], answer: Any) -> str:
    """The block with what was chosen; "" where nothing of it holds."""
    lines = block.value.splitlines()
    taken: set[int] = set()
    for each in answer["replace"][:LIFT_LINES] if answer else []:
        said = each if isinstance(each, dict) else {}
        line, n = whole(said.get("line")), whole(said.get("fact"))
        if line is None or not 1 <= line <= len(lines) or not _is_fact(n, facts, taken):
            continue
        old, new = lines[line - 1], facts[n - 1].text if n else ""
        # Something of another matter would be lost: then it is a line of its own, or none.
        if _same_matter(old, new):
            lines[line - 1] = _one_line(new)
            taken.add(n or 0)
    added = [whole(each) for each in answer["add"][:LIFT_LINES]] if answer else []
    for n in dict.fromkeys(added):
        if n is not None and _is_fact(n, facts, taken):
            longer = [*lines, _one_line(facts[n - 1].text)]
            if len("\n".join(longer)) <= block.limit:
                lines = longer
                taken.add(n)
    after = "\n".join(lines)
    fits = after.strip() and len(after) <= block.limit
    return after if taken and fits and after != block.value else ""


def _same_matter(old: str, new: str) -> bool:
    """Whether two lines share more than the names in them."""
    names = content(" ".join(word for word in old.split() if word[:1].isupper()))
    matter = content(old) - names
    return bool(matter) and len(matter & content(new)) * 3 >= len(matter)


def _is_fact(n: int | None, facts: Sequence[Memory], taken: set[int]) -> bool:
    return n is not None and 1 <= n <= len(facts) and n not in taken


def _one_line(text: str) -> str:
    return " ".join(text.split())
