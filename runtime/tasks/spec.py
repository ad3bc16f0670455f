"""TaskSpec: a task file as it is written, its sections checked each by itself (parts.py)."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr

from pagemind.runtime.definition_parts import ModelName, Section, Words
from pagemind.runtime.tasks.parts import (
    Action,
    AgentSpec,
    AtOnce,
    Budget,
    Inputs,
    Many,
    OnApproval,
    OnError,
    OnUnknown,
    Policy,
    agent_name,
)
from pagemind.runtime.yaml_reader import Document


def _spelt_agent(value: Any) -> Any:
    return value if isinstance(value, dict) else {"existing": value}


class AgentUse(AgentSpec):
    """The agent: one that exists, by its name alone, or one that the task makes."""

    definition: Words = ""
    existing: Words = ""


class Colleague(Section):
    """Another agent that the task makes: from a definition, on a model."""

    definition: Words
    model: ModelName | None = None


def _spelt_colleague(value: Any) -> Any:
    return {"definition": value} if isinstance(value, str) else value


def _variable(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise ValueError("must be text or a number, or empty where --set gives it")
    return None if value is None else str(value)


def _not_empty(value: tuple[Action, ...]) -> tuple[Action, ...]:
    if not value:
        raise ValueError("holds nothing to do: write  - say: …  under it")
    return value


def _task_name(value: str) -> str:
    return agent_name(value)


def _instant(value: Any) -> Any:
    if not isinstance(value, str | datetime):
        raise ValueError("must be a day and a time, such as 2026-03-02 08:00")
    try:
        return value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"{value!r} is no day and time: write 2026-03-02 08:00") from None


Instant = Annotated[datetime, BeforeValidator(_instant)]


class TaskSpec(Section):
    """A task file as it is written."""

    name: Annotated[Words, AfterValidator(_task_name)] | None = None
    description: Words = ""
    agent: Annotated[AgentUse, BeforeValidator(_spelt_agent)]
    team: dict[
        Annotated[str, AfterValidator(agent_name)],
        Annotated[Colleague, BeforeValidator(_spelt_colleague)],
    ] = Field(default_factory=dict)
    agents: Many = "shared"
    at_once: AtOnce = 1
    inputs: Inputs | None = None
    clock: Instant | None = None
    vars: dict[str, Annotated[str | None, BeforeValidator(_variable)]] = Field(default_factory=dict)
    do: Annotated[tuple[Action, ...], AfterValidator(_not_empty)]
    at_end: tuple[Action, ...] = ()
    on_error: Policy = OnError()
    on_unknown: OnUnknown = "ask"
    on_approval: OnApproval = "ask"
    budget: Budget = Budget()

    _document: Document = PrivateAttr(default_factory=lambda: Document({}, "", {}))
