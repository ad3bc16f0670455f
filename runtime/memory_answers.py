"""What an agent remembers, as the JSON answers of contract.md: blocks, passages, their versions,
pages, topics. The command line and HTTP share them."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from pagemind.runtime.agent_facts import unknown
from pagemind.runtime.clock import rfc3339
from pagemind.runtime.entity_resolver import resolve
from pagemind.runtime.errors import NotFound
from pagemind.runtime.fact import is_current
from pagemind.runtime.fact_search import FactQuery, FactSearch, all_facts
from pagemind.runtime.inspection import PageMarks, page_marks
from pagemind.runtime.page import Page
from pagemind.runtime.page_reader import entry
from pagemind.runtime.passage import Passage
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.state.blocks import BlockVersion
from pagemind.runtime.state.state import State
from pagemind.runtime.untrusted import OPEN, Fences

_PAGE = re.compile(r"([pPdD]?)(\d{1,18})")
_PASSAGE = re.compile(r"[aA](\d{1,18})")
Items = list[dict[str, Any]]

# --- core memory and passages ---------------------------------------------------------------------


def blocks_json(reader: AgentReader, count: Callable[[str], int]) -> Items:
    """Items of `memory blocks`."""
    items = []
    shared = reader.shared_blocks
    for block in shared.now(reader.state.blocks.all()):
        newest = block_history(reader, block.label)[-1]
        items.append(
            {
                "label": block.label,
                "value": block.value,
                "limit": block.limit,
                "tokens": count(block.value),
                "description": block.description,
                "read_only": block.read_only,
                "profile": block.label in reader.definition.profiles,
                "version": block.version,
                "updated_at": rfc3339(newest.at),
                "author": newest.author,
                "trust": reader.state.blocks.trust_of(block.label),
                "shared": shared.name_of(block.label) if block.label in shared else None,
            }
        )
    return items


def block_history(reader: AgentReader, label: str) -> list[BlockVersion]:
    """The versions of a block: of a shared one those that all have made of it."""
    shared = reader.shared_blocks
    return shared.history(label) if label in shared else reader.state.blocks.history(label)


def passage_json(passage: Passage) -> dict[str, Any]:
    """An item of `memory passages`."""
    assert passage.created_at is not None
    assert passage.updated_at is not None
    return {
        "id": passage.short_id,
        "text": passage.text,
        "tags": list(passage.tags),
        "importance": passage.importance,
        "metadata": passage.metadata,
        "version": passage.version,
        "created_at": rfc3339(passage.created_at),
        "updated_at": rfc3339(passage.updated_at),
        "origin": passage.provenance.origin,
        "source": passage.provenance.detail,
        "trust": passage.provenance.trust,
        "kind": passage.kind,
        "standing": passage.standing,
        "scope": passage.facets.scope,
        "owner": passage.facets.owner,
        "expires_at": rfc3339(passage.facets.expires_at) if passage.facets.expires_at else None,
    }


def fact_json(fact: Passage, now: datetime) -> dict[str, Any]:
    """An item of `memory facts`."""
    facets = fact.facets
    assert fact.created_at is not None
    return {
        "id": fact.short_id,
        "text": fact.text,
        "subject": facets.subject,
        "relation": facets.relation,
        "object": facets.object,
        "current": is_current(fact, now),
        "valid_from": rfc3339(facets.valid_from) if facets.valid_from else None,
        "valid_to": rfc3339(facets.valid_to) if facets.valid_to else None,
        "superseded_by": f"a{facets.superseded_by}" if facets.superseded_by else None,
        "speaker": facets.speaker,
        "scope": facets.scope,
        "owner": facets.owner,
        "importance": fact.importance,
        "tags": list(fact.tags),
        "created_at": rfc3339(fact.created_at),
        "version": fact.version,
        "origin": fact.provenance.origin,
        "trust": fact.provenance.trust,
    }


def facts_of(
    reader: AgentReader,
    name: str | None,
    *,
    relation: str | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    past: bool = False,
) -> list[Passage]:
    """What is known of somebody or something, or of all; with `past` what was, too. Raises
    NotFound for a name that no fact is about."""
    state, now = reader.state, reader.state.clock.now()
    if name is None:
        return all_facts(state, now, relation=relation, as_of=as_of, known_at=known_at, past=past)
    entity = resolve(state, name, seq=0, make=False)
    if entity is None:
        raise NotFound(
            unknown(state, name), hint=f"`pagemind memory facts {reader.name}` lists all facts"
        )
    query = FactQuery(entity, relation, None, 1, as_of, known_at, past)
    found = [each.fact for each in FactSearch(state, now).find(query)]
    return found if past else sorted(found, key=lambda fact: fact.number)


def versions_of(reader: AgentReader, target: str) -> list[BlockVersion]:
    """The versions of a block or passage. Raises NotFound."""
    found = block_history(reader, target)
    if not found and (number := passage_number(target)):
        found = reader.state.passages.history(number)
    if not found:
        labels = ", ".join(block.label for block in reader.state.blocks.all())
        raise NotFound(
            f"{reader.name} has no block or passage {target!r}",
            hint=f"blocks: {labels}; `pagemind memory passages {reader.name}` lists passages",
        )
    return found


def version_json(version: BlockVersion) -> dict[str, Any]:
    """An item of `memory history`."""
    return {
        "version": version.version,
        "at": rfc3339(version.at),
        "author": version.author,
        "reason": version.reason,
        "value": version.value,
    }


def passage_number(target: str) -> int | None:
    """7 of a7."""
    match = _PASSAGE.fullmatch(target.strip())
    return int(match[1]) if match else None


# --- pages ----------------------------------------------------------------------------------------


def pages_json(state: State, *, tops: bool = False) -> Items:
    """Items of `memory pages`: the whole tree, or its tops."""
    marks = page_marks(state)
    nodes = state.pages.tops() if tops else [node for node, _ in tree(state)]
    return [page_json(each, marks) for each in nodes]


def one_page_json(reader: AgentReader, written: str, fences: Fences = OPEN) -> dict[str, Any]:
    """The answer of `memory pages AGENT PAGE`; for a model, what came from outside stands in these
    fences. Raises NotFound."""
    one = find_page(reader, written)
    more: dict[str, Any] = {"text": page_text(reader, one, fences)}
    if one.level:
        more["children"] = [child.short_id for child in reader.pages.listing(one.number)]
    return {**page_json(one, page_marks(reader.state)), **more}


def page_json(page: Page, marks: PageMarks) -> dict[str, Any]:
    """An item of `memory pages`."""
    return {
        "id": page.short_id,
        "kind": page.kind,
        "first_seq": page.first_seq,
        "last_seq": page.last_seq,
        "first_at": rfc3339(page.first_at),
        "last_at": rfc3339(page.last_at),
        "messages": page.messages,
        "tokens": page.tokens,
        "gist": page.gist,
        "keywords": list(page.keywords),
        "trust": page.trust,
        "heat": page.heat,
        "parent": f"d{page.parent}" if page.parent else None,
        "pinned": not page.level and page.number in marks.pinned,
        "prefetched": not page.level and page.number in marks.prefetched,
    }


def segments_json(state: State, now: datetime, *, hidden: bool = False) -> Items:
    """Items of `memory segments`: those in view, or all, the warmest first. One whose pages were
    all taken back is left out."""
    found = [
        (each, state.segments.pages(each.number)) for each in state.segments.all(hidden=hidden)
    ]
    items = [
        {
            "id": each.short_id,
            "gist": each.gist,
            "keywords": list(each.keywords),
            "trust": each.trust,
            "pages": [f"p{number}" for number in pages],
            "new": max(0, each.length - each.promoted_length),
            "visits": each.visits,
            "heat": round(each.heat(now), 3),
            "last_visit": rfc3339(each.last_visit),
            "hidden": each.hidden,
        }
        for each, pages in found
        if pages
    ]
    return sorted(items, key=lambda item: -float(item["heat"]))


def find_page(reader: AgentReader, written: str) -> Page:
    """The page or directory of that id; a number alone is a page. Raises NotFound."""
    pages = reader.state.pages
    match = _PAGE.fullmatch(written.strip())
    wants_directory = match is not None and match[1].lower() == "d"
    found = None
    if match:
        number = int(match[2])
        found = pages.directory(number) if wants_directory else pages.get(number)
    if found is None:
        there = "there are no pages yet"
        if pages.last_number:
            there = f"the pages are p1 to p{pages.last_number}"
            if pages.last_directory:
                there += f", the directories d1 to d{pages.last_directory}"
        noun = "directory" if wants_directory else "page"
        raise NotFound(f"there is no {noun} {written!r}", hint=there)
    return found


def page_text(reader: AgentReader, page: Page, fences: Fences = OPEN) -> str:
    """Every message of a page, one after the other; of a directory a line for each child."""
    if page.level:
        return "\n".join(entry(child) for child in reader.pages.listing(page.number))
    stored = reader.state.journal.span(page.first_seq, page.last_seq)
    lines = [reader.pages_in(fences).line(message) for message, _, _ in stored]
    return "\n".join(line for line in lines if line)


def tree(state: State, *, whole: bool = True) -> Iterator[tuple[Page, int]]:
    """Every directory before what stands in it, oldest first, with its depth; else the tops."""

    def below(nodes: Sequence[Page], depth: int) -> Iterator[tuple[Page, int]]:
        for node in nodes:
            yield node, depth
            if node.level and whole:
                yield from below(state.pages.children(node.number), depth + 1)

    yield from below(state.pages.tops(), 0)
