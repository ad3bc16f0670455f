"""Retold: pages, directories and summaries made anew out of what is left, without a model.

Nothing that was said of them before is kept: no earlier gist, no summary of a model. A model may
write better gists of pages later, in the idle, as of any page.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence

from pagemind.runtime.gist import directory_gist, gist, keywords, with_terms
from pagemind.runtime.message import ERASED, Message
from pagemind.runtime.page import Page
from pagemind.runtime.settings import GIST_KEYWORDS, SUMMARY_TRUST
from pagemind.runtime.state.database import Row
from pagemind.runtime.state.lines import on_line
from pagemind.runtime.state.pages import page_of
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.summarizer import deterministic
from pagemind.runtime.usual_words import UsualWords

Count = Callable[[str], int]
_LINE_TOKENS = 12  # of a line of a summary, at least: more pages than that never fit


def pages(state: State, numbers: Sequence[int], count: Count) -> None:
    """Inside a transaction, after their messages went."""
    usual = UsualWords(state)
    for number in numbers:
        page = state.pages.ever(number)
        if page is None:
            continue
        stored = [
            (message, tokens)
            for message, tokens, _ in state.journal.span(page.first_seq, page.last_seq)
            if message.kind not in ("notice", "reading")
        ]
        left = [message for message, _ in stored if not message.erased]
        told = [m for m in left if m.role != "tool" and not untrusted(m.provenance.trust)]
        words = keywords([m.text for m in told], rarity=usual.weight)
        line = gist(left, words, count) if left else ERASED
        tokens = sum(tokens for _, tokens in stored)
        # There is nothing that a model could tell better of what says nothing.
        author = "runtime" if left else "runtime, kept"
        _tell(state, page, line, words, tokens, _trust(left), author)
        state.database.write(
            "INSERT OR REPLACE INTO outbox (tier, key, op) VALUES ('pages', ?, 'put')", (number,)
        )


def around(state: State, numbers: Sequence[int], count: Count) -> None:
    """Pages, and the directories and segments that they are in, after the trust of their messages
    changed. Inside a transaction."""
    pages(state, numbers, count)
    above = state.database.rows(
        "WITH RECURSIVE above(number) AS (SELECT parent FROM pages WHERE kind = 'page' AND number"
        " IN (SELECT value FROM json_each(?)) UNION SELECT p.parent FROM pages p JOIN above a"
        " ON p.kind = 'directory' AND p.number = a.number) SELECT number FROM above"
        " WHERE number IS NOT NULL",
        (json.dumps(list(numbers)),),
    )
    directories(state, [row["number"] for row in above], count)
    for number in sorted(set(state.segments.of_pages(numbers).values())):
        members = state.pages.get_all(state.segments.pages(number))
        if members:
            told = [members[each] for each in sorted(members)]
            times = Counter(word for page in told for word in dict.fromkeys(page.keywords))
            words = tuple(word for word, _ in times.most_common(GIST_KEYWORDS))
            state.segments.tell(number, with_terms(told[0].gist, words, count), words)


def _trust(messages: Sequence[Message]) -> int:
    return min((message.provenance.trust for message in messages), default=100)


def _tell(
    state: State,
    page: Page,
    line: str,
    words: Sequence[str],
    tokens: int,
    trust: int,
    author: str = "runtime",
) -> None:
    """As if it had been written so: its first version, and the only one."""
    db, kind = state.database, page.kind
    stored = json.dumps(list(words), ensure_ascii=False)
    db.write(
        "UPDATE pages SET gist = ?, gist_author = ?, keywords = ?, tokens = ?, trust = ?"
        " WHERE kind = ? AND number = ?",
        (line, author, stored, tokens, trust, kind, page.number),
    )
    db.write("DELETE FROM gist_versions WHERE kind = ? AND number = ?", (kind, page.number))
    db.write(
        "INSERT INTO gist_versions SELECT kind, number, 1, gist, keywords, created_at, gist_author"
        " FROM pages WHERE kind = ? AND number = ?",
        (kind, page.number),
    )


def directories(state: State, numbers: Sequence[int], count: Count) -> None:
    """Inside a transaction, after the pages: from the lowest level up."""
    rows = state.database.rows_in(
        "SELECT * FROM pages WHERE kind = 'directory' AND number", list(numbers)
    )
    for row in sorted(rows, key=lambda each: (each["level"], each["number"])):
        children = _children(state, row)
        line, words = directory_gist(children, count) if children else (ERASED, ())
        tokens = sum(child.tokens for child in children)
        trust = min((child.trust for child in children), default=100)
        _tell(state, page_of(row, 0), line, words, tokens, trust)


def _children(state: State, row: Row) -> list[Page]:
    if row["live"]:
        return state.pages.children(row["number"])
    # One of another line has let its children go: those in its span are at least as many.
    rows = state.database.rows(
        "SELECT * FROM pages WHERE level = ? AND first_seq >= ? AND last_seq <= ? AND epoch <= ?"
        " ORDER BY first_seq",
        (row["level"] - 1, row["first_seq"], row["last_seq"], row["epoch"]),
    )
    return [page_of(each, 0) for each in rows]


def summaries(state: State, numbers: Sequence[int], count: Count) -> None:
    """Inside a transaction, after the pages: a line for each page that they cover, as the runtime
    writes them, in the tokens that they had."""
    for number in numbers:
        old = state.pages.summary(number)
        if old is None:
            continue
        budget = max(old.tokens, _LINE_TOKENS)
        covered = _covered(state, old.covers_last, budget // _LINE_TOKENS + 2)
        text = deterministic("", covered, budget, count)
        trust = max(min((page.trust for page in covered), default=100), SUMMARY_TRUST)
        state.database.write(
            "UPDATE summaries SET text = ?, tokens = ?, rung = 'deterministic', author = 'runtime',"
            " trust = ? WHERE summary = ?",
            (text, count(text), trust, number),
        )


def _covered(state: State, last: int, most: int) -> list[Page]:
    """The newest pages up to a message, of the line that it is on, of which anything is left."""
    line = state.journal.lines.line_of(last)
    written = "(SELECT e.seq FROM epochs e WHERE e.epoch = p.epoch)"
    on = on_line(written, str(int(line))) if line else "p.live"
    rows = state.database.rows(
        f"SELECT p.* FROM pages p WHERE p.kind = 'page' AND p.last_seq <= ? AND p.gist <> ?"
        f" AND {on} ORDER BY p.first_seq DESC LIMIT ?",
        (last, ERASED, most),
    )
    return [page_of(row, 0) for row in reversed(rows)]
