"""A chat while it goes on: each line becomes a turn or a command, until the person leaves."""

import logging
import os
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from pagemind.runtime.cli.failure import say, say_error
from pagemind.runtime.cli.hangup import on_hangup
from pagemind.runtime.cli.opening import Greeting, Opening, Wanted
from pagemind.runtime.cli.prompt import Closed, Prompt
from pagemind.runtime.cli.standing import Standing
from pagemind.runtime.cli.terminal_keys import TerminalKeys
from pagemind.runtime.cli.turns import Turns, tell_pending
from pagemind.runtime.errors import PagemindError

if TYPE_CHECKING:
    from pagemind.runtime.agent import Agent
    from pagemind.runtime.cli.commands import Scene
    from pagemind.runtime.cli.status_line import Fragment
    from pagemind.runtime.runtime import Runtime

_log = logging.getLogger("pagemind.cli")
_LOOK_SECONDS = 0.1
_LEAVE_SECONDS = 1.0  # how long libraries that still load may hold up the end


class Talk:
    """`watched`: a person sees standard output, so that text streams and lines of status follow."""

    def __init__(self, wanted: Wanted, speaker: str, *, watched: bool) -> None:
        self._watched = watched
        self._scene: Scene | None = None
        self._prompt: Prompt | None = None
        self._standing = Standing(watched=watched)
        self._turns = Turns(speaker, self._standing, watched=watched)
        self._keys = TerminalKeys()
        self._ended = threading.Event()
        self._opening = Opening(
            wanted, known=self._greet, failed=self._give_up, pause=self._wait_for_pause
        )

    def at(self, prompt: Prompt) -> int:
        """At a terminal, until the person leaves; the exit code."""
        self._prompt = self._turns.prompt = prompt
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
        return self._turns.code

    def status(self, width: int) -> "list[Fragment]":
        """What stands under the prompt."""
        return self._standing.fragments(width)

    def opened(self) -> "tuple[Runtime, Agent] | None":
        """For completion: who is talked to, once that is clear."""
        return self._opening.opened()

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

        scene = self._scene or self._begin()
        self._standing.tell_paged(scene.agent)
        try:
            if commands.is_command(line):
                before = scene.agent
                commands.run(scene, line)
                if line.startswith("/flush") or scene.agent is not before:
                    self._standing.all_told(scene.agent)  # by the command, or another's
                if scene.agent is not before:
                    tell_pending(scene.agent)
                self._standing.look(scene.agent, anew=scene.agent.name != before.name)
            else:
                scene.send(line)
        except commands.Leave:
            return False
        except PagemindError as error:
            self._turns.code = error.exit_code
            say_error(error.message, error.hint)
        except Exception as error:
            # A fault of ours in one turn need not end the chat: the agent is sound.
            self._turns.code = 4
            _log.error("unexpected", exc_info=error)
            say_error(f"{type(error).__name__}: {error}", "a fault of pagemind's; see its log")
        return True

    def _begin(self) -> "Scene":
        """Wait for the agent."""
        from pagemind.runtime.cli.commands import Scene

        with self._turns.typing_ahead():
            agent = self._opening.agent()
        ask = self._prompt.ask if self._prompt is not None else lambda question: ""
        self._scene = scene = Scene(
            self._opening,
            agent,
            lambda text: self._turns.send(scene.agent, text),
            lambda: self._turns.retry(scene.agent),
            lambda consent: self._turns.approve(scene.agent, consent),
            ask,
            self._keys.given_away,
        )
        return scene

    # --- opening and closing ----------------------------------------------------------------------

    def _greet(self, found: Greeting) -> None:
        """In the opening thread, above the prompt."""
        if self._watched:
            from pagemind.runtime.cli.status_line import banner

            banner(found)
        opened = self._opening.opened()
        if opened is None:
            return
        tell_pending(opened[1])
        if self._prompt is not None:
            self._standing.look(opened[1])
            self._prompt.redraw()

    def _hang_up(self) -> None:
        """The terminal is gone: what was said in the turn is kept, as at Ctrl-C."""
        self._ended.set()
        self._turns.hang_up()
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
        warming = self._turns.warming()
        return self._opening.close(_LEAVE_SECONDS) and not warming
