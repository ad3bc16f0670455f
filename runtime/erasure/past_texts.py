"""The texts of past requests without what is erased: page tables, pins, memories placed before an
event. Past requests can still be made, not to the letter: `show --at` says so.

A page table and a pinned section stay, for a rewind may take them up again: their lines keep the
ids, and the gists of pages are those that were made anew. A text of memories goes as a whole.
"""

import json
import re
from collections.abc import Callable, Collection

from pagemind.runtime.erasure.plan import Plan
from pagemind.runtime.shorten import shorten
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.state import State

_LINE = re.compile(r"(([pd])(\d+) \[[^\]]*\](?: [\d,]+ pages)?)(?: (.*))?")
_PIN = re.compile(r"<pin id=\"([mp]\d+)\".*?\n</pin>\n?", re.DOTALL)

Count = Callable[[str], int]


def rewrite(state: State, plan: Plan, count: Count) -> None:
    """Inside a transaction, after pages were told anew."""
    db, history = state.database, state.history
    texts = list(plan.texts)
    tables = _used(db, "table_sha256", texts)
    pinned = _used(db, "json_extract(pins, '$.sha256')", texts)
    gists = _gists(state, plan)
    gone = {f"m{seq}" for seq in plan.messages} | {f"p{number}" for number in plan.pages}
    # Texts may be shared by many epochs, and an epoch's pins are one value.
    for sha256 in texts:
        if sha256 in tables:
            new = history.keep_text(table(history.text(sha256), gists, count))
            db.write("UPDATE epochs SET table_sha256 = ? WHERE table_sha256 = ?", (new, sha256))
        if sha256 in pinned:
            _repin(state, sha256, gone)
    db.write(
        "UPDATE steps SET prefetch_sha256 = '' WHERE prefetch_sha256 IN"
        " (SELECT value FROM json_each(?))",
        (json.dumps(texts),),
    )
    _still(db, plan)


def _still(db: Database, plan: Plan) -> None:
    """Take out the old texts, but for one that rewriting has not changed."""
    listed = json.dumps(plan.texts)
    db.write(
        "DELETE FROM texts WHERE sha256 IN (SELECT value FROM json_each(?)) AND sha256 NOT IN"
        " (SELECT table_sha256 FROM epochs) AND sha256 NOT IN"
        " (SELECT json_extract(pins, '$.sha256') FROM epochs WHERE json_type(pins) = 'object')",
        (listed,),
    )


def table(text: str, gists: dict[str, str], count: Count) -> str:
    """A page table whose lines say these gists of what was told anew, in no more tokens."""
    lines: list[str] = []
    going = False
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        id = f"{found[2]}{found[3]}" if found else ""
        if found is None:
            if not going or line.endswith(":"):  # the rest of a line that went
                lines.append(line)
        elif id in gists:
            room = count(found[4] or "")
            lines.append(f"{found[1]} {shorten(gists[id], room, count)}" if room else found[1])
        else:
            lines.append(line)
        going = found is not None and id in gists
    return "\n".join(lines)


def _gists(state: State, plan: Plan) -> dict[str, str]:
    found: dict[str, str] = {}
    for kind, letter, numbers in (
        ("page", "p", plan.pages),
        ("directory", "d", plan.directories),
    ):
        rows = state.database.rows_in(
            f"SELECT number, gist FROM pages WHERE kind = '{kind}' AND number", list(numbers)
        )
        found.update((f"{letter}{row['number']}", row["gist"]) for row in rows)
    return found


def _repin(state: State, sha256: str, gone: Collection[str]) -> None:
    """The pinned section without copies of what is gone, and of pages that lost a message: those
    are copied again at the next flush."""
    db, history = state.database, state.history

    def left(match: re.Match[str]) -> str:
        return "" if match[1] in gone else match[0]

    new = history.keep_text(_PIN.sub(left, history.text(sha256)).strip("\n"))
    for row in list(
        db.rows(
            "SELECT epoch, pins FROM epochs WHERE json_type(pins) = 'object'"
            " AND json_extract(pins, '$.sha256') = ?",
            (sha256,),
        )
    ):
        pins = json.loads(row["pins"])
        pins["targets"] = [each for each in pins["targets"] if each not in gone]
        pins["sha256"] = new
        db.write("UPDATE epochs SET pins = ? WHERE epoch = ?", (json.dumps(pins), row["epoch"]))


def _used(db: Database, column: str, texts: list[str]) -> set[str]:
    condition = " AND json_type(pins) = 'object'" if "pins" in column else ""
    rows = db.rows(
        f"SELECT DISTINCT {column} AS sha256 FROM epochs WHERE {column} IN"
        f" (SELECT value FROM json_each(?)){condition}",
        (json.dumps(texts),),
    )
    return {row["sha256"] for row in rows}
