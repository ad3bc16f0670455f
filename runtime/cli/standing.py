"""How an agent stands, as a chat has last told it: the line of status, and what was paged out."""

from typing import TYPE_CHECKING

from pagemind.runtime.cli.failure import say

if TYPE_CHECKING:
    from pagemind.runtime.agent import Agent
    from pagemind.runtime.cli.spent import Spent
    from pagemind.runtime.cli.status_line import Fragment, Status


class Standing:
    """`watched`: a person is told what leaves the window."""

    def __init__(self, *, watched: bool) -> None:
        self._watched = watched
        self._status: Status | None = None
        self._pages: int | None = None  # when last told

    def fragments(self, width: int) -> "list[Fragment]":
        """What stands under the prompt."""
        if self._status is None:
            return [("", "opening …")]
        return self._status.fragments(width)

    def look(self, agent: "Agent", turn: "Spent | None" = None, *, anew: bool = False) -> "Status":
        """See how things stand; `anew`: with another agent."""
        from pagemind.runtime.cli.spent import Day
        from pagemind.runtime.cli.status_line import Status

        known = None if anew else self._status
        if known is None:
            day = Day.of(agent)  # with what `turn` took, if there was one
        else:
            day = known.day.after(turn, agent) if turn is not None else known.day
            turn = turn or known.turn
        self._status = Status.of(agent, day, turn)
        return self._status

    def tell_paged(self, agent: "Agent", *, told: int = 0) -> None:
        """What left the window since the last time, without the `told` newest pages of then."""
        from pagemind.runtime.cli.turn_view import paged_out

        before = None if self._pages is None else self._pages + told
        self._pages = count = agent.state.pages.count()
        if before is not None and count > before and self._watched:
            pages = agent.state.pages.newest(count - before)
            messages = sum(page.messages for page in pages)
            say(f"meanwhile: {paged_out([page.short_id for page in pages], messages)}")

    def all_told(self, agent: "Agent") -> None:
        """Nothing that has left the window so far needs telling."""
        self._pages = agent.state.pages.count()
