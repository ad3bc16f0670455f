"""Past requests of an agent that is open: made again, and as they were recorded."""

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import LocalZone, zone_name
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.past_request import Otherwise, PastRequests
from pagemind.runtime.request_digest import RequestDigest


def digests(agent: Agent) -> dict[int, str]:
    """What each step has kept."""
    rows = agent.state.database.rows("SELECT step, request_sha256 FROM steps")
    return {row["step"]: row["request_sha256"] for row in rows}


def made_again(agent: Agent, step: int) -> str:
    """The digest of a step's request, made from the state."""
    return RequestDigest().of(request_of(agent, step))


def request_of(agent: Agent, step: int) -> ModelRequest:
    """The request of a step, made from the state."""
    zone = zone_name(LocalZone(), agent.state.clock.now())
    past = PastRequests(
        agent.state, agent.context.counter, Otherwise(zone, True, None, agent.context.cache_key)
    )
    found = past.of(step)
    assert found is not None
    return found.request
