"""The times of other tools: seconds or milliseconds since 1970, or ISO 8601 with or without a zone.

A time without one is taken as the agent's own, and counted, so that a person learns of it.
"""

from datetime import UTC, datetime, tzinfo
from typing import Any

_MILLISECONDS = 1e11  # seconds up to the year 5138
_KEYS = ("created_at", "create_time", "timestamp", "time", "said_at", "date")


class Times:
    """Reads times; `naive` and `broken` count those that said too little."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self.naive = 0
        self.broken = 0

    def of(self, record: dict[str, Any]) -> datetime | None:
        """The time of a message or conversation, whatever its key is called."""
        for key in _KEYS:
            if record.get(key) not in (None, ""):
                return self.read(record[key])
        return None

    def read(self, value: Any) -> datetime | None:
        """None, and counted, for what is no time."""
        try:
            return self._read(value)
        except (ValueError, OverflowError, OSError, TypeError):
            self.broken += 1
            return None

    def _read(self, value: Any) -> datetime | None:
        if value is None or value == "":
            return None
        if isinstance(value, bool):
            raise ValueError(value)
        if isinstance(value, str):
            text = value.strip()
            try:
                at = datetime.fromisoformat(text)
            except ValueError:
                return self._seconds(float(text))
            if at.tzinfo is None:
                self.naive += 1
                at = at.replace(tzinfo=self._zone)
            return at.astimezone(UTC)
        return self._seconds(float(value))

    def _seconds(self, value: float) -> datetime | None:
        if value <= 0:
            return None
        return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
