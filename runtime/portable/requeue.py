"""What LanceDB has to be told after an increment: the messages, passages and pages that are other
than they were. Only what a tier's rows are made of counts."""

from pagemind.runtime.portable.manifest import Manifest
from pagemind.runtime.portable.tables import table_of
from pagemind.runtime.state.database import Database

# Not in any row of a tier, or in no way that is searched.
_OF_NO_ROW = {
    "messages": {"tokens", "pause", "step"},
    "passages": {"version"},
    "pages": {"heat", "heat_turn", "parent", "gist_author", "epoch", "created_at"},
}
_KEYS = {"messages": "seq", "passages": "number", "pages": "number"}
_TIERS = {"messages": "recall", "passages": "archival", "pages": "pages"}
# What a tier holds a row of; anything else that it may have had goes.
_WANTED = {
    "messages": "kind IN ('talk', 'observation')",
    "passages": "status <> 'retired'",
    "pages": "kind = 'page'",
}


def remember(database: Database, manifest: Manifest) -> None:
    """Inside the transaction, before the tables change: keep how they were."""
    for name in _KEYS:
        if _mode(manifest, name) == "whole":
            database.write(f"CREATE TEMP TABLE old_{name} AS {_rows(database, name)}")


def requeue(database: Database, manifest: Manifest) -> None:
    """Inside the same transaction, when they have changed: fill the outbox."""
    for name, key in _KEYS.items():
        tier = _TIERS[name]
        if _mode(manifest, name) == "added":
            last = _last(manifest, name)
            changed = f"SELECT {key} FROM ({_rows(database, name)}) WHERE {key} > {last}"
        elif _mode(manifest, name) == "whole":
            now, old = _rows(database, name), f"SELECT * FROM old_{name}"
            changed = (
                f"SELECT {key} FROM ({now} EXCEPT {old})"
                f" UNION SELECT {key} FROM ({old} EXCEPT {now})"
            )
        else:
            continue
        database.write(
            "INSERT OR REPLACE INTO outbox (tier, key, op)"
            f" SELECT '{tier}', {key}, CASE WHEN {key} IN (SELECT {key} FROM {name}"
            f" WHERE {_WANTED[name]}) THEN 'put' ELSE 'delete' END FROM ({changed})"
        )
        if _mode(manifest, name) == "whole":
            database.write(f"DROP TABLE old_{name}")


def _mode(manifest: Manifest, name: str) -> str:
    return manifest.tables[name].mode


def _last(manifest: Manifest, name: str) -> int:
    """The key that added rows come after."""
    after = manifest.tables[name].after
    return int(after[-1]) if after else 0


def _rows(database: Database, name: str) -> str:
    columns = [c for c in table_of(database, name).names if c not in _OF_NO_ROW[name]]
    kind = {"messages": _WANTED["messages"], "pages": _WANTED["pages"], "passages": "1"}[name]
    return f"SELECT {', '.join(columns)} FROM {name} WHERE {kind}"
