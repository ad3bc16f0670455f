"""What of a turn a client hears while it runs: all of it together is the turn's text. Pure.

The steps of a turn are paragraphs. With protocol heartbeat what the model writes beside its calls
is its own thought: only what it sends is heard.
"""

from pagemind.runtime.trace import TraceEvent


class Spoken:
    """Fed with the events of one turn, it gives the next piece of text, or ""."""

    def __init__(self, *, heartbeat: bool) -> None:
        self._heartbeat = heartbeat
        self._text = ""
        self._held = ""  # white space that a paragraph begins with: it may be all of it
        self._fresh = True  # a paragraph begins
        self._model = False  # it is the model that writes, and no function that speaks

    def feed(self, event: TraceEvent) -> str:
        if event.kind == "model_called":
            self._begin(model=True)
        elif event.kind in ("model_replied", "tool_called"):
            self._begin(model=False)
        elif event.kind == "text_delta" and not (self._heartbeat and self._model):
            return self._hear(str(event.data["text"]))
        return ""

    def _begin(self, *, model: bool) -> None:
        self._fresh, self._held, self._model = True, "", model

    def _hear(self, text: str) -> str:
        if self._fresh:
            self._held += text
            if not self._held.strip():
                return ""
            text, self._held, self._fresh = self._held, "", False
            if self._text:
                text = "\n\n" + text
        self._text += text
        return text

    def rest(self, text: str) -> str:
        """What is missing of the whole text at the end; all of it where an answer was stored."""
        return text[len(self._text) :] if text.startswith(self._text) else ""
