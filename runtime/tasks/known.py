"""What an action knows: the variables of its input, and the agent's blocks as they are now."""

from collections.abc import Mapping
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.errors import TemplateError
from pagemind.runtime.tasks.failing import ActionFailed
from pagemind.runtime.tasks.text import Text


class Known:
    """`scope` is that of an input, and grows as its actions are done."""

    def __init__(self, scope: Mapping[str, Any], agent: Agent) -> None:
        self.scope = scope
        self._agent = agent

    def all(self) -> Mapping[str, Any]:
        blocks = {block.label: block.value for block in self._agent.blocks()}
        return {**self.scope, "block": blocks}

    def fill(self, text: Text, more: Mapping[str, Any] | None = None) -> str:
        """A text with its variables, and `more` of them. Raises ActionFailed."""
        try:
            return text.fill({**self.all(), **(more or {})} if text.paths else {})
        except TemplateError as error:
            raise ActionFailed(error.message) from None

    def value(self, written: str) -> Any:
        """Of a text that may be one variable alone. Raises ActionFailed."""
        try:
            return Text.parse(written).value(self.all())
        except TemplateError as error:
            raise ActionFailed(error.message) from None
