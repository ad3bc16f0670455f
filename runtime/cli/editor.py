"""The line editor of chat: history, lines of any number, pastes of any size.

Enter sends, Alt-Enter begins a new line. A long paste stands as `[pasted 12,000 characters]` until
it is sent. What other threads print appears above the line that is being typed.
"""

import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer
from prompt_toolkit.filters import completion_is_selected, is_searching
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.styles import Style

from pagemind.runtime.cli.paste_input import PasteInput
from pagemind.runtime.cli.prompt import Closed
from pagemind.runtime.clock import SystemClock
from pagemind.runtime.settings import HISTORY_CHARS, PASTE_CHARS, TYPING_PAUSE_SECONDS

_STYLE = Style.from_dict(
    {
        "prompt": "bold ansicyan",
        "continuation": "ansibrightblack",
        "question": "bold",
        # The terminal's own colours, so that it can be read on light and on dark.
        "bottom-toolbar": "noreverse dim",
        "completion-menu": "bg:default fg:default",
        "completion-menu.completion": "bg:default fg:default",
        "completion-menu.completion.current": "reverse",
        "completion-menu.meta.completion": "bg:default fg:ansibrightblack",
        "completion-menu.meta.completion.current": "reverse",
        "scrollbar.background": "bg:default",
        "scrollbar.button": "reverse",
    }
)
_MENU_ROWS = 8


class Editor:
    """`history` is a file, made when it is first needed; None keeps none. `status` gives the line
    under the prompt for a width, in pieces."""

    def __init__(
        self,
        history: Path | None,
        source: PasteInput,
        *,
        completer: Completer | None = None,
        status: Callable[[int], list[tuple[str, str]]] | None = None,
    ) -> None:
        self._pastes: dict[str, str] = {}
        self._closing = threading.Event()
        self._pressed = False  # Ctrl-C, as a signal
        self._status = status
        self._under_prompt = False  # the library has asked for the line
        self._source = source
        self._session: PromptSession[str] = PromptSession(
            message=FormattedText([("class:prompt", "› ")]),
            prompt_continuation=FormattedText([("class:continuation", "  ")]),
            multiline=True,
            style=_STYLE,
            history=_History(str(history)) if history is not None else None,
            key_bindings=self._keys(),
            completer=completer,
            complete_while_typing=False,
            complete_style=CompleteStyle.COLUMN,
            reserve_space_for_menu=_MENU_ROWS,
            bottom_toolbar=self._toolbar if status is not None else None,
            input=source,
            enable_open_in_editor=False,
        )
        self._clock = SystemClock()
        self._typed_at = 0.0
        self._reading = False
        self._session.default_buffer.on_text_changed += self._typed
        self._asking: PromptSession[str] | None = None

    def read(self) -> str:
        """What a person typed. Raises EOFError for Ctrl-D, KeyboardInterrupt for Ctrl-C, Closed."""
        self._pastes.clear()
        self._reading = True
        try:
            with self._ctrl_c(), patch_stdout(raw=True):
                text = self._session.prompt(pre_run=self._begin, handle_sigint=False)
        finally:
            self._reading = False
        if self._pressed or self._source.takes_back(Keys.ControlC):  # as Enter was being taken
            raise KeyboardInterrupt
        return self._whole(text)

    def type_ahead(self, keys: bytes) -> None:
        """Keys that were pressed before the next read(), which begins with them."""
        self._source.type_ahead(keys)

    def ask(self, question: str) -> str:
        """One line in answer to a question; "" for Ctrl-C and Ctrl-D."""
        try:
            return self._ask(question)
        except (EOFError, KeyboardInterrupt):
            return ""

    def put(self, question: str) -> str:
        """One line in answer to a question, of what is typed from now on. Raises EOFError for
        Ctrl-D, KeyboardInterrupt for Ctrl-C."""
        with self._source.set_aside():
            return self._ask(question)

    def _ask(self, question: str) -> str:
        asking: PromptSession[str] = PromptSession(
            message=FormattedText([("class:question", question)]), style=_STYLE, input=self._source
        )
        self._asking = asking
        try:
            return asking.prompt()
        finally:
            self._asking = None

    @contextmanager
    def _ctrl_c(self) -> Iterator[None]:
        """Between the raw modes of the terminal Ctrl-C comes as a signal. The library's own handler
        drops it while the prompt is being set up or taken down."""
        self._pressed = False
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def pressed(signum: int, frame: FrameType | None) -> None:
            self._pressed = True
            app = self._session.app
            if app.loop is not None and app.is_running:
                app.loop.call_soon_threadsafe(self._leave_if_pressed)

        before = signal.signal(signal.SIGINT, pressed)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _begin(self) -> None:
        self._leave_if_pressed()
        self._close_if_empty()

    def _leave_if_pressed(self) -> None:
        app = self._session.app
        if self._pressed and app.is_running and not app.is_done:
            app.exit(exception=KeyboardInterrupt())

    def _toolbar(self) -> FormattedText:
        assert self._status is not None
        self._under_prompt = True
        width = self._session.app.output.get_size().columns
        return FormattedText(self._status(width - 1))

    @property
    def shows_status(self) -> bool:
        """Whether the line stands under the prompt: not where the terminal will not say where its
        cursor is."""
        return self._under_prompt

    def redraw(self) -> None:
        """From another thread: the line under the prompt says something else now."""
        self._session.app.invalidate()

    def hang_up(self) -> None:
        """End read() with EOFError, whatever is typed: the terminal is gone."""
        for session in (self._session, self._asking):
            app = session.app if session is not None else None
            if app is not None and app.loop is not None and app.is_running:
                app.loop.call_soon_threadsafe(_end, app)

    def when_shown(self, call: Callable[[], None]) -> None:
        """Call once, when the prompt stands for the first time."""
        rendered = self._session.app.after_render

        def once(app: Any) -> None:
            rendered.remove_handler(once)
            call()

        rendered.add_handler(once)

    def close(self) -> None:
        """End read() with Closed, from another thread, unless something is typed already."""
        self._closing.set()
        app = self._session.app
        if app.loop is not None and app.is_running:
            app.loop.call_soon_threadsafe(self._close_if_empty)

    def resting(self) -> bool:
        """Whether nobody has typed for a moment."""
        paused = self._clock.monotonic() - self._typed_at > TYPING_PAUSE_SECONDS
        return paused or not self._reading

    @property
    def empty(self) -> bool:
        """Whether nothing is typed."""
        return not self._session.default_buffer.text

    def _typed(self, buffer: Any) -> None:
        self._typed_at = self._clock.monotonic()

    def _close_if_empty(self) -> None:
        app = self._session.app
        if self._closing.is_set() and self.empty and app.is_running and not app.is_done:
            app.exit(exception=Closed())

    def _whole(self, text: str) -> str:
        """With every paste in its place."""
        for label, pasted in self._pastes.items():
            text = text.replace(label, pasted, 1)
        return text

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add(Keys.Enter, filter=completion_is_selected)
        def take(event: KeyPressEvent) -> None:
            event.current_buffer.complete_state = None

        @keys.add(Keys.Enter, filter=~is_searching & ~completion_is_selected)
        def send(event: KeyPressEvent) -> None:
            event.current_buffer.validate_and_handle()

        @keys.add(Keys.Escape, Keys.Enter)
        @keys.add(Keys.Escape, Keys.ControlJ)  # as it was typed while something was printed
        def new_line(event: KeyPressEvent) -> None:
            event.current_buffer.newline(copy_margin=False)

        @keys.add(Keys.ControlC, filter=~is_searching)
        def clear_or_interrupt(event: KeyPressEvent) -> None:
            if self.empty:
                event.app.exit(exception=KeyboardInterrupt())
            else:
                event.current_buffer.reset()

        @keys.add(Keys.BracketedPaste)
        def paste(event: KeyPressEvent) -> None:
            text = event.data.replace("\r\n", "\n").replace("\r", "\n")
            event.current_buffer.insert_text(self._label(text))

        return keys

    def _label(self, text: str) -> str:
        if len(text) <= PASTE_CHARS:
            return text
        label = f"[pasted {len(text):,} characters]"
        again = 2
        while label in self._pastes:
            label = f"[pasted {len(text):,} characters, {again}]"
            again += 1
        self._pastes[label] = text
        return label


def _end(app: Any) -> None:
    if app.is_running and not app.is_done:
        app.exit(exception=EOFError())


class _History(FileHistory):
    """Only lines that someone may want again are kept, and only the person may read them."""

    def store_string(self, string: str) -> None:
        if len(string) <= HISTORY_CHARS and not re.search(r"\[pasted [\d,]+ char", string):
            path = Path(str(self.filename))
            path.touch(mode=0o600, exist_ok=True)
            super().store_string(string)
