"""What always holds of shared blocks (home.db), and of an agent's copies of them; as
invariants.py does it for the stores of an agent. Both only read.
"""

from collections.abc import Iterator

from pagemind.runtime.finding import Finding, wrong
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.shared_blocks import SharedBlocks
from pagemind.runtime.state.state import State

# Each gives the names of the blocks that break it.
_LAWS = {
    "versions do not count from 1 without a gap": (
        "SELECT b.name FROM shared_blocks b WHERE b.version <> (SELECT count(*) FROM"
        " shared_block_versions v WHERE v.name = b.name) OR b.version <> coalesce((SELECT"
        " max(v.version) FROM shared_block_versions v WHERE v.name = b.name), -1)"
    ),
    "the value is not that of the newest version": (
        "SELECT b.name FROM shared_blocks b JOIN shared_block_versions v ON v.name = b.name"
        " AND v.version = b.version WHERE v.value <> b.value"
    ),
    "versions of a block that is not there": (
        "SELECT DISTINCT name FROM shared_block_versions WHERE name NOT IN"
        " (SELECT name FROM shared_blocks)"
    ),
}


def check_shared_blocks(database: Database) -> list[Finding]:
    """Of the home: every version of every shared block is there, and the value is the newest."""
    found: list[Finding] = []
    with database.reading():
        for what, sql in _LAWS.items():
            names = sorted(str(row["name"]) for row in database.rows(sql))
            found += wrong("shared blocks", what, names)
    return found


def check_copies(state: State, blocks: SharedBlocks) -> Iterator[Finding]:
    """Of an agent: no copy is of a version that the shared block has not reached; one that says
    something else than its version becomes like the block again by itself."""
    known = {each.id: each for each in blocks.all()}
    own = {each.label: each.value for each in state.blocks.all()}
    ahead, other = [], []
    for label, (id, version) in sorted(state.blocks.shared().items()):
        if (shared := known.get(id)) is None:
            continue  # it was deleted: the copy is the agent's own now
        if version > shared.version:
            ahead.append(f"{label} ({shared.name}@{version} of {shared.version})")
        elif version == shared.version and own.get(label) != shared.value:
            other.append(f"{label} ({shared.name})")
    yield from wrong("shared copies", "copies of versions that are not there", ahead)
    if other:
        said = f"they differ from the shared block: {', '.join(other)}"
        yield Finding("shared copies", "note", said, "open")
