"""The functions that an agent's memory has for other agents, within the agent's own scopes. They
read beside a turn that runs; what they insert waits in the inbox meanwhile. Answers are those of
the command line (docs/json.md).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

from pagemind.runtime.archival_memory import check_importance
from pagemind.runtime.clock import rfc3339
from pagemind.runtime.errors import AgentInUse, BadArguments, BadFilter, PagemindError
from pagemind.runtime.event import AgentMessage
from pagemind.runtime.filters import filters_of
from pagemind.runtime.ingest import ingest_text, read_passages
from pagemind.runtime.keeping import PLAIN, Keeping
from pagemind.runtime.memory_answers import blocks_json, one_page_json, pages_json
from pagemind.runtime.mould import fences_of
from pagemind.runtime.page_finder import PageFinder
from pagemind.runtime.passage import Passage
from pagemind.runtime.passage_reader import PassageReader
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.search_answer import Where, fenced, part_of, search
from pagemind.runtime.settings import (
    CLI_PART_TOKENS,
    FIND_PAGES,
    INBOX_PASSAGES,
    MAX_MESSAGE_BYTES,
    MCP_PART_TOKENS,
)
from pagemind.runtime.sight import Sight
from pagemind.runtime.state.state import State
from pagemind.runtime.telling import Telling
from pagemind.runtime.tiers.composite import ranking_of
from pagemind.runtime.tool import Tool, make_tool
from pagemind.runtime.writer import AgentWriter

Body = dict[str, Any]
_SIGNED = ("memory_search", "page_in", "memory_insert", "send")  # for whom makes a difference
_MOST_NODES = 64  # of a tree of pages that is listed whole; of a larger one the tops


class MemoryFunctions:
    """Of one agent. `sends`: others may talk to it, too."""

    def __init__(self, runtime: Runtime, agent: str, *, sends: bool = False) -> None:
        self._runtime = runtime
        self._agent = runtime.home.find(agent).name
        self._sends = sends
        self._writing = Lock()

    @property
    def agent(self) -> str:
        return self._agent

    def tools(self) -> list[tuple[Tool, bool]]:
        """Each function, and whether it only reads."""
        reading: Sequence[Callable[..., Any]] = (
            self.memory_search,
            self.memory_blocks,
            self.memory_pages,
            self.page_find,
            self.page_in,
        )
        writing = (self.memory_insert, *((self.send,) if self._sends else ()))
        return [
            *((make_tool(each, effect="none"), True) for each in reading),
            *((make_tool(each, effect="world"), False) for each in writing),
        ]

    def call(self, tool: Tool, arguments: dict[str, Any], client: str) -> Body:
        """Run one for a client of that name. Raises PagemindError."""
        checked = tool.validate(arguments)
        if tool.name in _SIGNED:
            checked["ctx"] = client
        answer: Any = tool.function(**checked)
        return {"schema": 1, **answer}

    # --- reading --------------------------------------------------------------------------------

    def memory_search(
        self,
        query: str = "",
        tier: Where = "both",
        role: str | None = None,
        speaker: str | None = None,
        start: str | None = None,
        end: str | None = None,
        tags: list[str] | None = None,
        any_tags: list[str] | None = None,
        importance: str | None = None,
        origins: list[str] | None = None,
        ids: list[str] | None = None,
        scope: str | None = None,
        ranking: str | None = None,
        max_tokens: int = CLI_PART_TOKENS,
        part: int = 1,
        ctx: str = "",
    ) -> Body:
        """Search all that this agent was ever told and has kept, best first.

        Args:
            query: What to look for, in words. Without it: the newest.
            tier: recall (messages), archival (passages), pages (gists of pages), or both of the
                first two.
            role: Only messages of user, assistant or tool.
            speaker: Only what this person said.
            start: From this day on: 2026-05-08, 2026-05, yesterday.
            end: Up to and including this day.
            tags: Only passages with all of these.
            any_tags: Only passages with one of these.
            importance: At least 7, or a range: 7-9.
            origins: Only of these: user, model, tool, document, agent, import.
            ids: Only these: m42, a7, p17.
            scope: Only passages in this scope, such as /team/project, or below it.
            ranking: How to order, if not by relevance.
            max_tokens: The size of one part of the answer.
            part: Which part.
        """
        given = {
            "role": role,
            "speaker": speaker,
            "start": start,
            "end": end,
            "tags": tags,
            "any_tags": any_tags,
            "importance": importance,
            "origins": origins,
            "ids": ids,
            "scopes": scope,
        }
        if role is not None or speaker is not None:  # these are of messages alone
            if tier not in ("both", "recall"):
                raise BadFilter(f"{tier} have no role and no speaker")
            tier = "recall"
        _positive(max_tokens=max_tokens, part=part)

        def answer(reader: AgentReader) -> Body:
            filters = replace(filters_of(given, self._now(reader)), viewer=ctx)
            reader.look_as(_sight(reader, ctx))
            ranking_of(ranking)
            found = fenced(search(reader, tier, query, filters, ranking), fences_of(reader.state))
            return part_of(found, part, max_tokens, self._runtime.counter.count).as_json()

        return self._read(answer)

    def memory_blocks(self) -> Body:
        """Read core memory: what this agent always has in view."""
        count = self._runtime.counter.count
        return self._read(lambda reader: _items(blocks_json(reader, count)))

    def memory_pages(self, page: str = "") -> Body:
        """List the pages of what has left this agent's window, or show one with its text.

        Args:
            page: A page (p17) or a directory of pages (d3; d0 lists the tops).
        """

        def answer(reader: AgentReader) -> Body:
            state = reader.state
            if not page or page.strip().lower() == "d0":
                tops = bool(page) or state.pages.count() > _MOST_NODES
                return _items(pages_json(state, tops=tops))
            return one_page_json(reader, page, fences_of(state))

        return self._read(answer)

    def page_find(self, query: str = "", start: str | None = None, end: str | None = None) -> Body:
        """Find pages by what was said in them, best first. page_in then reads one.

        Args:
            query: What to look for, in words. Without it: the newest pages of a time.
            start: From this day on: 2026-05-08, 2026-05, yesterday.
            end: Up to and including this day.
        """
        if not (query.strip() or start or end):
            raise BadArguments("page_find looks for words or for a time: give query, start or end")

        def answer(reader: AgentReader) -> Body:
            filters = filters_of({"start": start, "end": end}, self._now(reader))
            finder = PageFinder(reader.state, reader.search, Telling(reader.state))
            found = finder.find(query.strip() or None, filters, FIND_PAGES)
            items = [
                {
                    "id": each.id,
                    "first_at": rfc3339(each.first_at),
                    "last_at": rfc3339(each.last_at),
                    "gist": each.gist,
                    "score": each.score,
                    "why": each.why.text if each.why is not None else None,
                }
                for each in found.pages
            ]
            return {**_items(items), "warnings": list(found.warnings)}

        return self._read(answer)

    def page_in(
        self, id: str, part: int = 1, max_tokens: int = MCP_PART_TOKENS, ctx: str = ""
    ) -> Body:
        """Read what was said, word for word, in parts.

        Args:
            id: A page (p17), directory of pages (d3), message (m42) or passage (a7).
            part: Which part, if it has several.
            max_tokens: The size of one part.
        """
        _positive(max_tokens=max_tokens, part=part)

        def answer(reader: AgentReader) -> Body:
            count = self._runtime.counter.count
            if PassageReader.reads(id):
                archives = reader.shared.sources if reader.shared is not None else tuple
                passages = PassageReader(
                    reader.state,
                    archives,
                    count=count,
                    part_tokens=lambda: max_tokens,
                    sight=_sight(reader, ctx),
                    fences=fences_of(reader.state),
                )
                read = passages.look(id, part)
            else:
                pages = reader.pages_in(fences_of(reader.state), max_tokens)
                read = pages.look(id, part)
            return {"id": id.strip(), "part": read.part, "parts": read.parts, "text": read.text}

        return self._read(answer)

    # --- writing --------------------------------------------------------------------------------

    def memory_insert(
        self,
        text: str,
        tags: list[str] | None = None,
        importance: float | None = None,
        scope: str | None = None,
        private: bool = False,
        ttl: str | None = None,
        ctx: str = "",
    ) -> Body:
        """Keep a passage in this agent's archival memory. It is marked as yours.

        Args:
            text: One self-contained fact, with names and dates.
            tags: Words to filter by later.
            importance: From 1 to 10.
            scope: Where to put it, such as /team/project.
            private: Whether only you shall find it, and neither the agent nor other programs.
            ttl: How long it is kept, such as 30 days.
        """
        keeping = Keeping.of(scope, ctx if private else "", ttl)
        if not text.strip():
            raise BadArguments("there is nothing to keep: the text is empty")
        if len(text.encode("utf-8", "replace")) > MAX_MESSAGE_BYTES:
            raise BadArguments(f"the text has more than {MAX_MESSAGE_BYTES:,} bytes")
        check_importance(importance)
        with self._writing:
            try:
                with self._runtime.writer(self._agent) as writer:
                    done = ingest_text(
                        _Into(writer, ctx),
                        text,
                        tags=tags or (),
                        importance=importance,
                        keeping=keeping,
                    )
                return {**done.as_json(), "left": 0}
            except AgentInUse:
                self._read(lambda reader: {"scope": _sight(reader, ctx).place(scope)})
                done, items = read_passages(text, (), INBOX_PASSAGES + 1)
                if len(items) > INBOX_PASSAGES:
                    raise
                for _, cut in items:
                    left: dict[str, object] = {"text": cut.text, "metadata": cut.metadata}
                    left |= {"tags": tags or [], "importance": importance, "agent": ctx}
                    left |= keeping.as_json()
                    self._runtime.leave(self._agent, "insert", left)
                return {**done.as_json(), "left": len(items)}

    def send(self, text: str, id: str | None = None, ctx: str = "") -> Body:
        """Say something to this agent and get its answer. It may take a while.

        Args:
            text: What to say.
            id: Of this message; the same id again gets the same answer, and is not said twice.
        """
        if not text.strip():
            raise BadArguments("there is nothing to say: the text is empty")
        with self._writing:
            agent = self._runtime.agent(self._agent, create=False)
            try:
                result = agent.handle(AgentMessage(ctx, text, id=id))
            finally:
                agent.close()
        if result.error is not None:
            raise result.error
        return result.as_json()

    # --- what they have in common ---------------------------------------------------------------

    def _read(self, answer: Callable[[AgentReader], Body]) -> Body:
        with self._runtime.reader(self._agent) as reader:
            return answer(reader)

    def _now(self, reader: AgentReader) -> Any:
        return self._runtime.clock.now().astimezone(reader.zone)


def _sight(reader: AgentReader, client: str) -> Sight:
    """What a program may see: no more than the agent whose memory it uses, and what it keeps to
    itself. An id or a scope that it has guessed is no way around that."""
    return reader.definition.sight().of_program(client)


class _Into:
    """An agent at rest, as what the passages of another agent go into."""

    def __init__(self, writer: AgentWriter, client: str) -> None:
        self._writer = writer
        writer.state.screen.rule = writer.definition.trust.secrets
        self._archival = writer.archival().for_agent(client)
        self._archival.sight = _sight(writer, client)

    @property
    def state(self) -> State:
        return self._writer.state

    def insert(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        document: str = "",
        keeping: Keeping = PLAIN,
    ) -> tuple[Passage, bool]:
        return self._archival.insert(
            text, tags=tags, importance=importance, metadata=metadata, keeping=keeping
        )

    def near(self, text: str, limit: int) -> list[tuple[str, float]]:
        return self._writer.near(text, limit)

    def retire(self, number: int, *, reason: str) -> bool:
        """Only documents are brought up to date, and a text is none."""
        raise AssertionError(f"a{number}: {reason}")


def _items(items: Sequence[Body]) -> Body:
    return {"items": list(items), "total": len(items)}


def _positive(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise BadArguments(f"{name} is a number from 1 on, not {number}")


def failure(error: PagemindError) -> Body:
    """For a client, which reads it as text."""
    return {"error": error.as_json()}
