"""An agent with functions for real work, and what its calls come to. Shared by tests of tools."""

from pathlib import Path
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import load_definition
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, call

# What functions said before is in view: what that means for later calls is not what is tested.
ALLOWED = "trust: {world: allow, arguments: allow}\n"


class Kit:
    """An agent whose definition lies in a folder, and what its calls come to."""

    def __init__(self, runtime: Runtime, folder: Path, tools: str, extra: Any = ()) -> None:
        path = folder / "worker.yaml"
        path.write_text(f"name: worker\ncontext_window: 16000\ntools: [{tools}]\n{ALLOWED}")
        self.folder = folder
        self.model = ScriptedModel(self._answer)
        self._next: list[Any] = []
        self.agent: Agent = runtime.agent(
            "ada", load_definition(path), model=self.model, tools=extra
        )

    def _answer(self, request: Any) -> Any:
        return self._next.pop(0) if self._next else "done"

    def run(self, name: str, /, **arguments: Any) -> str:
        """What the model reads of one call."""
        self._next = [call(name, **arguments)]
        self.agent.send("go")
        results = [m for m in self.agent.state.journal.newest(9) if m.role == "tool"]
        self.ok = results[0].ok
        self.last = results[0]
        return results[0].text
