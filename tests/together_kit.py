"""What tests of agents together share: a definition with a shared block, and a model that is told
what to say as the test goes on."""

from collections import deque
from collections.abc import Callable

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import AgentDefinition, parse_definition
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.models.scripted_model import Answer
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.turn import TurnResult

_SHARING = """
name: sharing
system: You are a test agent of a team.
embedding: none
context_window: 8192
output_reserve: 128
blocks:
  plan:
    value: Map the harbour.
    limit: {limit}
    shared: team_plan
    read_only: {read_only}
  human: {{value: "", limit: 200}}
tools: [core]
"""


def sharing(*, limit: int = 400, read_only: bool = False, more: str = "") -> AgentDefinition:
    """An agent with the shared block team_plan under the label plan."""
    return parse_definition(_SHARING.format(limit=limit, read_only=read_only) + more)


Said = Answer | Callable[[ModelRequest], Answer]


class Teller(ScriptedModel):
    """Says what it was told to, in order; a function is asked when its turn comes."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self._told: deque[Said] = deque()

    def say(self, *answers: Said) -> None:
        self._told.extend(answers)

    def _answer(self, request: ModelRequest) -> Answer:
        answer = self._told.popleft() if self._told else "…"
        return answer(request) if callable(answer) else answer


def model_of(agent: Agent) -> Teller:
    model = agent.model
    assert isinstance(model, Teller)
    return model


def does(agent: Agent, function: str, /, **arguments: object) -> TurnResult:
    """A turn in which the agent's model calls a function once."""
    model_of(agent).say(call(function, **arguments), "Done.")
    return agent.send("Go on.")


def sees(agent: Agent) -> str:
    """The instructions and core memory in the request of a new turn."""
    agent.send("What is the plan?")
    return "\n".join(model_of(agent).requests[-1].system)


def member(
    name: str, *, tags: str = "", reach: str = "", more: str = "", limits: str = ""
) -> AgentDefinition:
    """An agent that may write to those of `reach` ("tags: [worker]")."""
    tools = f"[core, {{agents: {{{reach}}}}}]" if reach else "[core]"
    return parse_definition(
        f"name: {name}\ndescription: Is called {name}.\nsystem: You are {name}.\n"
        f"embedding: none\ncontext_window: 8192\noutput_reserve: 128\ntags: [{tags}]\n"
        f"blocks: {{human: {{limit: 200}}}}\ntools: {tools}\n{limits}{more}"
    )
