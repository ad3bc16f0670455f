"""What tests of agents behind real litellm share: an agent on a loopback server, and its laws."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kernel_kit import everything, runtime_at, small
from loopback import Loopback
from wire_rules import FAMILIES, violations

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.legalise import rules_for, to_wire
from pagemind.runtime.models.litellm_model import LitellmModel
from pagemind.runtime.models.retry import Backoff

QUICK = Backoff(base=0.01, jitter=lambda: 0.5)
SECRET = "sk-planted-7d1f0c55e2a94b"


@contextmanager
def agent_on(
    home: Path,
    server: Loopback,
    definition: AgentDefinition | None = None,
    *,
    name: str = "openai/test",
    **more: Any,
) -> Iterator[Agent]:
    """The agent "ada" of a home, speaking through litellm to this server."""
    given: dict[str, Any] = {"api_base": server.url, "api_key": SECRET, "backoff": QUICK, **more}
    with runtime_at(home) as runtime:
        model = LitellmModel(name, **given)
        yield runtime.agent("ada", definition=definition or small(4096), model=model)


def illegal(agent: Agent) -> list[str]:
    """Every reason for which some provider would refuse what the next request shows."""
    request = agent.context.render(256)
    faults = []
    for family in FAMILIES:
        rules = rules_for(f"{family}/x")
        for offered in (True, False):
            asked = request if offered else _without_functions(request)
            wire = to_wire(asked, rules)
            found = violations(wire, family, tools=offered)
            faults += [f"{family}: {fault}" for fault in found]
    return faults


def _without_functions(request: Any) -> Any:
    from dataclasses import replace

    return replace(request, tools=())


def said(agent: Agent, role: str = "user") -> list[str]:
    """The texts of a role, notices left out."""
    return [m.text for m in everything(agent) if m.role == role and m.kind == "talk"]
