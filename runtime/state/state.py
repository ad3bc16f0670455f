"""The state of one agent: its database, opened as the writer or for reading beside one."""

from datetime import datetime
from pathlib import Path

from pagemind.runtime import settings
from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.state import schema
from pagemind.runtime.state.accesses import Accesses
from pagemind.runtime.state.audit import Audit
from pagemind.runtime.state.blobs import Blobs
from pagemind.runtime.state.blocks import Blocks
from pagemind.runtime.state.changes import Changes
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.documents import Documents
from pagemind.runtime.state.entities import Entities
from pagemind.runtime.state.facts import Facts
from pagemind.runtime.state.history import History
from pagemind.runtime.state.items import Items
from pagemind.runtime.state.journal import Journal
from pagemind.runtime.state.lineage import Lineage
from pagemind.runtime.state.links import Links
from pagemind.runtime.state.outbox import StateOutbox
from pagemind.runtime.state.pages import Pages
from pagemind.runtime.state.passages import Passages
from pagemind.runtime.state.pins import Pins
from pagemind.runtime.state.screen import Screen
from pagemind.runtime.state.segments import Segments
from pagemind.runtime.state.tallies import Tallies
from pagemind.runtime.state.turns import Turns
from pagemind.runtime.tokens import Calibration


class State:
    """`folder/state.db`: the authority for every text of one agent."""

    def __init__(self, folder: Path, clock: Clock, *, read_only: bool = False) -> None:
        self.folder = folder
        self.clock = clock
        self.database = Database(
            folder / "state.db",
            ddl=schema.STATE,
            version=settings.STATE_SCHEMA,
            migrations=schema.STATE_MIGRATIONS,
            read_only=read_only,
        )
        self.audit = Audit(self.database, clock)
        self.journal = Journal(self.database, clock)
        self.blocks = Blocks(self.database, clock)
        self.screen = Screen()  # by which the secrets of what is written are kept out
        self.passages = Passages(self.database, clock, self.screen)
        self.pages = Pages(self.database, clock)
        self.pins = Pins(self.database, clock)
        self.documents = Documents(self.database, clock)
        self.accesses = Accesses(self.database, clock)
        self.turns = Turns(self.database, clock)
        self.history = History(self.database, clock)
        self.lineage = Lineage(self.database, clock)
        self.links = Links(self.database, clock)
        self.entities = Entities(self.database, clock)
        self.facts = Facts(self.database)
        self.changes = Changes(self.database, clock, self.screen)
        self.segments = Segments(self.database, clock)
        self.items = Items(self.database)
        self.tallies = Tallies(self.database, clock)
        self.blobs = Blobs(folder)
        self.outbox = StateOutbox(self.database, self.journal, self.passages, self.pages)

    # --- the tiers ------------------------------------------------------------------------------

    @property
    def tiers(self) -> Path:
        """The folder of the LanceDB tables in use. Which it is stands in the database, so that
        a change of embedder switches from old to new in one commit."""
        return self.folder / self.database.meta("tiers", "lance")

    def point_to_tiers(self, name: str) -> None:
        """From now on the tables are those in the folder of this name."""
        self.database.set_meta("tiers", name)

    # --- calibration of the token counter -------------------------------------------------------

    def calibration(self, model: str) -> Calibration | None:
        row = self.database.one("SELECT * FROM calibration WHERE model = ?", (model,))
        return Calibration(row["ratio"], row["last"], row["samples"]) if row else None

    def set_calibration(self, model: str, value: Calibration) -> None:
        self.database.write(
            "INSERT OR REPLACE INTO calibration VALUES (?,?,?,?,?)",
            (model, value.ratio, value.last, value.samples, rfc3339(self.clock.now())),
        )

    # --- the inbox ------------------------------------------------------------------------------

    def leave(self, kind: str, body: str) -> None:
        """Leave something for the process that runs this agent."""
        self.database.write(
            "INSERT INTO inbox (kind, body, at) VALUES (?,?,?)",
            (kind, body, rfc3339(self.clock.now())),
        )

    def inbox(self) -> list[tuple[int, str, str, datetime]]:
        """What was left: number, kind, body, time; oldest first."""
        return [
            (row["number"], row["kind"], row["body"], parse_rfc3339(row["at"]))
            for row in self.database.rows("SELECT * FROM inbox ORDER BY number")
        ]

    def take_from_inbox(self, number: int) -> None:
        self.database.write("DELETE FROM inbox WHERE number = ?", (number,))

    def close(self) -> None:
        self.database.close()
