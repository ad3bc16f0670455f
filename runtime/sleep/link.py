"""Link: new records are linked to what they belong with, both ways (after A-MEM, arXiv 2502.12110).

A link joins two records whose meanings are near, of one owner, where the scope of one holds the
other. Without a model that is all. With one, once some have been linked, it may say of the records
around them how they are to be found from now on: tags, which are added, and a line of context. It
is shown numbers that are held against what it was shown; nobody's own words are changed, and
nothing is that is more trusted than what was shown beside it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import NotFound
from pagemind.runtime.gist import holds, telling
from pagemind.runtime.message import TRUST
from pagemind.runtime.passage import EVERGREEN, ORDINARY, Passage
from pagemind.runtime.scope import within
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.settings import (
    JOB_REPLY_TOKENS,
    LINK_BACK,
    LINK_BATCH,
    LINK_CONTEXT_CHARS,
    LINK_LIKE,
    LINK_MOST,
    LINK_SHOWN,
    LINK_TAG_CHARS,
    LINK_TAGS,
    LINK_TOLD,
)
from pagemind.runtime.sleep.asked import asked, whole
from pagemind.runtime.sleep.derived import propose
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.sleep.recent import Memory, numbered, of_records
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.template import load
from pagemind.runtime.untrusted import marker

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"changes": {"type": "array"}},
    "required": ["changes"],
}
_TAG = re.compile(r"\w[\w '’&+-]*", re.UNICODE)


class Link:
    """Implements Job."""

    name = "link"

    def due(self, context: SleepContext) -> bool:
        if not context.may_write("semantic"):
            return False
        at = self._at(context)
        newer = context.state.passages.after(at["after"], 1)
        return bool(newer) or (context.model is not None and len(at["told"]) >= LINK_TOLD)

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        while self._link_some(context, cancel):
            cancel.check()
        if context.model is not None and len(self._at(context)["told"]) >= LINK_TOLD:
            self._tell(context, cancel)
        context.written()

    def _at(self, context: SleepContext) -> dict[str, Any]:
        """`after` is the last record that was looked at; `told` those that were linked since a
        model was asked."""
        back = max(0, context.state.passages.last_number - LINK_BACK)
        return {"after": back, "told": [], **(context.cursor(self.name) or {})}

    # --- links ----------------------------------------------------------------------------------

    def _link_some(self, context: SleepContext, cancel: CancelToken) -> bool:
        """Link the next records; whether there may be more."""
        at = self._at(context)
        with context.held():
            new = context.state.passages.after(at["after"], LINK_BATCH)
        near: dict[int, list[tuple[str, float]]] = {}
        for record in filter(_may_be_linked, new):
            cancel.check()
            near[record.number] = context.near(
                record.text, 2 * LINK_MOST + 1, SearchFilters(kinds=ORDINARY)
            )
        if near and not any(near.values()):
            return False  # no embedder works: they are looked at when one does
        with context.held(), context.state.database.transaction():
            linked = [n for n, found in near.items() if self._join(context, n, found)]
            told = [*at["told"], *linked][-LINK_SHOWN:]
            last = new[-1].number if new else at["after"]
            context.set_cursor(self.name, {"after": last, "told": told})
        return len(new) == LINK_BATCH

    def _join(self, context: SleepContext, number: int, found: list[tuple[str, float]]) -> bool:
        """Link a record to the nearest of these that it belongs with; whether there was any."""
        state = context.state
        others = [int(id[1:]) for id, cosine in found if cosine >= LINK_LIKE]
        known = state.passages.get([number, *others])
        record = known.get(number)
        made = 0
        for other in others:
            if made >= LINK_MOST or record is None or other == number or other not in known:
                continue
            if not _belong(record, known[other]):
                continue
            try:
                new = state.links.add(number, other, author="worker", seq=state.journal.last_seq)
            except NotFound:
                continue
            made += 1
            context.report.count("linked", int(new))
        return made > 0

    # --- what is said about them ----------------------------------------------------------------

    def _tell(self, context: SleepContext, cancel: CancelToken) -> None:
        """Ask how the records around new ones are to be found."""
        with context.held():
            shown, around = self._around(context)
            prompt = load("link")
            room = context.room() - context.count(prompt.text) - context.reply(JOB_REPLY_TOKENS)
            lines = numbered(context, shown, room)
        shown = shown[: len(lines)]
        changes: list[tuple[Memory, dict[str, Any]]] = []
        if len(shown) > 1:
            text = "\n".join(
                f"{line}{_beside(n, shown, around)}" for n, line in enumerate(lines, 1)
            )
            filled = prompt.fill(memories=text, fence=marker(text), tags=LINK_TAGS)
            answer = asked(context, filled, _SCHEMA, cancel)
            said = answer["changes"][: len(shown)] if answer else []
            changes = [found for each in said if (found := _checked(each, shown))]
        with context.held(), context.state.database.transaction():
            for memory, body in {memory.id: (memory, body) for memory, body in changes}.values():
                self._propose(context, memory, body, [each.id for each in shown])
            context.set_cursor(self.name, {**self._at(context), "told": []})

    def _around(self, context: SleepContext) -> tuple[list[Memory], dict[str, set[str]]]:
        """The newly linked records and those around them, and who is linked to whom."""
        told = list(self._at(context)["told"])
        links = context.state.links.of(told)
        others = [link.other(number) for number in told for link in links.get(number, ())]
        records = context.state.passages.get(list(dict.fromkeys([*told, *others])))
        memories = {m.id: m for m in of_records(records.values(), context.scope)}
        order = dict.fromkeys(f"a{number}" for number in (*told, *others))
        around: dict[str, set[str]] = {}
        for number, some in links.items():
            around[f"a{number}"] = {f"a{link.other(number)}" for link in some}
        return [memories[id] for id in order if id in memories][:LINK_SHOWN], around

    def _propose(
        self, context: SleepContext, memory: Memory, body: dict[str, Any], shown: Sequence[str]
    ) -> None:
        record = memory.record
        assert record is not None
        tags = list(dict.fromkeys([*record.tags, *body["tags"]]))[: len(record.tags) + LINK_TAGS]
        metadata = dict(record.metadata)
        if body["context"]:
            metadata["context"] = body["context"]
        if tags == list(record.tags) and metadata == record.metadata:
            return
        state = propose(
            context,
            self.name,
            "update",
            {"text": _told(record, tags, metadata), "tags": tags, "metadata": metadata},
            sources=[id for id in shown if id != memory.id],
            trust=memory.trust,
            why="linked with what was stored since",
            target=memory.id,
            base=record.version,
        )
        context.report.count("retagged", int(state == "applied"))


def _may_be_linked(record: Passage) -> bool:
    return (
        record.kind in ORDINARY
        and record.standing == "active"
        and record.provenance.origin != "document"
    )


def _belong(one: Passage, other: Passage) -> bool:
    """Whether two records may be linked: whoever sees the one in the wider scope sees both."""
    a, b = one.facets, other.facets
    together = within(a.scope, b.scope) or within(b.scope, a.scope)
    # Whoever finds the one is shown the other.
    alike = untrusted(one.provenance.trust) == untrusted(other.provenance.trust)
    return together and alike and a.owner == b.owner and other.standing == "active"


def _beside(n: int, shown: Sequence[Memory], around: dict[str, set[str]]) -> str:
    """The tags of a record, and the numbers of those that it is linked to."""
    memory = shown[n - 1]
    tags = memory.record.tags if memory.record is not None else ()
    linked = [
        str(at)
        for at, other in enumerate(shown, 1)
        if other.id in around.get(memory.id, ()) or memory.id in around.get(other.id, ())
    ]
    told = f" [{', '.join(tags)}]" if tags else ""
    return f"{told} (with {', '.join(linked)})" if linked else told


def _told(record: Passage, tags: Sequence[str], metadata: Mapping[str, Any]) -> str:
    """What a person who looks at the change sees."""
    line = metadata.get("context", "")
    return f"{record.text} [{', '.join(tags)}]" + (f" ({line})" if line else "")


def _checked(said: Any, shown: Sequence[Memory]) -> tuple[Memory, dict[str, Any]] | None:
    """A record and how it is to be found; None for what may not be changed, or says nothing."""
    n = whole(said.get("id")) if isinstance(said, dict) else None
    if n is None or not 1 <= n <= len(shown):
        return None
    memory = shown[n - 1]
    if memory.trust > min(TRUST["model"], *(each.trust for each in shown)):
        return None
    texts = "\n".join(each.text for each in shown)
    tags, line = said.get("tags"), said.get("context")
    words = [" ".join(tag.split()) for tag in tags if isinstance(tag, str)] if tags else []
    fitting = [tag for tag in words if len(tag) <= LINK_TAG_CHARS and _TAG.fullmatch(tag)]
    fitting = [tag for tag in fitting if tag.casefold() != EVERGREEN]  # that is for who keeps it
    said_of_it = " ".join(line.split()) if isinstance(line, str) else ""
    if len(said_of_it) > LINK_CONTEXT_CHARS or not all(
        holds(texts, word) for word in telling(said_of_it)
    ):
        said_of_it = ""
    if not fitting and not said_of_it:
        return None
    return memory, {"tags": fitting[:LINK_TAGS], "context": said_of_it}
