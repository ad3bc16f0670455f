"""Seeds: what a person means by what they want erased, before anything that rests on it."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.entity_names import is_first_person, is_pronoun
from pagemind.runtime.erasure import told
from pagemind.runtime.erasure.named import Named
from pagemind.runtime.erasure.wanted import Wanted
from pagemind.runtime.errors import NotFound
from pagemind.runtime.message import Message
from pagemind.runtime.models.plain_talk import words
from pagemind.runtime.passage import EVERGREEN, Passage
from pagemind.runtime.state.state import State

Search = Callable[[str], Iterable[str]]  # short ids of what is found
_CHUNK = 1000  # messages read at once


def _nothing(text: str) -> bool:
    return False


@dataclass(slots=True)
class Seeds:
    """`matches` says of any other text whether it is meant, too. `before`: what rests on it goes by
    its own age alone."""

    messages: set[int] = field(default_factory=set)
    passages: set[int] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)
    entities: set[int] = field(default_factory=set)
    matches: Callable[[str], bool] = _nothing
    named: Named = field(default_factory=lambda: Named(()))
    before: datetime | None = None
    everything: bool = False


def seeds_of(state: State, wanted: Wanted, search: Search | None = None) -> Seeds:
    """Raises NotFound for an id of nothing."""
    found = {
        "ids": _by_ids,
        "query": lambda state, wanted: _by_query(state, wanted, search),
        "subject": _by_subject,
        "source": _by_source,
        "before": _by_age,
        "everything": _all,
    }[wanted.way](state, wanted)
    return found


def messages(state: State, first: int = 1) -> Iterator[Message]:
    """Every message of every line that is not erased, the oldest first."""
    last = state.journal.last_seq
    for start in range(first, last + 1, _CHUNK):
        for message, _, _ in state.journal.range(start, min(last, start + _CHUNK - 1)):
            if not message.erased:
                yield message


def records(state: State) -> Iterator[Passage]:
    """Every record, deleted ones too, the oldest first."""
    numbers = [row["number"] for row in state.database.rows("SELECT number FROM passages")]
    for start in range(0, len(numbers), _CHUNK):
        yield from state.passages.get(numbers[start : start + _CHUNK]).values()


def versions(state: State, record: Passage) -> list[Passage]:
    """A record in each of its versions, the oldest first."""
    found = (state.passages.version(record.number, n + 1) for n in range(record.version))
    return [each for each in found if each is not None]


def _by_ids(state: State, wanted: Wanted) -> Seeds:
    found = Seeds()
    for id in wanted.ids:
        kind, number = id[0], int(id[1:])
        if kind == "a":
            if number not in state.passages.get([number]):
                raise NotFound(f"there is no record {id}", hint=_HINT)
            found.passages.add(number)
            continue
        meant = list(_messages_of(state, kind, number))
        left = [message.seq for message in meant if not message.erased]
        if not left:
            what = {"m": "message", "p": "page", "t": "turn"}[kind]
            erased = f"{id} was erased before" if meant else f"there is no {what} {id}"
            raise NotFound(erased, hint=_HINT)
        found.messages.update(left)
    return found


_HINT = "`pagemind memory search`, `memory pages` and `agents history` show the ids"


def _messages_of(state: State, kind: str, number: int) -> list[Message]:
    if kind == "m":
        return list(state.journal.get([number]).values())
    if kind == "t":
        return state.journal.of_turn(number)
    page = state.pages.ever(number)
    spans = state.journal.span(page.first_seq, page.last_seq) if page is not None else []
    return [message for message, _, _ in spans]


def _by_query(state: State, wanted: Wanted, search: Search | None) -> Seeds:
    """What has all the words of the query, in any order, and what the search adds."""
    asked = frozenset(words(wanted.query)) or frozenset([wanted.query.casefold()])

    def matches(text: str) -> bool:
        return asked <= frozenset(words(text)) or wanted.query.casefold() in text.casefold()

    found = _matching(state, matches)
    for id in search(wanted.query) if search is not None else ():
        kind, number = id[:1], int(id[1:] or 0)
        if kind == "a":
            found.passages.add(number)
        elif kind in ("m", "p", "t"):
            meant = _messages_of(state, kind, number)
            found.messages.update(each.seq for each in meant if not each.erased)
    return found


def _matching(state: State, matches: Callable[[str], bool]) -> Seeds:
    found = Seeds(matches=matches)
    found.messages = {m.seq for m in messages(state) if matches(told.of_message(m))}
    found.passages = {
        record.number
        for record in records(state)
        if any(matches(told.of_record(each)) for each in versions(state, record))
    }
    return found


def _by_subject(state: State, wanted: Wanted) -> Seeds:
    """Said by them, with one of their names in it, or about them."""
    own = Named([wanted.subject])
    entities = set(state.entities.named(own.keys))
    rows = state.database.rows(
        "SELECT name FROM entity_names WHERE entity IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(entities)),),
    )
    # "I", "she" and "the user" lead to somebody as well, and name nobody.
    names = [n for n in (row["name"] for row in rows) if not is_first_person(n)]
    named = Named([wanted.subject, *(n for n in names if not is_pronoun(n))])
    found = Seeds(matches=named, named=named, entities=entities)
    for message in messages(state):
        by_them = message.role != "tool" and named.is_name(message.speaker)
        if by_them or named(told.of_message(message)) or named(message.provenance.detail):
            found.messages.add(message.seq)
    for record in records(state):
        facets = record.facets
        about = {facets.subject_entity, facets.object_entity} & entities
        who = (facets.speaker, facets.subject, facets.object, facets.owner)
        if (
            about
            or any(map(named.is_name, who))
            or named(record.provenance.detail)
            or any(named(told.of_record(each)) for each in versions(state, record))
        ):
            found.passages.add(record.number)
    found.documents = {name for name in _documents(state) if named(name)}
    return found


def _by_source(state: State, wanted: Wanted) -> Seeds:
    """What came from a file, an address, a function or an agent."""
    source = wanted.source
    name = PurePath(source).name

    def is_it(detail: str) -> bool:
        return detail == source or (name == source and PurePath(detail).name == source)

    found = Seeds()
    found.documents = {each for each in _documents(state) if is_it(each)}
    for message in messages(state):
        from_it = is_it(message.provenance.detail) and message.provenance.origin != "runtime"
        if from_it or (message.role == "tool" and message.name == source):
            found.messages.add(message.seq)
    found.passages = {r.number for r in records(state) if is_it(r.provenance.detail)}
    for each in found.documents:
        document = state.documents.get(each)
        found.passages.update(document.numbers if document is not None else ())
    found.passages &= {record.number for record in records(state)}
    return found


def _by_age(state: State, wanted: Wanted) -> Seeds:
    """What was recorded before a time; of records only those that may go."""
    assert wanted.before is not None
    found = Seeds(before=wanted.before)
    rows = state.database.rows(
        "SELECT seq FROM messages WHERE recorded_at < ? AND status <> 'retired'",
        (rfc3339(wanted.before),),
    )
    found.messages = {row["seq"] for row in rows}
    for record in records(state):
        kept = record.facets.evergreen or EVERGREEN in record.tags
        made = record.created_at
        if made is not None and made < wanted.before and (wanted.evergreen or not kept):
            found.passages.add(record.number)
    return found


def _all(state: State, wanted: Wanted) -> Seeds:
    return Seeds(
        messages={message.seq for message in messages(state)},
        passages={record.number for record in records(state)},
        documents=_documents(state),
        matches=lambda text: True,
        everything=True,
    )


def _documents(state: State) -> set[str]:
    rows = state.database.rows("SELECT source FROM documents UNION SELECT source FROM"
                               " document_versions")  # fmt: skip
    return {row["source"] for row in rows}
