"""The timers of one agent: add, cancel, list; as its functions, a person or its definition say.

Nothing is due twice for being asked for twice: the same timer again is the one that is there.
"""

from datetime import UTC, tzinfo

from pagemind.runtime import recurrence
from pagemind.runtime.clock import Clock, LocalZone, zone_name
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.errors import NotFound, UserError
from pagemind.runtime.intake import checked_text
from pagemind.runtime.services import Timer
from pagemind.runtime.settings import TIMERS_MOST
from pagemind.runtime.state.schedules import MadeBy, Schedule, Schedules


class AgentTimers:
    """Of the agent of this id, in its time zone."""

    def __init__(
        self, schedules: Schedules, agent_id: str, zone: tzinfo, clock: Clock, made_by: MadeBy
    ) -> None:
        self._schedules = schedules
        self._agent = agent_id
        self._zone = zone
        self._clock = clock
        self._made_by = made_by

    def add(self, when: str, message: str) -> Timer:
        """Raises UserError for a time that cannot be, an empty message, or one timer too many."""
        message = checked_text(message).strip()
        now = self._clock.now().astimezone(self._zone)
        try:
            wanted = recurrence.parse(when, now)
        except ValueError as error:
            raise UserError(str(error)) from None
        with self._schedules.transaction():
            known = self._schedules.of(self._agent)
            for each in known:
                if each.recurrence == wanted and each.message == message:
                    return self._told(each)
            if len(known) >= TIMERS_MOST:
                raise UserError(f"{TIMERS_MOST} timers are as many as an agent may have")
            made = self._schedules.add(
                self._agent,
                wanted,
                message,
                zone=_name(self._zone, self._clock),
                made_by=self._made_by,
                due=wanted.first(now, self._zone),
            )
        return self._told(made)

    def cancel(self, id: str) -> Timer:
        """Raises NotFound with those that are there."""
        known = {each.id: each for each in self._schedules.of(self._agent)}
        known |= {each.name: each for each in known.values() if each.name}
        found = known.get(id.strip())
        if found is None:
            there = ", ".join(known) or "none"
            raise NotFound(f"no timer is called {id.strip()!r}; there are: {there}")
        self._schedules.set_due(found, None)
        return self._told(found)

    def all(self) -> list[Timer]:
        """The next one first."""
        return [self._told(each) for each in self._schedules.of(self._agent)]

    def _told(self, one: Schedule) -> Timer:
        assert one.due_at is not None
        return Timer(
            id=one.id,
            name=one.name,
            when=one.recurrence.words(one.place),
            message=one.message,
            due_at=one.due_at.astimezone(self._zone),
            zone=one.zone,
            made_by=one.made_by,
            fired=one.fired,
            fired_for=one.fired_for.astimezone(self._zone) if one.fired_for else None,
        )


def define(schedules: Schedules, agent_id: str, definition: AgentDefinition, clock: Clock) -> None:
    """The timers and the inbox that a definition names. A timer that it named before and names now
    otherwise is replaced; one that it names as before goes on."""
    zone = definition.zone or LocalZone()
    now = clock.now().astimezone(zone)
    with schedules.transaction():
        left = {e.name: e for e in schedules.of(agent_id) if e.made_by == "definition"}
        for name, spec in definition.named_schedules.items():
            wanted = recurrence.parse(spec.when, now, past=True)
            due = wanted.first(now, zone)
            before = left.pop(name, None)
            said = (wanted, spec.message.strip(), _name(zone, clock))
            if before is not None:
                if (before.recurrence, before.message, before.zone) == said:
                    continue
                schedules.set_due(before, None)
            if due <= now.astimezone(UTC):
                continue  # a time that is over
            schedules.add(
                agent_id, wanted, said[1], zone=said[2], made_by="definition", name=name, due=due
            )
        for gone in left.values():
            schedules.set_due(gone, None)
        inbox = definition.inbox_folder
        schedules.set_inbox(agent_id, str(inbox) if inbox is not None else None)


def _name(zone: tzinfo, clock: Clock) -> str:
    return "" if isinstance(zone, LocalZone) else zone_name(zone, clock.now())
