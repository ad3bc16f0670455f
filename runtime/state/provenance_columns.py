"""The provenance columns that every text-bearing table has: origin … sources, in this order."""

import json

from pagemind.runtime.message import Provenance
from pagemind.runtime.state.database import Row


def provenance_of(row: Row) -> Provenance:
    """A row's columns as a value."""
    return Provenance(
        row["origin"],
        row["origin_detail"],
        row["trust"],
        row["status"],
        tuple(json.loads(row["sources"])),
    )


def columns_of(provenance: Provenance) -> tuple[str, str, int, str, str]:
    """The inverse: origin, origin_detail, trust, status, sources."""
    return (
        provenance.origin,
        provenance.detail,
        provenance.trust,
        provenance.status,
        json.dumps(provenance.sources),
    )
