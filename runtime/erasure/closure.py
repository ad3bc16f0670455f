"""The closure: everything in state.db that holds what a person wants erased, or rests on it.

plan_of() only reads. Messages: those meant, the answers to them in their turns, and what the agent
repeated of them later. Records: by their evidence (evidence.py). Then all that is made of messages
and records: pages, summaries, segments, core memory, planned changes, the texts of past requests.
"""

from collections.abc import Iterable, Iterator

from pagemind.runtime.erasure import told
from pagemind.runtime.erasure.block_lines import LostLines, lost_lines, outlived
from pagemind.runtime.erasure.echoes import Echoes
from pagemind.runtime.erasure.evidence import Evidence
from pagemind.runtime.erasure.gone import Gone
from pagemind.runtime.erasure.plan import Plan
from pagemind.runtime.erasure.resting import Resting, shown_ids
from pagemind.runtime.erasure.seeds import Search, Seeds, messages, records, seeds_of
from pagemind.runtime.erasure.wanted import Wanted
from pagemind.runtime.function_names import tells_new
from pagemind.runtime.message import Message
from pagemind.runtime.models.plain_talk import content
from pagemind.runtime.state.state import State

# Whose words stand for themselves: an agent may have repeated them, and they are no repetition.
_OWN = ("user", "operator", "document", "import")
_SAYS = 0.6  # of a line's words


def plan_of(state: State, wanted: Wanted, *, search: Search | None = None) -> Plan:
    """What an erasure takes; a plan of nothing where nothing is meant. Raises NotFound for an id of
    nothing, UserError for what is not one wish."""
    way = wanted.way
    with state.database.reading():
        return _Closure(state, seeds_of(state, wanted, search)).plan(way)


class _Closure:
    def __init__(self, state: State, seeds: Seeds) -> None:
        self._state = state
        self._seeds = seeds
        self._gone = Gone(state, seeds.messages, seeds.passages)
        self._echoes = Echoes()
        self._kept: dict[int, int] = {}

    def plan(self, way: str) -> Plan:
        seeds, gone = self._seeds, self._gone
        if seeds.before is None:
            gone.messages |= set(self._answers(sorted(seeds.messages)))
            if not seeds.everything:
                self._kept = Evidence(self._state, gone, seeds.matches).settle()
                self._repeated()
        lost = self._lost_lines()
        gone.messages |= set(self._shown_by(lost))
        return Resting(self._state, seeds, gone, self._tells, lost, self._kept).plan(way)

    # --- messages -------------------------------------------------------------------------------

    def _answers(self, seqs: Iterable[int]) -> Iterator[int]:
        """The results of calls, and what the agent said and did on a message in the rest of its
        turn."""
        first: dict[int, int] = {}
        for seq, message in self._state.journal.get(sorted(seqs)).items():
            if message.turn and message.kind != "notice":
                first[message.turn] = min(seq, first.get(message.turn, seq))
        for turn, seq in first.items():
            started = False
            for message in self._state.journal.of_turn(turn):
                if message.seq < seq or message.erased:
                    continue
                if message.seq == seq:
                    started = message.role == "assistant"
                # Results beside the one that is meant are other answers to the same reply.
                started = started or message.role == "assistant"
                if started and message.role in ("assistant", "tool") and message.seq > seq:
                    yield message.seq

    def _repeated(self) -> None:
        """What the agent said, noted or was told again later, in words that nobody else said."""
        state, gone = self._state, self._gone
        said: list[str] = []
        made: list[str] = []
        for message in state.journal.get(sorted(gone.messages)).values():
            (made if self._may_repeat(message) else said).append(told.of_message(message))
        for record in state.passages.get(sorted(gone.passages)).values():
            own = record.provenance.origin in _OWN
            (said if own else made).append(told.of_record(record))
        self._echoes = Echoes(said, made, self._staying())
        if not self._echoes:
            return
        found = {m.seq for m in messages(state) if self._may_repeat(m) and self._told(m)}
        found -= gone.messages
        gone.messages |= found | set(self._results(found))
        told_too = [
            record
            for record in records(state)
            if record.number not in gone.passages
            and record.provenance.origin not in _OWN
            and told.of_record(record) in self._echoes
        ]
        self._kept |= Evidence(state, gone, self._tells).settle(told_too)
        self._kept = {n: v for n, v in self._kept.items() if n not in gone.passages}

    def _staying(self) -> Iterator[str]:
        """What stays and stands for itself; and all that was there before."""
        state, gone = self._state, self._gone
        first = min(gone.messages, default=state.journal.last_seq + 1)
        for message in messages(state):
            if message.seq in gone.messages:
                continue
            if message.seq < first or not self._may_repeat(message):
                yield told.of_message(message)
        for record in records(state):
            if record.number not in gone.passages and record.provenance.origin in _OWN:
                yield told.of_record(record)
        # A move of the time machine is the user's, and what it wrote back the model's.
        sql = "SELECT value FROM block_versions WHERE author = 'user' AND origin = 'user'"
        for row in state.database.rows(f"{sql} OR version = 1"):
            yield row["value"]

    def _may_repeat(self, message: Message) -> bool:
        if message.role == "assistant" or message.kind == "notice":
            return True
        return message.role == "tool" and not tells_new(message.name)

    def _told(self, message: Message) -> bool:
        return told.of_message(message) in self._echoes

    def _results(self, seqs: Iterable[int]) -> Iterator[int]:
        """Those of the calls that go."""
        for message in self._state.journal.get(sorted(seqs)).values():
            calls = {call.id for call in message.tool_calls}
            turn = self._state.journal.of_turn(message.turn) if calls else []
            later = (other for other in turn if other.seq > message.seq and not other.erased)
            yield from (other.seq for other in later if other.tool_call_id in calls)

    def _tells(self, text: str) -> bool:
        """Whether a text is meant, or repeats what is."""
        return self._seeds.matches(text) or text in self._echoes

    # --- core memory ----------------------------------------------------------------------------

    def _lost_lines(self) -> LostLines:
        seeds = self._seeds

        def tells(line: str, author: str) -> bool:
            if seeds.everything:
                return author != "definition"
            return seeds.matches(line) or (author != "user" and line in self._echoes)

        if seeds.before is not None:
            return outlived(self._state, seeds.before)
        return lost_lines(self._state, self._gone, tells, _says)

    def _shown_by(self, lost: LostLines) -> Iterator[int]:
        """Notices that show such a line, for a change of a block is told with its value; and what
        was read of what goes, where a copy was kept."""
        for message in messages(self._state):
            tells = message.kind == "notice" and any(line in message.text for line in lost.texts)
            if tells or (message.kind == "reading" and self._was_read(message)):
                yield message.seq

    def _was_read(self, message: Message) -> bool:
        reference = message.reference or {}
        if "sha256" not in reference:
            return False  # made again whenever it is shown
        target = str(reference.get("target", ""))
        number = int(target[1:]) if target[1:].isdecimal() else 0
        copy = self._state.history.text(str(reference["sha256"]))
        if target[:1] == "a":
            return number in self._gone.passages or number in self._kept or self._tells(copy)
        return any(self._gone.takes(id) for id in shown_ids(copy)) or self._tells(copy)


def _says(text: str, line: str) -> bool:
    asked, said = content(line), content(text)
    return bool(asked) and len(asked & said) >= _SAYS * len(asked)
