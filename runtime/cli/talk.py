"""A chat while it goes on: each line becomes a turn or a command, and what came of it is shown."""

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from pagemind.runtime.cli.failure import say, say_error
from pagemind.runtime.cli.hangup import on_hangup
from pagemind.runtime.cli.interrupt import stop_on_interrupt
from pagemind.runtime.cli.opening import Greeting, Opening, Wanted
from pagemind.runtime.cli.terminal_keys import TerminalKeys
from pagemind.runtime.errors import PagemindError

if TYPE_CHECKING:
    from pagemind.runtime.agent import Agent
    from pagemind.runtime.cancel import CancelToken
    from pagemind.runtime.cli.commands import Scene
    from pagemind.runtime.cli.spent import Spent
    from pagemind.runtime.cli.status_line import Fragment, Status
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.trace import Observer
    from pagemind.runtime.turn import TurnResult

_log = logging.getLogger("pagemind.cli")
_CODES = {"answered": 0, "model_error": 4, "interrupted": 130}
_LIMIT_REACHED = 5
_LOOK_SECONDS = 0.1
_LEAVE_SECONDS = 1.0  # how long libraries that still load may hold up the end


class Closed(Exception):
    """The chat ended from elsewhere while a person was at the prompt."""


class Prompt(Protocol):
    """Where lines come from at a terminal (editor.py)."""

    def read(self) -> str:
        """Raises EOFError for Ctrl-D, KeyboardInterrupt for Ctrl-C, Closed after close()."""

    def when_shown(self, call: Callable[[], None]) -> None:
        """Call once, when the prompt stands for the first time."""

    def resting(self) -> bool:
        """Whether nobody has typed for a moment."""

    @property
    def shows_status(self) -> bool:
        """Whether what status() gives is seen while a person types."""

    def ask(self, question: str) -> str:
        """One line in answer; "" for none."""

    def redraw(self) -> None:
        """What status() gives has changed."""

    def hang_up(self) -> None:
        """End read() with EOFError."""

    def close(self) -> None:
        """End read(), unless something is typed already."""


class Talk:
    """`watched`: a person sees standard output, so that text streams and lines of status follow."""

    def __init__(self, wanted: Wanted, speaker: str, *, watched: bool) -> None:
        self._speaker = speaker
        self._watched = watched
        self._scene: Scene | None = None
        self._prompt: Prompt | None = None
        self._code = 0
        self._pages: int | None = None  # when last told
        self._status: Status | None = None
        self._keys = TerminalKeys()
        self._cancel: CancelToken | None = None  # of the turn that runs
        self._ended = threading.Event()
        self._prefilling: threading.Thread | None = None
        self._opening = Opening(
            wanted, known=self._greet, failed=self._give_up, pause=self._wait_for_pause
        )

    def at(self, prompt: Prompt) -> int:
        """At a terminal, until the person leaves; the exit code."""
        self._prompt = prompt
        say("/help lists the commands, Ctrl-D leaves")
        prompt.when_shown(self._opening.start)  # the first prompt need not compete with it
        try:
            # Pressed once more while the warning was printed, Ctrl-C means the same as after it.
            with (
                self._keys.kept(),
                on_hangup(self._hang_up),
                suppress(KeyboardInterrupt),
            ):
                self._lines_of(prompt)
        finally:
            ended = self._close()
        if not ended:
            # A thread deep in a library's import or in the model would hold the process for
            # seconds, or break it on the way out. All that matters is closed.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        return 0

    def over(self, lines: Iterable[str]) -> int:
        """One turn for each line; the exit code of the last one that was not answered."""
        self._opening.start(warm=False)
        try:
            for line in lines:
                if line.strip() and not self._take(line):
                    break
            else:
                self._opening.agent()  # an agent that cannot be opened is told of without a line
        finally:
            self._close()
        return self._code

    # --- lines ----------------------------------------------------------------------------------

    def _lines_of(self, prompt: Prompt) -> None:
        leaving = False
        while True:
            line = ""
            try:
                line = prompt.read()
                if line.strip() and not self._take(line):
                    return
                if self._ended.is_set():
                    return
                leaving = False
            except EOFError:
                return
            except Closed:
                self._opening.agent()  # raises what closed it
            except KeyboardInterrupt:
                if leaving:
                    return
                leaving = True
                if line.strip():
                    opening = self._scene is None
                    say("not sent: the agent is still opening" if opening else "stopped")
                say("Ctrl-C again leaves, and so does Ctrl-D")

    def _take(self, line: str) -> bool:
        """Run one line; False if it asks to leave. Raises what prevented the agent's opening."""
        from pagemind.runtime.cli import commands

        scene = self._scene or self._begin(self._opening.agent())
        self._tell_paged(scene.agent)
        try:
            if commands.is_command(line):
                before = scene.agent
                commands.run(scene, line)
                if line.startswith("/flush") or scene.agent is not before:
                    self._pages = scene.agent.state.pages.count()  # told already, or another's
                self._look(scene.agent, anew=scene.agent.name != before.name)
            else:
                self._send(line)
        except commands.Leave:
            return False
        except PagemindError as error:
            self._code = error.exit_code
            say_error(error.message, error.hint)
        except Exception as error:
            # A fault of ours in one turn need not end the chat: the agent is sound.
            self._code = 4
            _log.error("unexpected", exc_info=error)
            say_error(f"{type(error).__name__}: {error}", "a fault of pagemind's; see its log")
        return True

    def _begin(self, agent: "Agent") -> "Scene":
        from pagemind.runtime.cli.commands import Scene

        ask = self._prompt.ask if self._prompt is not None else lambda question: ""
        self._scene = Scene(
            self._opening, agent, self._send, self._retry, ask, self._keys.given_away
        )
        return self._scene

    # --- turns ----------------------------------------------------------------------------------

    def _send(self, text: str) -> None:
        from pagemind.runtime.cli.pasted_files import images_in

        scene = self._scene
        assert scene is not None
        images = images_in(text) if self._watched else []
        for path in images:
            say(f"with {path.name}")
        self._turn(
            lambda observer, cancel: scene.agent.send(
                text, speaker=self._speaker, images=images, observer=observer, cancel=cancel
            )
        )

    def _retry(self) -> None:
        scene = self._scene
        assert scene is not None
        self._turn(lambda observer, cancel: scene.agent.retry(observer=observer, cancel=cancel))

    def _turn(self, start: "Callable[[Observer, CancelToken], TurnResult]") -> None:
        from pagemind.runtime.cli.turn_view import TurnView
        from pagemind.runtime.trace import ignore

        scene = self._scene
        assert scene is not None
        guided = scene.agent.state.database.meta("protocol") == "guided"
        view = TurnView(guided=guided) if self._watched else None
        with stop_on_interrupt() as cancel:
            self._cancel = cancel
            if self._ended.is_set():
                cancel.cancel()
            try:
                result = start(view or ignore, cancel)
                if view is not None and result.text and not view.spoke:
                    view.say(result.text)
            except KeyboardInterrupt:
                say("stopped")
                return
            finally:
                self._cancel = None
                if view is not None:
                    view.end()
        if view is None and result.text:
            print(result.text, flush=True)
        self._tell(result, scene.agent)
        self._prefill(scene.agent)

    def _tell(self, result: "TurnResult", agent: "Agent") -> None:
        """How the turn ended."""
        self._code = _CODES.get(result.stop_reason, _LIMIT_REACHED) or self._code
        for warning in result.warnings:
            say(warning)
        if result.error is not None:
            say_error(result.error.message, result.error.hint)
            say("/retry tries again")
        elif result.stop_reason == "interrupted":
            say("stopped; what was said is kept, /retry takes it up again")
        elif result.stop_reason != "answered":
            say("stopped: " + ("; ".join(result.reasons) or result.stop_reason))
        if self._watched:
            from pagemind.runtime.cli.spent import of_turn
            from pagemind.runtime.cli.status_line import print_status

            # Those of the turn were told as it ran; a flush in the idle may be done by now, too.
            self._pages = (self._pages or 0) + result.pages_written
            self._tell_paged(agent)
            status = self._look(agent, of_turn(result))
            if self._prompt is None or not self._prompt.shows_status:
                print_status(status)

    # --- the line of status ---------------------------------------------------------------------

    def status(self, width: int) -> "list[Fragment]":
        """What stands under the prompt."""
        if self._status is None:
            return [("", "opening …")]
        return self._status.fragments(width)

    def opened(self) -> "tuple[Runtime, Agent] | None":
        """For completion: who is talked to, once that is clear."""
        return self._opening.opened()

    def _look(self, agent: "Agent", turn: "Spent | None" = None, *, anew: bool = False) -> "Status":
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

    def _tell_paged(self, agent: "Agent") -> None:
        """What left the window in the idle since the last turn."""
        from pagemind.runtime.cli.turn_view import paged_out

        count = agent.state.pages.count()
        new = count - self._pages if self._pages is not None else 0
        self._pages = count
        if new > 0 and self._watched:
            pages = agent.state.pages.newest(new)
            messages = sum(page.messages for page in pages)
            say(f"meanwhile: {paged_out([page.short_id for page in pages], messages)}")

    def _prefill(self, agent: "Agent") -> None:
        """The embedded model reads what is new while the person types."""
        if self._prompt is None or not agent.model.name.startswith("local/"):
            return

        def warm() -> None:
            try:
                agent.prefill()
            except Exception:
                _log.debug("prefill failed", exc_info=True)

        self._prefilling = threading.Thread(target=warm, name="pagemind-prefill", daemon=True)
        self._prefilling.start()

    # --- opening and closing ----------------------------------------------------------------------

    def _greet(self, found: Greeting) -> None:
        """In the opening thread, above the prompt."""
        if self._watched:
            from pagemind.runtime.cli.status_line import banner

            banner(found)
        opened = self._opening.opened()
        if opened is not None and self._prompt is not None:
            self._look(opened[1])
            self._prompt.redraw()

    def _hang_up(self) -> None:
        """The terminal is gone: what was said in the turn is kept, as at Ctrl-C."""
        self._ended.set()
        if self._cancel is not None:
            self._cancel.cancel()
        if self._prompt is not None:
            self._prompt.hang_up()

    def _give_up(self, error: BaseException) -> None:
        if self._prompt is not None:
            self._prompt.close()

    def _wait_for_pause(self) -> bool:
        """In the opening thread."""
        assert self._prompt is not None
        while not self._prompt.resting():
            if self._ended.wait(_LOOK_SECONDS):
                return False
        return not self._ended.is_set()

    def _close(self) -> bool:
        """Close what is open; whether every thread has ended."""
        self._ended.set()
        warming = self._prefilling is not None and self._prefilling.is_alive()
        return self._opening.close(_LEAVE_SECONDS) and not warming
