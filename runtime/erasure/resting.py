"""What rests on messages and records that go: all else in state.db, by number or hash.

Resting.plan() makes the Plan of it. Nothing is decided here about messages and records.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from pagemind.runtime.erasure import told
from pagemind.runtime.erasure.block_lines import LostLines
from pagemind.runtime.erasure.gone import Gone
from pagemind.runtime.erasure.plan import Plan, hashed
from pagemind.runtime.erasure.seeds import Seeds, messages
from pagemind.runtime.function_executor import ONCE
from pagemind.runtime.message import Blob
from pagemind.runtime.state.state import State

_ID = re.compile(r"\b[mapd]\d{1,18}\b")


class Resting:
    """`tells`: whether a text is meant by what was wanted, or repeats it."""

    def __init__(
        self,
        state: State,
        seeds: Seeds,
        gone: Gone,
        tells: Callable[[str], bool],
        lost: LostLines,
        kept: Mapping[int, int],
    ) -> None:
        self._state = state
        self._db = state.database
        self._seeds = seeds
        self._gone = gone
        self._tells = tells
        self._lost = lost
        self._kept = kept
        self._touched: set[str] = set()  # short ids of what goes or is told anew

    def plan(self, way: str) -> Plan:
        gone, seeds = self._gone, self._seeds
        pages, directories = tuple(self._pages("page")), tuple(self._pages("directory"))
        for letter, numbers in (
            ("m", gone.messages),
            ("a", gone.passages),
            ("a", self._kept),
            ("p", pages),
            ("d", directories),
        ):
            self._touched.update(f"{letter}{number}" for number in numbers)
        entities, renamed = self._entities()
        plan = Plan(
            messages=tuple(sorted(gone.messages)),
            passages=tuple(sorted(gone.passages)),
            kept=tuple(f"a{n}@{v}" for n, v in sorted(self._kept.items())),
            pages=pages,
            directories=directories,
            summaries=tuple(self._summaries()),
            segments=tuple(self._segments(pages)),
            turns=tuple(self._turns()),
            asked=tuple(self._asked()),
            changes=tuple(self._changes()),
            entities=tuple(entities),
            names=tuple(self._names(entities)),
            renamed=tuple(renamed),
            links=tuple(self._links()),
            reasons=tuple(self._reasons()),
            inbox=tuple(self._inbox()),
            documents=tuple(sorted(map(hashed, seeds.documents))),
            answers=tuple(self._answers()),
            blocks=self._lost.labels,
            lines=tuple(sorted(self._lost.lines)),
            texts=tuple(self._texts()),
            blobs=tuple(self._blobs()),
            everything=seeds.everything,
            wanted=way,
        )
        return _with_derived(plan, seeds)

    def _pages(self, kind: str) -> Iterator[int]:
        """Of every line: those that hold what goes, or whose gist ever told of it."""
        telling = {
            row["number"]
            for row in self._db.rows(
                "SELECT number, gist, keywords FROM gist_versions WHERE kind = ?", (kind,)
            )
            if self._tells(f"{row['gist']}\n{told.of_json(row['keywords'])}")
        }
        for row in self._db.rows(
            "SELECT number, first_seq, last_seq FROM pages WHERE kind = ? ORDER BY number", (kind,)
        ):
            if row["number"] in telling or self._gone.any_in(row["first_seq"], row["last_seq"]):
                yield row["number"]

    def _summaries(self) -> Iterator[int]:
        lines = self._state.journal.lines
        for row in self._db.rows("SELECT summary, covers_last, text FROM summaries"):
            covered = lines.lived(1, row["covers_last"])
            if any(self._gone.any_in(*span) for span in covered) or self._tells(row["text"]):
                yield row["summary"]

    def _segments(self, pages: Iterable[int]) -> Iterator[int]:
        rows = self._db.rows_in("SELECT DISTINCT segment FROM segment_pages WHERE page", [*pages])
        found = {row["segment"] for row in rows}
        for row in self._db.rows("SELECT number, gist, keywords FROM segments"):
            if self._tells(f"{row['gist']}\n{told.of_json(row['keywords'])}"):
                found.add(row["number"])
        yield from sorted(found)

    def _turns(self) -> Iterator[int]:
        of_messages = {
            row["turn"]
            for row in self._db.rows_in(
                "SELECT DISTINCT turn FROM messages WHERE turn <> 0 AND seq",
                sorted(self._gone.messages),
            )
        }
        for row in self._db.rows("SELECT * FROM turns ORDER BY turn"):
            said = (
                told.of_json(row["result"]),
                told.of_json(row["reasons"]),
                row["client_id"] or "",
            )
            named = self._seeds.named.is_name(row["speaker"])
            if row["turn"] in of_messages or named or any(map(self._tells, said)):
                yield row["turn"]

    def _asked(self) -> Iterator[int]:
        for row in self._db.rows("SELECT turn, client_id FROM turns WHERE client_id IS NOT NULL"):
            if self._tells(row["client_id"]):
                yield row["turn"]

    def _changes(self) -> Iterator[int]:
        for row in self._db.rows(
            "SELECT number, target, body, why, sources, error, result FROM changes ORDER BY number"
        ):
            ids = [*json.loads(row["sources"]), row["target"], row["result"].partition("@")[0]]
            said = (told.of_json(row["body"]), row["why"], row["error"])
            if (
                self._seeds.everything
                or any(id in self._touched or self._gone.takes(id) for id in ids if id)
                or any(self._tells(text) for text in said if text)
                or any(line in said[0] for line in self._lost.texts)
            ):
                yield row["number"]

    def _entities(self) -> tuple[list[int], list[int]]:
        """Those that go: that were meant, or are named by what goes, or that only records speak of
        which go. And those that stay, and need another name."""
        spoken: set[int] = set()
        still: set[int] = set()
        for row in self._db.rows("SELECT number, subject_entity, object_entity FROM passages"):
            both = {row["subject_entity"], row["object_entity"]} - {None}
            (spoken if row["number"] in self._gone.passages else still).update(both)
        named = {
            row["number"]
            for row in self._db.rows("SELECT number, name FROM entities")
            if self._tells(row["name"])
        }
        going = (spoken | self._seeds.entities | named) - still
        return sorted(going), sorted((named | self._seeds.entities) & still)

    def _names(self, going: Iterable[int]) -> Iterator[str]:
        """Names of others that lead to somebody who stays, and tell of what goes."""
        gone = set(going)
        for row in self._db.rows("SELECT key, entity, name FROM entity_names ORDER BY key"):
            if row["entity"] not in gone and self._tells(row["name"]):
                yield hashed(row["key"])

    def _links(self) -> Iterator[str]:
        for row in self._db.rows("SELECT low, high, seq, why FROM links WHERE why <> ''"):
            if self._tells(row["why"]):
                yield f"{row['low']} {row['high']} {row['seq']}"

    def _reasons(self) -> Iterator[str]:
        for row in self._db.rows(
            "SELECT 'a' || number || '@' || version AS id, reason FROM passage_versions UNION ALL"
            " SELECT 'block:' || label || '@' || version, reason FROM block_versions"
        ):
            if self._tells(row["reason"]):
                yield row["id"]

    def _inbox(self) -> Iterator[int]:
        for row in self._db.rows("SELECT number, body FROM inbox ORDER BY number"):
            if self._tells(told.of_json(row["body"])):
                yield row["number"]

    def _answers(self) -> Iterator[str]:
        for row in self._db.rows(
            "SELECT key, value FROM meta WHERE substr(key, 1, ?) = ?", (len(ONCE), ONCE)
        ):
            said = told.of_json(row["value"])
            if self._tells(said) or self._shows(said):
                yield hashed(row["key"])

    # --- texts of past requests, and files ------------------------------------------------------

    def _texts(self) -> Iterator[str]:
        if not (self._gone.messages or self._gone.passages or self._lost.lines):
            return
        frames = set(framing(self._state))
        for row in self._db.rows("SELECT sha256, text FROM texts ORDER BY sha256"):
            if row["sha256"] in frames:
                continue
            text = row["text"]
            if self._shows(text) or self._tells(text):
                yield row["sha256"]

    def _shows(self, text: str) -> bool:
        return not self._touched.isdisjoint(shown_ids(text))

    def _blobs(self) -> Iterator[str]:
        """Files that no message names which stays."""
        if not self._gone.messages:
            return
        found = self._state.journal.get(sorted(self._gone.messages)).values()
        going = {p.sha256 for message in found for p in message.parts if isinstance(p, Blob)}
        if going:
            for message in messages(self._state):
                if message.seq not in self._gone.messages:
                    going -= {p.sha256 for p in message.parts if isinstance(p, Blob)}
        yield from sorted(going)


def shown_ids(text: str) -> frozenset[str]:
    """The short ids that a text names: of what it shows, or shows the gist of."""
    return frozenset(_ID.findall(text))


def framing(state: State) -> Iterator[str]:
    """The hashes of texts that an agent is made with: instructions, functions, moulds. They come
    from its definition, and nobody has said them."""
    db, text = state.database, state.history.text
    for row in db.rows("SELECT DISTINCT system_sha256, tools_sha256 FROM epochs"):
        yield from row
    for row in db.rows(
        "SELECT DISTINCT json_extract(settings, '$.mould') AS mould FROM steps"
        " WHERE json_extract(settings, '$.mould') IS NOT NULL"
    ):
        yield row["mould"]
        if stored := text(row["mould"]):
            body = json.loads(stored)
            yield from (str(body[name]) for name in ("system", "tools", "prompts"))


def _with_derived(plan: Plan, seeds: Seeds) -> Plan:
    rest = [f"m{seq}" for seq in plan.messages if seq not in seeds.messages]
    rest += [f"a{number}" for number in plan.passages if number not in seeds.passages]
    rest += [each.partition("@")[0] for each in plan.kept]
    for letters, numbers in (
        ("p", plan.pages),
        ("d", plan.directories),
        ("s", plan.summaries),
        ("seg", plan.segments),
        ("c", plan.changes),
    ):
        rest += [f"{letters}{number}" for number in numbers]
    rest += [f"block:{label}" for label in plan.blocks]
    return replace(plan, derived=tuple(rest))
