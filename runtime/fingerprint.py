"""fingerprint(): one hash over what an agent remembers now, whatever way led there.

Equal hashes: the same live messages, blocks, passages, pins and window. Rewinding and bringing back
gives the hash of before, and a fork has that of what it was copied from.
"""

import hashlib
import json

from pagemind.runtime.message import parts_to_json
from pagemind.runtime.state.state import State


def fingerprint(state: State) -> str:
    """SHA-256 in hex. Reads every live message."""
    made = hashlib.sha256()

    def add(*values: object) -> None:
        made.update(json.dumps(values, ensure_ascii=False, default=str).encode("utf-8"))

    with state.database.reading():
        for message, _, _ in state.journal.live(1):
            if message.kind != "notice":
                add(message.seq, message.role, message.speaker, parts_to_json(message))
        for block in state.blocks.all():
            add("block", block.label, block.value)
        for passage in reversed(state.passages.newest(1 << 62)):
            add("passage", passage.number, passage.text, passage.tags, passage.importance)
            add(passage.metadata)
        add("pins", state.pins.all())
        if epoch := state.history.epoch():
            summary = state.pages.summary(epoch.summary)
            add("window", summary.text if summary else "", epoch.table_sha256, epoch.pinned_sha256)
            add(epoch.queue_start)
    return made.hexdigest()
