"""The only source of time and ids. Nothing else calls datetime.now, time.* or uuid."""

import os
import threading
import time
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol
from uuid import UUID


class Clock(Protocol):
    """Wall time, monotonic time, process CPU time and ids."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""

    def monotonic(self) -> float:
        """Seconds from a fixed but unknown start; never goes back."""

    def new_id(self) -> str:
        """A UUIDv7 (RFC 9562) in its 36-character form; later ids sort after earlier ones."""


def rfc3339(at: datetime) -> str:
    """`2026-11-29T20:46:02.123456Z`. Raises ValueError for a naive datetime."""
    if at.tzinfo is None:
        raise ValueError("a naive datetime has no place here; give it a time zone")
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse_rfc3339(text: str) -> datetime:
    """The inverse of `rfc3339`; a text without a zone is refused with ValueError."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return at.astimezone(UTC)


class LocalZone(tzinfo):
    """The machine's own zone, by its rules for each day: today's offset alone would put last
    winter's noon an hour wrong in summer."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        return _by_system(dt).utcoffset() if dt is not None else None

    def dst(self, dt: datetime | None) -> timedelta | None:
        return None  # the system gives offsets only

    def tzname(self, dt: datetime | None) -> str | None:
        return _by_system(dt).tzname() if dt is not None else None

    def fromutc(self, dt: datetime) -> datetime:
        system = dt.replace(tzinfo=UTC).astimezone()
        local = system.replace(tzinfo=self, fold=0)
        # The hour that comes twice in autumn: the second time has another offset.
        return local if local.utcoffset() == system.utcoffset() else local.replace(fold=1)


def _by_system(dt: datetime) -> datetime:
    return dt.replace(tzinfo=None).astimezone()


def zone_name(zone: tzinfo, at: datetime) -> str:
    """What zone_named() makes the same zone of: `Europe/Lisbon`; or `+0100`, its offset at this
    time, where the machine does not say what its own zone is called."""
    name = str(getattr(zone, "key", ""))
    if isinstance(zone, LocalZone):
        link = os.path.realpath("/etc/localtime").partition("/zoneinfo/")[2]
        name = os.environ.get("TZ", "").removeprefix(":") or link
    try:
        zone_named(name)
    except (ValueError, OSError, LookupError):
        return at.astimezone(zone).strftime("%z")
    return name


def zone_named(name: str) -> tzinfo:
    """The zone of a name or offset. Raises ValueError or LookupError."""
    from zoneinfo import ZoneInfo

    if name[:1] in ("+", "-"):
        offset = datetime.strptime(name, "%z").tzinfo
        assert offset is not None
        return offset
    return ZoneInfo(name)


def uuid7(unix_ms: int, sequence: int, noise: bytes) -> str:
    """UUIDv7 from milliseconds, a 12-bit sequence within them and 8 bytes (RFC 9562 §5.7)."""
    value = (unix_ms & 0xFFFFFFFFFFFF) << 80
    value |= 0x7 << 76 | (sequence & 0xFFF) << 64
    value |= 0b10 << 62 | (int.from_bytes(noise, "big") & 0x3FFFFFFFFFFFFFFF)
    return str(UUID(int=value))


class SystemClock:
    """The machine's clock. Ids of one process are strictly increasing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last_ms = 0
        self._sequence = 0

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def new_id(self) -> str:
        with self._lock:
            ms = max(time.time_ns() // 1_000_000, self._last_ms)
            self._sequence = self._sequence + 1 if ms == self._last_ms else 0
            if self._sequence > 0xFFF:
                ms, self._sequence = ms + 1, 0
            self._last_ms = ms
            return uuid7(ms, self._sequence, os.urandom(8))


class SimulatedClock(SystemClock):
    """The machine's clock until simulate(): then it stands, and is moved forward by hand."""

    def __init__(self) -> None:
        super().__init__()
        self._at: datetime | None = None

    @property
    def simulated(self) -> bool:
        return self._at is not None

    def now(self) -> datetime:
        return self._at or super().now()

    def simulate(self, at: datetime) -> None:
        """From now on it is this time, or later: it never goes back."""
        at = at.astimezone(UTC)
        self._at = at if self._at is None else max(at, self._at)


class FrozenClock:
    """A clock for tests: stands still until told otherwise, and makes the same ids every run.

    Two of them make the same ids: who opens a home again keeps the clock that it was made with.
    """

    def __init__(self, at: datetime = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)) -> None:
        self._now = at
        self._monotonic = 0.0
        self._ids = 0
        self._lock = threading.Lock()

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, **delta: float) -> None:
        """Move both clocks on: `advance(hours=5)`. A negative delta moves wall time only."""
        step = timedelta(**delta)
        self._now += step
        self._monotonic += max(0.0, step.total_seconds())

    def new_id(self) -> str:
        with self._lock:
            self._ids += 1
            return uuid7(
                int(self._now.timestamp() * 1000), self._ids >> 62, self._ids.to_bytes(8, "big")
            )
