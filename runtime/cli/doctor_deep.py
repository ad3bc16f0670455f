"""What `doctor --deep` looks at beyond `doctor`, and what `--repair` may do about it.

A repair never touches the state database's texts: it makes derived tiers and the directories of
pages anew, takes out links of records that point nowhere, opens an agent so that it closes what a
killed process left open, and removes folders that nothing points to.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pagemind.runtime.finding import Finding

if TYPE_CHECKING:
    from pagemind.runtime.runtime import Runtime


def look(runtime: "Runtime", name: str) -> list[Finding]:
    """What breaks an invariant of one agent. Raises PagemindError if it cannot be read."""
    from pagemind.runtime.invariants import check_state, check_tiers
    from pagemind.runtime.reembed import unused_tiers
    from pagemind.runtime.shared_laws import check_copies

    with runtime.reader(name) as reader:
        found = check_state(reader.state) + check_tiers(reader.state, reader.store)
        found += check_copies(reader.state, runtime.shared_blocks)
        if left := [each.name for each in unused_tiers(reader.state)]:
            found.append(Finding("unused tiers", "note", ", ".join(left), "open"))
    return found


def look_at_archive(runtime: "Runtime", name: str) -> list[Finding]:
    """What breaks an invariant of one shared archive. Raises PagemindError if it cannot be read."""
    from pagemind.runtime.invariants import check_state, check_tiers

    with runtime.archives.reader(name) as reader:
        return check_state(reader.state) + check_tiers(reader.state, reader.store)


def look_at_shared_blocks(runtime: "Runtime") -> list[Finding]:
    """What breaks an invariant of the shared blocks of the home."""
    from pagemind.runtime.shared_laws import check_shared_blocks

    return check_shared_blocks(runtime.home.database)


def strays(runtime: "Runtime") -> list[Finding]:
    """What lies in the folder of agents and is none."""
    home = runtime.home
    known = {each.id for each in home.all()}
    abandoned, foreign, unknown = [], [], []
    for each in sorted((home.path / "agents").iterdir()):
        if each.name in known:
            continue
        if not each.is_dir():
            foreign.append(each.name)
        elif home.abandoned(each):
            abandoned.append(each.name)
        else:
            unknown.append(each.name)
    found = []
    if abandoned:
        found.append(Finding("abandoned folders", "note", ", ".join(abandoned), "open"))
    if foreign:
        found.append(Finding("foreign files", "note", f"in agents/: {', '.join(foreign)}"))
    if unknown:
        found.append(
            Finding(
                "unknown agents",
                "wrong",
                f"in agents/, with messages, but not in the registry: {', '.join(unknown)}",
            )
        )
    return found


def mend(runtime: "Runtime", name: str, found: list[Finding], wait: float) -> Iterator[str]:
    """Do what is safe about what was found; what was done. Raises PagemindError."""
    from pagemind.runtime.errors import StorageError
    from pagemind.runtime.semantic_invariants import mend_records

    if any(each.repair == "open" for each in found):
        agent = runtime.agent(name, create=False, wait=wait)  # opening it mends what it can
        runtime.drain(agent)
        agent.close()
        yield f"opened: {', '.join(each.check for each in found if each.repair == 'open')}"
    if any(each.repair == "directories" for each in found):
        with runtime.writer(name, wait=wait) as writer:
            made = writer.state.pages.rebuild_directories(runtime.counter.count)
        yield f"directories of pages made anew: {made:,}"
    if any(each.repair == "records" for each in found):
        with runtime.writer(name, wait=wait) as writer:
            mended = mend_records(writer.state)
            writer.kick()
        yield f"taken out of records, what points nowhere: {mended:,}"
    if any(each.repair == "rebuild" for each in found):
        with runtime.writer(name, wait=wait) as writer:
            status = writer.rebuild(lambda done, total: None)
            if status.last_error:
                raise StorageError(status.last_error)
            rows = sum(writer.store.count(tier) for tier in ("recall", "archival"))
        yield f"tiers rebuilt: {rows:,} rows"
