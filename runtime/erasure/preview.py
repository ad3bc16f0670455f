"""preview(): a plan as a person is shown it before anything goes. Only reads; nothing is stored."""

from collections.abc import Iterator

from pagemind.runtime.erasure import told
from pagemind.runtime.erasure.block_lines import lines_of
from pagemind.runtime.erasure.plan import Plan, PreviewItem, hashed
from pagemind.runtime.state.state import State

_ERASED, _ANEW, _LESS = "erased", "made anew", "loses lines"


def preview(state: State, plan: Plan) -> list[PreviewItem]:
    """What is erased first, then what is made anew out of what is left."""
    with state.database.reading():
        return [*_messages(state, plan), *_records(state, plan), *_blocks(state, plan),
                *_rest(state, plan)]  # fmt: skip


def _messages(state: State, plan: Plan) -> Iterator[PreviewItem]:
    for message in state.journal.get(plan.messages).values():
        if not message.erased:
            calls = "".join(f" [called {c.name}({c.arguments})]" for c in message.tool_calls)
            said = f"{message.text}{calls}".strip()
            who = message.speaker or message.name or message.role
            yield PreviewItem("message", message.short_id, _ERASED, f"{who}: {said}")


def _records(state: State, plan: Plan) -> Iterator[PreviewItem]:
    for record in state.passages.get(plan.passages).values():
        yield PreviewItem(record.kind, record.short_id, _ERASED, record.text)
    for each in plan.kept:
        id, _, version = each.partition("@")
        left = state.passages.version(int(id[1:]), int(version))
        if left is not None:
            yield PreviewItem(left.kind, id, _ANEW, left.text)


def _blocks(state: State, plan: Plan) -> Iterator[PreviewItem]:
    """The lines, wherever a version still has them."""
    going = set(plan.lines)
    for label in plan.blocks:
        lost: dict[str, None] = {}
        for version in state.blocks.history(label):
            lost.update((line, None) for line in lines_of(version.value) if hashed(line) in going)
        for line in lost:
            yield PreviewItem("block", f"block:{label}", _LESS, line)


def _rest(state: State, plan: Plan) -> Iterator[PreviewItem]:
    db = state.database
    for kind, letter, numbers in (
        ("page", "p", plan.pages),
        ("directory", "d", plan.directories),
    ):
        rows = db.rows_in(
            f"SELECT number, gist FROM pages WHERE kind = '{kind}' AND number", list(numbers)
        )
        for row in rows:
            yield PreviewItem(kind, f"{letter}{row['number']}", _ANEW, row["gist"])
    newest = max(plan.summaries, default=0)  # each is the one before, and more
    if newest and (summary := state.pages.summary(newest)):
        yield PreviewItem("summary", f"s{newest}", _ANEW, summary.text)
    for row in db.rows_in("SELECT number, gist FROM segments WHERE number", list(plan.segments)):
        yield PreviewItem("segment", f"seg{row['number']}", _ERASED, row["gist"])
    for row in db.rows_in("SELECT number, body FROM changes WHERE number", list(plan.changes)):
        yield PreviewItem("change", f"c{row['number']}", _ERASED, told.of_json(row["body"]))
    for row in db.rows_in("SELECT number, name FROM entities WHERE number", list(plan.entities)):
        yield PreviewItem("name", f"e{row['number']}", _ERASED, row["name"])
    for row in db.rows_in("SELECT number, body FROM inbox WHERE number", list(plan.inbox)):
        yield PreviewItem("waiting", f"i{row['number']}", _ERASED, told.of_json(row["body"]))
    for row in db.rows("SELECT source FROM documents"):
        if hashed(row["source"]) in plan.documents:
            yield PreviewItem("document", row["source"], _ERASED, row["source"])
