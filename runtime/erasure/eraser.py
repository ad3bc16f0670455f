"""Eraser: carries an erasure through, from a plan to its receipt.

    prepared = eraser.prepare(state, plan, matches)   only reads
    receipt = eraser.erase(prepared)   stored → scrub → outside → purge → verify → receipt

Each step may be done again: whoever is killed in the midst of one is followed by resume(), which
comes to the same end. Nothing is said to be gone before the last step. Readers go on meanwhile.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from errno import ENOSPC
from pathlib import Path
from typing import Any

from pagemind.runtime.archives import Archives
from pagemind.runtime.erasure.looking import Looked, Looker
from pagemind.runtime.erasure.outside import Beside
from pagemind.runtime.erasure.plan import Plan
from pagemind.runtime.erasure.prepared import Prepared, prepare
from pagemind.runtime.erasure.purge import clear_folder, now_of, parents, proofs, purge
from pagemind.runtime.erasure.receipt import ALWAYS, Receipt
from pagemind.runtime.erasure.scrub import scrub
from pagemind.runtime.erasure.telltales import TellTales
from pagemind.runtime.erasure.verify import left_in_state
from pagemind.runtime.errors import DiskFull, StorageError
from pagemind.runtime.outbox import Tier
from pagemind.runtime.settings import ERASE_WAIT_SECONDS
from pagemind.runtime.state.archives import RegisteredArchive
from pagemind.runtime.state.erasures import STEPS, Erasure
from pagemind.runtime.state.home import Home, Registered
from pagemind.runtime.state.state import State
from pagemind.runtime.tiers_writer import TiersWriter
from pagemind.runtime.tokens import TokenCounter

Writing = Callable[[], TiersWriter]  # the agent's, whose lock is held for as long as this lives
_MOST_FOUND = 50


class Eraser:
    """For one agent, which is held. `at_step` is told the step that begins."""

    def __init__(
        self,
        home: Home,
        archives: Archives,
        agent: Registered,
        writing: Writing,
        *,
        counter: TokenCounter,
        at_step: Callable[[str], None] = lambda step: None,
    ) -> None:
        self._home = home
        self._archives = archives
        self._agent = agent
        self._writing = writing
        self._counter = counter
        self._at_step = at_step

    def prepare(self, state: State, plan: Plan, matches: Callable[[str], bool]) -> Prepared:
        """What is to be done for a plan of this state. `matches`: whether a text of this agent,
        anywhere in the home, is meant."""
        return prepare(self._home, self._archives.registry, self._agent, state, plan, matches)

    def erase(self, prepared: Prepared, *, markers: Sequence[str] = ()) -> Receipt:
        """Do it. `markers`: texts that must stand nowhere in the home afterwards, for tests.

        Raises StorageError, DiskFull, ArchiveInUse; it is gone on with then by resume()."""
        begun = self._home.erasures.begin(self._agent.id, prepared.to_json())
        return self._carry_through(begun, markers)

    def resume(self, markers: Sequence[str] = ()) -> list[Receipt]:
        """Finish what was begun before. Raises as erase() does."""
        unfinished = self._home.erasures.unfinished(self._agent.id)
        return [self._carry_through(each, markers) for each in unfinished]

    # --- the steps --------------------------------------------------------------------------------

    def _carry_through(self, erasure: Erasure, markers: Sequence[str]) -> Receipt:
        prepared = Prepared.from_json(erasure.plan)
        for step in STEPS[STEPS.index(erasure.state) : -1]:
            self._at_step(step)
            try:
                prepared = self._done(step, erasure, prepared, markers)
            except OSError as error:
                where, what = error.filename or self._home.path, error.strerror or str(error)
                raise (DiskFull if error.errno == ENOSPC else StorageError)(
                    f"the erasure stopped at {where}: {what}",
                    hint="see to that, and run it again: it is gone on with",
                ) from error
            following = STEPS[STEPS.index(step) + 1]
            self._home.erasures.reached(erasure.id, following, prepared.to_json())
        self._at_step(STEPS[-1])
        return self._receipt(erasure, prepared)

    def _done(
        self, step: str, erasure: Erasure, prepared: Prepared, markers: Sequence[str]
    ) -> Prepared:
        if step == "scrub":
            return self._scrub(erasure, prepared)
        if step == "outside":
            return self._outside(prepared)
        return self._purge(prepared) if step == "purge" else self._verify(prepared, markers)

    def _scrub(self, erasure: Erasure, prepared: Prepared) -> Prepared:
        """The authority first: from here on nobody is shown it. What keeps it from coming back is
        known before it goes."""
        self._home.denied.add(erasure.id, prepared.denied)
        if prepared.plan.everything:
            return prepared
        with self._writing() as writer:
            counts = scrub(writer.state, prepared.plan, self._counter, by=prepared.by)
        return prepared.saying(counts=counts)

    def _outside(self, prepared: Prepared) -> Prepared:
        gone, kept = self._beside(prepared).clear(prepared.outside, keep_files=prepared.keep_files)
        for archive, numbers in self._in_archives(prepared):
            with self._archives.writer(archive.name, wait=ERASE_WAIT_SECONDS) as writer:
                scrub(writer.state, Plan(passages=numbers), self._counter, by=prepared.by)
        return prepared.saying(gone=max(len(gone), prepared.gone), kept=tuple(kept))

    def _purge(self, prepared: Prepared) -> Prepared:
        since, holds = now_of(self._home.path), list(prepared.holds)
        if prepared.plan.everything:
            clear_folder(self._folder)
        else:
            with self._writing() as writer:
                holds += purge(writer, prepared.plan)
        for archive, numbers in self._in_archives(prepared):
            with self._archives.writer(archive.name, wait=ERASE_WAIT_SECONDS) as shared:
                holds += purge(shared, Plan(passages=numbers))
                for backup in self._archives.path(archive.name).glob("state.v*.backup"):
                    backup.unlink()
        self._home.database.shred(ERASE_WAIT_SECONDS)
        return prepared.saying(purged_ns=since, holds=tuple(dict.fromkeys(holds)))

    def _verify(self, prepared: Prepared, markers: Sequence[str]) -> Prepared:
        looker = Looker(self._tales(prepared), markers)
        found: list[str] = []
        tables: list[dict[str, Any]] = []
        looked = Looked()
        if not prepared.plan.everything:
            with self._writing() as writer:
                found += left_in_state(writer.state, prepared.plan)
                self._tables(writer, "", prepared, prepared.plan, looker, looked, tables)
        for archive, numbers in self._in_archives(prepared):
            with self._archives.writer(archive.name, wait=ERASE_WAIT_SECONDS) as shared:
                found += left_in_state(shared.state, Plan(passages=numbers))
                plan, name = Plan(passages=numbers), f"{archive.name}: "
                self._tables(shared, name, prepared, plan, looker, looked, tables)
        looker.look(self._home.path, looked, within=self._is_data)
        found += looked.found
        return prepared.saying(
            facts={
                "tables": tables,
                "looked": {
                    "files": looked.files,
                    "bytes": looked.bytes,
                    "rows": looked.rows,
                    "telltales": len(prepared.tales) + len(markers),
                },
                "found": list(dict.fromkeys(found))[:_MOST_FOUND],
                "unread": looked.unread,
            }
        )

    def _tables(
        self,
        writer: TiersWriter,
        prefix: str,
        prepared: Prepared,
        plan: Plan,
        looker: Looker,
        looked: Looked,
        tables: list[dict[str, Any]],
    ) -> None:
        """Every row of every table, and what shows that there is no other."""
        gone = {key for keys in parents(plan).values() for key in keys}
        with writer.still():
            for proof in proofs(writer, prepared.purged_ns):
                looked.found += [f"{prefix}{fault}" for fault in proof.faults]
                told = asdict(proof)
                tables.append(
                    {"table": f"{prefix}{proof.tier}"}
                    | {name: told[name] for name in ("version", "rows", "files")}
                )

                def see(parent: str, text: str, tier: Tier = proof.tier) -> None:
                    if parent in gone or looker.says(text):
                        looked.found.append(f"{prefix}{tier}: a row of {parent}")

                looked.rows += writer.store.read_texts(proof.tier, see)

    def _receipt(self, erasure: Erasure, prepared: Prepared) -> Receipt:
        now = self._home.now()
        facts = prepared.facts
        unsure = [*ALWAYS, *prepared.unsure]
        unsure += [f"{path}, which was kept" for path in prepared.kept]
        unsure += [f"{each}: it cannot be read" for each in facts["unread"]]
        receipt = Receipt(
            id=erasure.id,
            agent=self._agent.name,
            agent_id=self._agent.id,
            way=prepared.plan.wanted,
            at=erasure.at,
            ended_at=now,
            plan_sha256=prepared.plan.sha256,
            erased=prepared.counts,
            beside=prepared.outside.counts(),
            tables=tuple(facts["tables"]),
            looked=facts["looked"],
            found=tuple(facts["found"]),
            holds=prepared.holds,
            denied=len(prepared.denied),
            kept=prepared.kept,
            unverifiable=tuple(unsure),
        )
        path = receipt.write(self._home.path)

        def also() -> None:
            self._home.audit.add(
                "erased",
                self._agent.id,
                by=prepared.by,
                erasure=erasure.id,
                receipt=receipt.sha256,
                verified=receipt.verified,
                **receipt.erased.to_dict(),
            )
            if prepared.plan.everything:
                self._home.unregister(self._agent)

        self._home.erasures.end(erasure.id, receipt.sha256, now, also)
        # The plan, with its hashes, goes from the file as well.
        self._home.database.shred(ERASE_WAIT_SECONDS)
        return receipt.at_path(path)

    # --- what they need ---------------------------------------------------------------------------

    @property
    def _folder(self) -> Path:
        return self._home.folder(self._agent.id)

    def _tales(self, prepared: Prepared) -> TellTales:
        return TellTales.from_stored(prepared.tales, self._home.denied.salt)

    def _beside(self, prepared: Prepared) -> Beside:
        return Beside(self._home, self._agent, prepared.plan, self._tales(prepared))

    def _in_archives(self, prepared: Prepared) -> list[tuple[RegisteredArchive, tuple[int, ...]]]:
        """One that was deleted meanwhile is gone with all that it had."""
        known = {each.id: each for each in self._archives.registry.all()}
        return [(known[id], numbers) for id, numbers in prepared.outside.archives if id in known]

    def _is_data(self, path: Path) -> bool:
        """Models that were pulled say nothing of anybody."""
        return path.relative_to(self._home.path).parts[0] != "models"
