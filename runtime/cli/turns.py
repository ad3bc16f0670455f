"""The turns of a chat: each is run, shown while it runs, and told of when it has ended.

Ctrl-C stops a turn, the loss of the terminal too. What is typed meanwhile is shown and waits for
the next prompt (typed_ahead.py).
"""

import logging
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pagemind.runtime.cli.failure import say, say_error
from pagemind.runtime.cli.interrupt import stop_on_interrupt

if TYPE_CHECKING:
    from pagemind.runtime.agent import Agent
    from pagemind.runtime.cancel import CancelToken
    from pagemind.runtime.cli.prompt import Prompt
    from pagemind.runtime.cli.standing import Standing
    from pagemind.runtime.cli.turn_view import TurnView
    from pagemind.runtime.cli.typed_ahead import TypedAhead
    from pagemind.runtime.person import Consent, Person
    from pagemind.runtime.trace import Observer
    from pagemind.runtime.turn import TurnResult

_log = logging.getLogger("pagemind.cli")
_CODES = {"answered": 0, "model_error": 4, "interrupted": 130}
_LIMIT_REACHED = 5


def tell_pending(agent: "Agent") -> None:
    """What waits for the person's consent, if anything does."""
    request = agent.pending()
    if request is not None:
        from pagemind.runtime.cli.consent_view import tell_waiting

        tell_waiting(request, approve="/approve", deny="/deny [WHY]")


class Turns:
    """`code` is the exit code of the last turn that was not answered. `prompt` is None where
    nobody can type."""

    def __init__(self, speaker: str, standing: "Standing", *, watched: bool) -> None:
        self._speaker = speaker
        self._standing = standing
        self._watched = watched
        self._writing = threading.RLock()  # held by whoever writes to the terminal
        self._cancel: CancelToken | None = None  # of the turn that runs
        self._hung_up = False
        self._prefilling: threading.Thread | None = None
        self.prompt: Prompt | None = None
        self.code = 0

    def send(self, agent: "Agent", text: str) -> None:
        """Say it to the agent, with the images whose paths stand in it."""
        from pagemind.runtime.cli.pasted_files import images_in

        images = images_in(text) if self._watched else []
        for path in images:
            say(f"with {path.name}")
        self._run(
            agent,
            lambda observer, cancel: agent.send(
                text, speaker=self._speaker, images=images, observer=observer, cancel=cancel
            ),
        )

    def retry(self, agent: "Agent") -> None:
        """Take up the last turn again."""
        self._run(agent, lambda observer, cancel: agent.retry(observer=observer, cancel=cancel))

    def approve(self, agent: "Agent", consent: "Consent") -> None:
        """Answer the call that waits, and go on with its turn."""
        self._run(
            agent,
            lambda observer, cancel: agent.approve(consent, observer=observer, cancel=cancel),
        )

    def hang_up(self) -> None:
        """Stop the turn that runs, and each that is still begun."""
        self._hung_up = True
        if self._cancel is not None:
            self._cancel.cancel()

    def warming(self) -> bool:
        """Whether the embedded model still reads ahead."""
        return self._prefilling is not None and self._prefilling.is_alive()

    @contextmanager
    def typing_ahead(self) -> "Iterator[TypedAhead | None]":
        """While the terminal's keys belong to nobody else: they are for the next prompt."""
        if self.prompt is None:
            yield None
            return
        from pagemind.runtime.cli.typed_ahead import TypedAhead

        ahead = TypedAhead(self._writing)
        try:
            with ahead.listening():
                yield ahead
        finally:
            self.prompt.type_ahead(ahead.keys)

    def _run(self, agent: "Agent", start: "Callable[[Observer, CancelToken], TurnResult]") -> None:
        from pagemind.runtime.cli.turn_view import TurnView
        from pagemind.runtime.trace import ignore

        guided = agent.state.database.meta("protocol") == "guided"
        view = TurnView(guided=guided, writing=self._writing) if self._watched else None
        with stop_on_interrupt() as cancel:
            self._cancel = cancel
            if self._hung_up:
                cancel.cancel()
            try:
                with self.typing_ahead() as ahead:
                    try:
                        agent.person = self._person(ahead, view, cancel)
                        result = start(view or ignore, cancel)
                        if view is not None and result.text and not view.spoke:
                            view.say(result.text)
                    finally:
                        agent.person = None
                        if view is not None:
                            view.end()
            except KeyboardInterrupt:
                say("stopped")
                return
            finally:
                self._cancel = None
        if view is None and result.text:
            print(result.text, flush=True)
        self._tell(result, agent)
        self._prefill(agent)

    def _person(
        self, ahead: "TypedAhead | None", view: "TurnView | None", cancel: "CancelToken"
    ) -> "Person | None":
        """Whoever sits at the terminal; None where lines come from elsewhere."""
        prompt = self.prompt
        if prompt is None or ahead is None or view is None:
            return None
        from pagemind.runtime.cli.terminal_person import TerminalPerson

        @contextmanager
        def aside() -> Iterator[None]:
            with ahead.aside(cancel), view.aside():
                yield

        return TerminalPerson(prompt.put, aside, lambda: shutil.get_terminal_size().columns, cancel)

    def _tell(self, result: "TurnResult", agent: "Agent") -> None:
        """How the turn ended."""
        self.code = _CODES.get(result.stop_reason, _LIMIT_REACHED) or self.code
        for warning in result.warnings:
            say(warning)
        if result.error is not None:
            say_error(result.error.message, result.error.hint)
            say("/retry tries again")
        elif result.stop_reason == "interrupted":
            say("stopped; what was said is kept, /retry takes it up again")
        elif result.stop_reason == "approval":
            tell_pending(agent)
        elif result.stop_reason != "answered":
            say("stopped: " + ("; ".join(result.reasons) or result.stop_reason))
        if self._watched:
            from pagemind.runtime.cli.spent import of_turn
            from pagemind.runtime.cli.status_line import print_status

            # Those of the turn were told as it ran; a flush in the idle may be done by now, too.
            self._standing.tell_paged(agent, told=result.pages_written)
            status = self._standing.look(agent, of_turn(result))
            if self.prompt is None or not self.prompt.shows_status:
                print_status(status)

    def _prefill(self, agent: "Agent") -> None:
        """The embedded model reads what is new while the person types."""
        if self.prompt is None or not agent.model.name.startswith("local/"):
            return

        def warm() -> None:
            try:
                agent.prefill()
            except Exception:
                _log.debug("prefill failed", exc_info=True)

        self._prefilling = threading.Thread(target=warm, name="pagemind-prefill", daemon=True)
        self._prefilling.start()
