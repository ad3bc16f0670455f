"""`pagemind memory compact`: all upkeep of an agent's LanceDB tables at once.

It happens by itself in pauses; this is for who wants it done now, or wants to see how things are.
"""

from pathlib import Path
from typing import Any

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Wait


def compact(
    agent: AgentName, wait: Wait = 0.0, as_json: AsJson = False, home: HomeFolder = None
) -> None:
    """Merge the pieces of an agent's tables, bring their indices up to date, drop old versions."""
    from pagemind.runtime.cli.render import answer, plural, size
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.tiers.store import TIERS

    indices: list[dict[str, Any]] = []
    rows = 0
    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        name, folder = writer.name, writer.state.tiers
        before = _measure(folder)
        writer.store.check()  # what would refuse the tables is said before anything is done
        writer.store.compact()
        after = _measure(folder)
        for tier in TIERS:
            state = writer.store.state(tier)
            if state is None:
                continue
            rows += state.rows
            for field, unindexed in state.indices.items():
                indices.append({"tier": tier, "field": field, "unindexed": unindexed})
    if as_json:
        files = {"files_before": before[0], "files_after": after[0]}
        held = {"bytes_before": before[1], "bytes_after": after[1]}
        answer({"agent": name, "rows": rows, **files, **held, "indices": indices})
    else:
        print(f"{name}: {plural(rows, 'row')}, all of them indexed" if rows else f"{name}: no rows")
        print(f"files {before[0]:,} → {after[0]:,}, {size(before[1])} → {size(after[1])}")


def _measure(folder: Path) -> tuple[int, int]:
    """How many files a folder has, and their bytes; nothing at all if it is not there."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return len(sizes), sum(sizes)
