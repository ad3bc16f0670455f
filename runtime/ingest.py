"""Files and folders into archival memory: ingest() reads, cuts, inserts, and keeps count.

A file is known by its path and the hash of its bytes (table `documents`). What is unchanged is
skipped; of what changed, the passages that are the same stay, new ones come in and vanished ones
are retired; with `sync`, so are those of files that are gone from a folder. A run that is cut off
anywhere is finished by the next one, without doubles.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from pagemind.runtime.documents.document import Broken, Document, Section, Skipped
from pagemind.runtime.documents.folder import File, Found, find_files
from pagemind.runtime.documents.passages import Cut, passages
from pagemind.runtime.documents.read import load, parse
from pagemind.runtime.errors import DocumentError
from pagemind.runtime.ingested import Ingested, Near, OnProgress, Progress, Target
from pagemind.runtime.keeping import PLAIN, Keeping
from pagemind.runtime.message import clean_json, clean_text
from pagemind.runtime.settings import (
    INGEST_BATCH,
    INGEST_FAULTS,
    INGEST_NEAR,
    NEAR_DUPLICATE,
    PASSAGE_CHARS,
)
from pagemind.runtime.state.denied import ERASED, Denied
from pagemind.runtime.state.passages import digest

__all__ = ["Ingested", "OnProgress", "Progress", "Target", "ingest", "ingest_text", "read_passages"]


def ingest(
    target: Target,
    paths: Sequence[Path],
    *,
    tags: Sequence[str] = (),
    importance: float | None = None,
    keeping: Keeping = PLAIN,
    sync: bool = False,
    on_progress: OnProgress = lambda _: None,
    denied: Denied | None = None,
) -> Ingested:
    """Take these files and folders in. `sync`: passages of files that are gone from the folders
    are retired. What cannot be read, or was erased from the home (`denied`), is in `skipped`, never
    an error. Raises what the target does.
    """
    found = find_files(paths)
    run = _Run(
        target,
        found,
        tags=tags,
        importance=importance,
        keeping=keeping,
        on_progress=on_progress,
        denied=denied,
    )
    for file in found.files:
        run.take(file)
    if sync:
        run.forget(found.gone(target.state.documents.sources()))
    return run.done


def ingest_text(
    target: Target,
    text: str,
    *,
    tags: Sequence[str] = (),
    importance: float | None = None,
    keeping: Keeping = PLAIN,
    on_progress: OnProgress = lambda _: None,
) -> Ingested:
    """Take in a person's own words: one passage, or several if they are too long for that."""
    run = _Run(
        target, Found(), tags=tags, importance=importance, keeping=keeping, on_progress=on_progress
    )
    reading = _Reading(File(Path("-"), "", "", len(text)))
    if rest := run.pour(_cuts(text), reading):
        run.store(rest, reading)
    return run.done


def read_passages(
    text: str, paths: Sequence[Path], limit: int, denied: Denied | None = None
) -> tuple[Ingested, list[tuple[str, Cut]]]:
    """What would be taken in, with the name of its document, for who cannot write now: at most
    `limit` passages."""
    found = find_files(paths)
    done = Ingested(skipped=list(found.skipped))
    if text:
        own = [("", cut) for cut in islice(_cuts(text), limit)]
        return Ingested(chunks=len(own)), own
    items: list[tuple[str, Cut]] = []
    for file in found.files:
        reading = _Reading(file)
        try:
            data = load(file.path)
            if denied is not None and denied.has_document(hashlib.sha256(data).hexdigest()):
                raise DocumentError(ERASED)
            for cut in passages(parse(file.path, data)):
                if isinstance(cut, Broken):
                    _fault(done, cut, reading)
                elif denied is not None and denied.has_text(cut.text):
                    reading.denied += 1
                elif len(items) < limit:
                    items.append((file.name, replace(cut, metadata=clean_json(cut.metadata))))
                else:
                    return done, items
            done.files += 1
        except DocumentError as error:
            done.skipped.append(Skipped(str(file.path), error.message))
        _uncounted(done, reading)
    done.chunks = len(items)
    return done, items


def _cuts(text: str) -> Iterator[Cut]:
    """A person's own words: one passage, or several if they are too long for that."""
    if len(text) <= PASSAGE_CHARS:
        yield Cut(text)
        return
    for cut in passages(Document("text", iter([Section(text, headings=True)]))):
        assert isinstance(cut, Cut)
        yield cut


@dataclass(slots=True)
class _Reading:
    """A file while it is read. `known`: its former passages by the digest of their text."""

    file: File
    known: Mapping[str, int] = field(default_factory=dict)
    before: tuple[int, ...] = ()
    numbers: dict[int, None] = field(default_factory=dict)  # an ordered set
    chars: int = 0
    faults: int = 0
    denied: int = 0  # passages that were erased from the home


class _Run:
    """One call of ingest()."""

    def __init__(
        self,
        target: Target,
        found: Found,
        *,
        tags: Sequence[str],
        importance: float | None,
        keeping: Keeping,
        on_progress: OnProgress,
        denied: Denied | None = None,
    ) -> None:
        self._denied = denied if denied is not None and denied.anything else None
        self.done = Ingested(skipped=list(found.skipped))
        self._target = target
        self._documents = target.state.documents
        self._found = found
        self._tags = tags
        self._importance = importance
        self._keeping = keeping
        self._on_progress = on_progress
        self._bytes = 0  # of files that are done
        self._of_bytes = sum(file.bytes for file in found.files)
        self._seen = 0  # files
        self._compared = 0  # passages

    def take(self, file: File) -> None:
        """Bring one file up to date."""
        self._tell(file, 0)
        try:
            self._take(file)
        except DocumentError as error:
            self.done.skipped.append(Skipped(str(file.path), error.message))
        self._seen += 1
        self._bytes += file.bytes
        self._tell(file, 0)

    def _take(self, file: File) -> None:
        data = load(file.path)
        sha256 = hashlib.sha256(data).hexdigest()
        if self._denied is not None and self._denied.has_document(sha256):
            raise DocumentError(ERASED)
        stored = self._documents.get(file.source)
        if stored is not None and stored.sha256 == sha256:
            self.done.files += 1
            self.done.unchanged += 1
            self.done.chunks += len(stored.numbers)
            self.done.duplicates += [f"a{number}" for number in stored.numbers]
            return
        before = stored.numbers if stored else ()
        reading = _Reading(file, self._documents.as_read(before), before)
        rest: list[Cut] = []
        if data.strip() or stored is None:  # a file that was emptied has no passages any more
            rest = self.pour(passages(parse(file.path, data)), reading)
            if not rest and not reading.numbers and not reading.denied:
                raise DocumentError("has no text")
        close = self._compare(rest, reading)
        with self._target.state.database.transaction():
            self._insert(rest, close, reading)
            self._documents.put(file.source, sha256, tuple(reading.numbers))
            vanished = [number for number in before if number not in reading.numbers]
            self._retire(vanished, f"no longer in {file.name}", beside=file.source)
        self.done.files += 1
        # A row without a hash is a first reading that was cut off.
        self.done.updated += stored is not None and bool(stored.sha256)

    def pour(self, cuts: Iterator[Cut | Broken], reading: _Reading) -> list[Cut]:
        """Insert passages in batches, each of them one commit; the last batch is given back, so
        that a small file is one commit in all."""
        batch: list[Cut] = []
        try:
            for cut in cuts:
                if isinstance(cut, Broken):
                    _fault(self.done, cut, reading)
                    continue
                if self._denied is not None and self._denied.has_text(cut.text):
                    reading.denied += 1
                    continue
                batch.append(cut)
                if len(batch) > INGEST_BATCH:
                    self.store(batch[:INGEST_BATCH], reading)
                    batch = batch[INGEST_BATCH:]
        except DocumentError as error:
            if not reading.numbers and not batch:
                raise
            self.store(batch, reading)
            kept = f"the {len(reading.numbers):,} passages before that are kept"
            raise DocumentError(f"{error.message}; {kept}") from error
        finally:
            _uncounted(self.done, reading)
        return batch

    def store(self, batch: Sequence[Cut], reading: _Reading) -> None:
        """One commit in the middle of a file. What is in so far is entered with it, so that the
        next run knows it even if the file has changed until then."""
        close = self._compare(batch, reading)
        with self._target.state.database.transaction():
            self._insert(batch, close, reading)
            if reading.file.source:
                numbers = dict.fromkeys((*reading.before, *reading.numbers))
                self._documents.put(reading.file.source, "", tuple(numbers))
        self._tell(reading.file, reading.chars)

    def _compare(self, batch: Sequence[Cut], reading: _Reading) -> dict[str, tuple[str, float]]:
        """What is nearest to each text that is new to the file, while that is affordable."""
        found: dict[str, tuple[str, float]] = {}
        for cut in batch:
            if self._compared == INGEST_NEAR:
                break
            text = clean_text(cut.text)
            if digest(text) not in reading.known:
                self._compared += 1
                if nearest := self._target.near(text, 1):
                    found[text] = nearest[0]
        return found

    def _insert(
        self, batch: Sequence[Cut], close: Mapping[str, tuple[str, float]], reading: _Reading
    ) -> None:
        """Inside a transaction. A passage that the file had before is left as it is, whatever an
        edit or a deletion has made of it."""
        done = self.done
        for cut in batch:
            text = clean_text(cut.text)
            done.chunks += 1
            reading.chars += len(text)
            if (known := reading.known.get(digest(text))) is not None:
                reading.numbers[known] = None
                done.duplicates.append(f"a{known}")
                continue
            passage, new = self._target.insert(
                text,
                tags=self._tags,
                importance=self._importance,
                metadata=clean_json(cut.metadata),
                document=reading.file.name,
                keeping=self._keeping,
            )
            reading.numbers[passage.number] = None
            (done.ids if new else done.duplicates).append(passage.short_id)
            near = close.get(text)
            if new and near is not None and near[1] >= NEAR_DUPLICATE:
                done.near.append(Near(passage.short_id, *near))

    def forget(self, sources: Sequence[str]) -> None:
        """Retire what files that are gone have left."""
        with self._target.state.database.transaction():
            numbers: dict[int, None] = {}
            for source in sources:
                stored = self._documents.get(source)
                self._documents.remove(source)
                numbers.update(dict.fromkeys(stored.numbers if stored else ()))
            self._retire(list(numbers), "its file is gone", beside="")

    def _retire(self, numbers: Sequence[int], reason: str, *, beside: str) -> None:
        """What no other file holds, and no person or model has inserted."""
        held = self._documents.held(numbers, beside=beside)
        for number, passage in self._target.state.passages.get(numbers).items():
            ours = passage.provenance.origin == "document" and number not in held
            if ours and self._target.retire(number, reason=reason):
                self.done.retired.append(passage.short_id)

    def _tell(self, file: File, chars: int) -> None:
        self._on_progress(
            Progress(
                file.path,
                self._seen,
                len(self._found.files),
                self._bytes + min(chars, file.bytes),
                self._of_bytes,
                self.done.chunks,
            )
        )


def _fault(done: Ingested, broken: Broken, reading: _Reading) -> None:
    """Say what of a file is left out, but not ten thousand times."""
    reading.faults += 1
    if reading.faults <= INGEST_FAULTS:
        why = f"{broken.where}: {broken.why}"
        done.skipped.append(Skipped(str(reading.file.path), why))


def _uncounted(done: Ingested, reading: _Reading) -> None:
    if reading.denied:
        what = f"{reading.denied:,} of its passages: {ERASED}"
        done.skipped.append(Skipped(str(reading.file.path), what))
    if (more := reading.faults - INGEST_FAULTS) > 0:
        done.skipped.append(Skipped(str(reading.file.path), f"and {more:,} more of that"))
