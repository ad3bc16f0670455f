"""page_in of a passage: reads a7, or handbook:a7 of a shared archive, in parts of a bounded size.

Passages change, so a reading keeps the text that was shown by its hash; it is a reference all the
same, and leaves the window like any other reading.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.page_reader import Data, split
from pagemind.runtime.part_size import must_be_cut_alike
from pagemind.runtime.passage import Passage
from pagemind.runtime.services import Reading
from pagemind.runtime.sight import EVERYTHING, Sight
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.tiers.legs import Source
from pagemind.runtime.untrusted import OPEN, Fences

_ID = re.compile(r"(?:([^\s:]{1,64}):)?[aA](\d{1,18})")


class PassageReader:
    """`archives` gives the shared archives of the agent, `part_tokens` the size of one part now;
    what `sight` does not see is not there."""

    def __init__(
        self,
        state: State,
        archives: Callable[[], Sequence[Source]],
        *,
        count: Callable[[str], int],
        part_tokens: Callable[[], int],
        sight: Sight = EVERYTHING,
        fences: Fences = OPEN,
    ) -> None:
        self._fences = fences
        self._state = state
        self._archives = archives
        self._count = count
        self._part_tokens = part_tokens
        self._sight = sight

    @staticmethod
    def reads(id: str) -> bool:
        """Whether this is the id of a passage."""
        return _ID.fullmatch(id.strip()) is not None

    def read(self, id: str, part: int) -> Reading:
        """A part of a passage. Raises ToolFailed for what is not there."""
        looked = self.look(id, part)
        target = looked.text[1 : looked.text.index(" part ")]
        limit = self._part_tokens()
        must_be_cut_alike(self._state, target, part, limit, looked.parts)
        sha256 = self._state.history.keep_text(looked.text)
        reference = {"target": target, "part": part, "tokens": limit, "sha256": sha256}
        return replace(looked, reference=reference)

    def look(self, id: str, part: int) -> Reading:
        """The same beside the agent: nothing is noted."""
        match = _ID.fullmatch(id.strip())
        assert match is not None
        archive, number = match[1] or "", int(match[2])
        passage = self._archived(archive, number) if archive else self._own(number)
        if passage is not None and not self._readable(passage):
            passage = None
        target = f"{archive}:a{number}" if archive else f"a{number}"
        if passage is None:
            search = "archival_search gives the ids of those there are"
            raise ToolFailed(f"there is no passage {target}; {search}")
        text: str | Data = passage.text
        if self._fences.key and untrusted(passage.provenance.trust):
            text = Data(target, passage.text)
        parts = split([text], self._part_tokens(), self._count, self._fences)
        if not 1 <= part <= len(parts):
            only = "it has 1 part" if len(parts) == 1 else f"its parts are 1 to {len(parts)}"
            raise ToolFailed(f"{target} has no part {part}; {only}")
        shown = f"[{target} part {part} of {len(parts)}]\n{parts[part - 1]}"
        return Reading(shown, part, len(parts), None, passage.provenance.trust)

    def _readable(self, passage: Passage) -> bool:
        waits = passage.provenance.status == "pending" and self._sight.viewer is not None
        hidden = waits or passage.gone(self._state.clock.now())
        return not hidden and self._sight.sees(passage)

    def _own(self, number: int) -> Passage | None:
        return self._state.passages.get([number]).get(number)

    def _archived(self, name: str, number: int) -> Passage | None:
        """Raises ToolFailed for an archive that the agent does not have."""
        sources = {source.archive: source for source in self._archives()}
        if name not in sources:
            there = f"there are {', '.join(sources)}" if sources else "there is none"
            raise ToolFailed(f"no archive {name} can be read; {there}")
        return sources[name].view.passages([number]).get(number)
