"""What always holds of trust: nothing is trusted more than what stood in view when it was made, and
nothing more than what it holds.

What is older than this, or came in a file, is not bound by its steps; what a person trusts is not
bound by anything.
"""

from collections.abc import Iterator

from pagemind.runtime.finding import Finding, wrong
from pagemind.runtime.state.state import State

_SINCE = "(SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'trust_since'), 0))"
_RAISED = "(SELECT target FROM audit WHERE op = 'trust raised')"
# Each query gives the names of what breaks it.
_LAWS = (
    (
        "than their step was",
        "SELECT 'm' || m.seq FROM messages m JOIN steps s ON s.step = m.step"
        " WHERE m.role IN ('assistant', 'tool') AND m.trust > s.min_trust"
        " AND m.status <> 'retired'"  # erased: it says nothing that could be trusted
        f" AND m.seq > {_SINCE} AND 'm' || m.seq NOT IN {_RAISED}",
    ),
    (
        "than a message in them",
        "SELECT 'p' || p.number FROM pages p WHERE p.kind = 'page' AND p.trust > (SELECT"
        " min(m.trust) FROM messages m WHERE m.seq BETWEEN p.first_seq AND p.last_seq"
        " AND m.kind IN ('talk', 'observation') AND m.status <> 'retired' AND EXISTS (SELECT 1"
        " FROM line_ranges r WHERE r.line = p.line AND r.first_seq <= m.seq"
        " AND coalesce(r.last_seq, m.seq) >= m.seq))",
    ),
    (
        "than a page in them",
        "SELECT 'd' || d.number FROM pages d WHERE d.kind = 'directory' AND d.live AND d.trust >"
        " (SELECT min(c.trust) FROM pages c WHERE c.parent = d.number AND c.live)",
    ),
    (
        "than a page in them",
        "SELECT 'seg' || g.number FROM segments g WHERE g.trust > (SELECT min(p.trust) FROM"
        " segment_pages s JOIN pages p ON p.number = s.page AND p.kind = 'page'"
        " WHERE s.segment = g.number)",
    ),
)


def check_trust(state: State) -> Iterator[Finding]:
    """Within a transaction that reads."""
    for than, sql in _LAWS:
        found = [str(row[0]) for row in state.database.rows(sql)]
        yield from wrong("trust", f"trusted more {than}", found)
