"""What of its memory an agent's functions may touch, by the kinds that its definition declares.

A function that the table of memory_kinds forbids is not offered at all. This holds for the others,
which may ask for anything: functions of the person's own, and page_in, which reads passages too.
"""

from collections.abc import Mapping
from typing import Any, cast

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.memory_kinds import Kind, MemoryKinds
from pagemind.runtime.passage_reader import PassageReader
from pagemind.runtime.services import Archival, Core, Facts, Pages, Recall

# What each service does, as the function of the table that does the same.
_CORE = dict.fromkeys(("append", "edit", "rewrite", "set", "patch"), "core_rewrite")
_RECALL = {"search": "recall_search"}
_ARCHIVAL = {
    **dict.fromkeys(("search", "gathered", "near", "count"), "archival_search"),
    **dict.fromkeys(("insert", "edit", "delete"), "archival_insert"),
}
_FACTS = {
    **dict.fromkeys(("search", "history"), "fact_search"),
    **dict.fromkeys(("add", "close"), "fact_add"),
}
_PAGES = {"read": "page_in", "find": "page_find", "pin": "page_pin", "unpin": "page_unpin"}
_PASSAGES = {"read": "archival_search"}


class Permitted:
    """Gives each service as it is, or one that raises ToolFailed for what is forbidden."""

    def __init__(self, kinds: MemoryKinds) -> None:
        self._kinds = kinds

    def reads(self, kind: Kind) -> bool:
        return self._kinds.reads(kind)

    def core(self, service: Core) -> Core:
        return cast(Core, self._held(service, _CORE))

    def recall(self, service: Recall) -> Recall:
        return cast(Recall, self._held(service, _RECALL))

    def archival(self, service: Archival) -> Archival:
        return cast(Archival, self._held(service, _ARCHIVAL))

    def facts(self, service: Facts) -> Facts:
        return cast(Facts, self._held(service, _FACTS))

    def pages(self, service: Pages) -> Pages:
        return cast(Pages, self._held(service, _PAGES))

    def passages(self, service: PassageReader) -> PassageReader:
        return cast(PassageReader, self._held(service, _PASSAGES))

    def _held(self, service: object, does: Mapping[str, str]) -> object:
        barred = {name: why for name, like in does.items() if (why := self._kinds.forbids(like))}
        return _Held(service, barred) if barred else service


class _Held:
    def __init__(self, service: object, barred: Mapping[str, str]) -> None:
        self._service = service
        self._barred = barred

    def __getattr__(self, name: str) -> Any:
        if name in self._barred:
            raise ToolFailed(f"that is not allowed for this agent: {self._barred[name]}")
        return getattr(self._service, name)
