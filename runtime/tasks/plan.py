"""The plan of a task (`--dry-run`): what would be done, and about what it would take.

An estimate is no promise: each `say` is taken for one call of the model and each reply for
TASK_REPLY_TOKENS, each `repeat` for its most rounds, and both branches of an `if` count.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.errors import NoModel, TemplateError, UserError
from pagemind.runtime.model_choice import choose
from pagemind.runtime.models.prices import price_of
from pagemind.runtime.pressure import window
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import DEFAULT_WINDOW_TOKENS, FLUSH, KEEP, TASK_REPLY_TOKENS
from pagemind.runtime.tasks.hired import Hiring, definition_of
from pagemind.runtime.tasks.inputs import Source
from pagemind.runtime.tasks.opening import check_functions
from pagemind.runtime.tasks.parts import Action
from pagemind.runtime.tasks.reducing import steps
from pagemind.runtime.tasks.task_file import Task
from pagemind.runtime.tasks.text import Fields, Text


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do. `cost` is None where the model's price is not known; `total` where the
    inputs cannot be counted."""

    task: str
    agent: str
    model: str
    total: int | None
    unreadable: int
    actions: tuple[str, ...]
    turns: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    team: tuple[str, ...] = ()  # whose work nobody can foresee

    def as_json(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "agent": self.agent,
            "model": self.model,
            "inputs": self.total,
            "unreadable": self.unreadable,
            "team": list(self.team),
            "actions": list(self.actions),
            "turns": self.turns,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cost": {
                "amount": self.cost or 0.0,
                "currency": "USD",
                "known": self.cost is not None,
            },
        }

    def as_text(self) -> str:
        """For people."""
        inputs = "inputs as they come" if self.total is None else f"{self.total:,} inputs"
        if self.unreadable:
            inputs += f", {self.unreadable:,} of them unreadable"
        cost = "cost not known" if self.cost is None else f"about ${self.cost:.2f}"
        return "\n".join(
            [
                f"{self.task}: {inputs}, on {self.agent} ({self.model or 'no model yet'})",
                *([f"  with {', '.join(self.team)}, whose work is not counted"] * bool(self.team)),
                *(f"  {each}" for each in self.actions),
                f"about {self.turns:,} turns, {self.prompt_tokens:,} tokens in,"
                f" {self.completion_tokens:,} out, {cost}",
            ]
        )


def plan_of(runtime: Runtime, task: Task, model: str | None) -> Plan:
    """Everything is checked as before a run; the inputs are read once. Raises what a run would."""
    check_functions(runtime, task, Hiring())
    if (source := task.source()) is not None:
        source.check()
    return _plan(runtime, task, model, definition_of(runtime, task))


def _plan(runtime: Runtime, task: Task, model: str | None, definition: AgentDefinition) -> Plan:
    name = _model(runtime, task, definition, model)
    own = {sub.path for sub in task.tasks_of_their_own()}
    subs = {
        key: _plan(
            runtime, sub, model, definition_of(runtime, sub) if sub.path in own else definition
        )
        for key, sub in task.subs.items()
    }
    prompt = _Prompt(runtime, definition, subs, stays=task.spec.agents == "shared")
    source = _known(task)
    scope = {name: value for name, value in task.vars.items()}
    total: int | None = 1 if task.spec.inputs is None else None
    unreadable = 0
    if source is None:
        prompt.say_all(task.spec.do, scope)
    else:
        total = 0
        for one in source:
            total += 1
            if one.fault:
                unreadable += 1
                continue
            prompt.say_all(task.spec.do, {**scope, "input": one.value, "number": one.number})
    prompt.say_all(task.spec.at_end, {**scope, "total": (total or 0) - unreadable})
    price = price_of(name)
    cost = None
    if price is not None and prompt.of_subs is not None:
        cost = price[0] * prompt.own_in + price[1] * prompt.own_out + prompt.of_subs
    return Plan(
        task.name,
        task.agent_name if task.spec.agents == "shared" else "one agent for each input",
        name,
        total,
        unreadable,
        (*_lines(task.spec.do, "do", subs), *_lines(task.spec.at_end, "at_end", subs)),
        prompt.turns,
        prompt.tokens_in,
        prompt.tokens_out,
        cost,
        tuple(task.spec.team),
    )


def _known(task: Task) -> Source | None:
    """The inputs that can be gone through before anything runs. Those of a task inside another may
    be made by what is done before it."""
    if not task.knows_inputs or (source := task.source()) is None or source.spec.kind == "stdin":
        return None
    try:
        source.check()
    except UserError:
        return None
    return source


class _Prompt:
    """How the prompt grows as things are said, and falls at a flush."""

    def __init__(
        self,
        runtime: Runtime,
        definition: AgentDefinition,
        subs: Mapping[str, Plan],
        *,
        stays: bool,
    ) -> None:
        from pagemind.tools import of_definition

        count = self._count = runtime.counter.count
        self._stays = stays
        blocks = "".join(spec.value for spec in definition.blocks.values())
        schemas = "".join(str(each.schema) for each in of_definition(definition))
        self._fixed = count(definition.instructions() + blocks + schemas)
        tokens = definition.context_window or DEFAULT_WINDOW_TOKENS
        usable = window(tokens, "plan", definition.output_reserve).usable
        self._room = max(1, usable - self._fixed)
        self._queue = 0
        self._subs = subs
        self.turns = self.tokens_in = self.tokens_out = 0
        self.own_in = self.own_out = 0  # without those of other tasks
        self.of_subs: float | None = 0.0  # what those cost

    def say_all(self, actions: tuple[Action, ...], scope: dict[str, Any]) -> None:
        """One input's worth."""
        if not self._stays:
            self._queue = 0
        for action, times in _saying(actions, 1):
            if action.sub is not None:
                self._run(self._subs[action.sub], times)
                continue
            said = self._count(_filled(action.say or "", scope))
            if action.reduce is not None:
                said += min(action.take, scope["total"] or 1) * TASK_REPLY_TOKENS
                times = steps(scope["total"] or 1, action.take)
            for _ in range(min(times, 100)):
                self._say(said)

    def _say(self, said: int) -> None:
        self._queue += min(said, self._room)
        if self._queue > FLUSH * self._room:
            self._queue = int(KEEP * self._room)
        self.turns += 1
        self.tokens_in += self._fixed + self._queue
        self.tokens_out += TASK_REPLY_TOKENS
        self.own_in += self._fixed + self._queue
        self.own_out += TASK_REPLY_TOKENS
        self._queue += TASK_REPLY_TOKENS

    def _run(self, sub: Plan, times: int) -> None:
        """Another task, as far as its inputs are known."""
        self.turns += times * sub.turns
        self.tokens_in += times * sub.prompt_tokens
        self.tokens_out += times * sub.completion_tokens
        known = self.of_subs is not None and sub.cost is not None
        self.of_subs = (self.of_subs or 0.0) + times * (sub.cost or 0.0) if known else None


def _saying(actions: tuple[Action, ...], times: int) -> Iterator[tuple[Action, int]]:
    for action in actions:
        if action.say is not None or action.sub is not None:
            yield action, times
        yield from _saying(action.then, times)
        yield from _saying(action.otherwise, times)
        yield from _saying(action.repeat, times * (action.at_most or 1))


def _filled(written: str, scope: dict[str, Any]) -> str:
    """As far as that is known before anything has run."""
    text = Text.parse(written)
    known = {**dict.fromkeys((path[0] for path in text.paths), _Anything()), **scope}
    try:
        return text.fill(known)
    except TemplateError:
        return written


class _Anything(Fields):
    """Stands for what is not known yet."""

    def __init__(self) -> None:
        super().__init__({"": ""})

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> Any:
        return ""


def _model(runtime: Runtime, task: Task, definition: AgentDefinition, asked: str | None) -> str:
    try:
        if task.spec.agent.existing and asked is None:
            return runtime.choose_model(task.spec.agent.existing).name
        asked = asked or task.spec.agent.model
        return choose(definition, asked=asked, stored="", home=runtime.home.path).name
    except NoModel:
        return ""


def _lines(actions: tuple[Action, ...], place: str, subs: Mapping[str, Plan]) -> Iterator[str]:
    for at, action in enumerate(actions, 1):
        here = f"{place}.{at}"
        said = " ".join((action.say or action.call or action.sub or action.wait or "").split())
        short = said if len(said) <= 60 else f"{said[:59]}…"
        bound = f" at most {action.at_most} times" if action.at_most else ""
        if action.reduce is not None:
            bound = f" {action.reduce}, {action.take} at a time:"
        saved = f" → {action.save.file}" if action.save is not None else ""
        yield f"{here} {action.verb}{bound}{f' {short}' if short else ''}{saved}"
        if action.sub is not None:
            yield from (f"  {here} › {line.strip()}" for line in subs[action.sub].actions)
        yield from _lines(action.then, f"{here}.then", subs)
        yield from _lines(action.otherwise, f"{here}.else", subs)
        yield from _lines(action.repeat, f"{here}.repeat", subs)
