"""Trust of what comes out of a file. A row keeps its origin, and never gets more trust than the
runtime gives to that origin, nor than what stood before it in its turn: a file cannot promote what
it holds. Asked for, all of it is trusted no more than an import, and the lines about pages are made
anew out of what is trusted.
"""

from pagemind.runtime.function_names import names
from pagemind.runtime.message import SPEAK, TRUST
from pagemind.runtime.settings import OWN_RESULT_TRUST
from pagemind.runtime.state.database import Database

_WITH_ORIGIN = ("messages", "block_versions", "passages", "changes")


def lower(database: Database, *, untrusted: bool = False) -> int:
    """Lower what is too high; how many rows of messages, blocks, passages and planned changes that
    was. What was planned for blocks waits for a person."""
    ceiling = TRUST["import"] if untrusted else max(TRUST.values())
    listed = ", ".join(f"'{name}'" for name in (*names(), SPEAK))
    changed = 0
    for table in _WITH_ORIGIN:
        cases = " ".join(f"WHEN '{o}' THEN {min(t, ceiling)}" for o, t in TRUST.items())
        most = f"CASE origin {cases} ELSE 0 END"
        if table == "messages":  # results of memory functions are the agent's own texts
            own = min(OWN_RESULT_TRUST, ceiling)
            most = (
                f"CASE WHEN origin = 'tool' AND role = 'tool' AND origin_detail IN ({listed})"
                f" THEN {own} ELSE {most} END"
            )
        changed += database.number(f"SELECT count(*) FROM {table} WHERE trust > {most}")
        database.write(f"UPDATE {table} SET trust = {most} WHERE trust > {most}")
    # What an agent says with something in view is no better than that.
    seen = (
        "(SELECT min(e.trust) FROM messages e WHERE e.turn = messages.turn AND e.seq < messages.seq"
        " AND e.kind IN ('talk', 'observation'))"
    )
    above = f"role <> 'user' AND turn > 0 AND trust > {seen}"
    changed += database.number(f"SELECT count(*) FROM messages WHERE {above}")
    database.write(f"UPDATE messages SET trust = {seen} WHERE {above}")
    # A page is trusted as its least trusted message, a directory as its least trusted child.
    highest = database.number("SELECT max(level) FROM pages")
    for level in range(highest + 1):
        least = (
            "(SELECT min(trust) FROM messages WHERE seq BETWEEN p.first_seq AND p.last_seq"
            " AND kind IN ('talk', 'observation'))"
            if level == 0
            else "(SELECT min(c.trust) FROM pages c WHERE c.parent = p.number)"
        )
        database.write(
            f"UPDATE pages AS p SET trust = {least} WHERE p.level = {level}"
            f" AND p.trust > coalesce({least}, p.trust)"
        )
    least = (
        "(SELECT min(p.trust) FROM segment_pages s JOIN pages p ON p.number = s.page"
        " WHERE p.kind = 'page' AND s.segment = segments.number)"
    )
    database.write(f"UPDATE segments SET trust = min(trust, ?, coalesce({least}, 0))", (ceiling,))
    database.write(
        "UPDATE changes SET state = 'pending' WHERE state IN ('candidate', 'planned')"
        " AND op = 'block'"
    )
    if untrusted:  # a skill of a stranger's is offered when a person has seen it
        skills = "kind = 'skill' AND status = 'active' AND json_extract(metadata, '$.state')"
        waits = "status = 'pending', metadata = json_set(metadata, '$.state', 'pending')"
        database.write(
            f"UPDATE passage_versions SET {waits} WHERE (number, version) IN"
            f" (SELECT number, version FROM passages WHERE {skills} = 'active')"
        )
        database.write(f"UPDATE passages SET {waits} WHERE {skills} = 'active'")
    database.write("UPDATE summaries SET trust = ? WHERE trust > ?", (ceiling, ceiling))
    return changed
