"""The performer: does a list of actions for one input, each once (attempts.py).

What the ledger has as done gives its result, so that the actions after it find the same variables.
Decisions of `if` and `until` are kept likewise: what they looked at may have changed since.
"""

from functools import partial
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.errors import PagemindError, TemplateError
from pagemind.runtime.feedback import expected
from pagemind.runtime.message import TRUST
from pagemind.runtime.person import ApprovalRequest, Consent
from pagemind.runtime.state.ledger import ActionRow, Spent
from pagemind.runtime.tasks.attempts import Attempts, Doing, Result
from pagemind.runtime.tasks.calling import arguments_of, call
from pagemind.runtime.tasks.checks import why_not
from pagemind.runtime.tasks.failing import ActionFailed, Waits
from pagemind.runtime.tasks.inputs import Input
from pagemind.runtime.tasks.job import Job
from pagemind.runtime.tasks.known import Known
from pagemind.runtime.tasks.named_checks import function_of
from pagemind.runtime.tasks.parts import Action, Check, OnError, Save
from pagemind.runtime.tasks.purse import Purse
from pagemind.runtime.tasks.reducing import Group, Reducing, label_of, told
from pagemind.runtime.tasks.saving import file_of, line_of
from pagemind.runtime.tasks.saying import say, spent_on, turn_of, words
from pagemind.runtime.tasks.subtask import Subtask
from pagemind.runtime.tasks.text import Text, as_text
from pagemind.runtime.tasks.waiting import Waiting

_COUNTS = ("number", "task", "total", "done", "failed")  # variables that nobody's words are in


class Performer:
    """Of one input. `scope` holds the variables, and grows."""

    def __init__(
        self, job: Job, agent: Agent, one: Input, scope: dict[str, Any], purse: Purse
    ) -> None:
        self._job = job
        self._agent = agent
        self._one_input = one
        # An input that is another by now says nothing under the ids of the one it was.
        self._who = f"{one.key}\0{one.digest}"
        self._source = {"input": one.label} if "input" in scope else {}
        self._scope = scope
        self._known = Known(scope, agent)
        self._attempts = Attempts(job, one.key, one.label, purse)
        self.finished = 0  # of the outermost list

    def all(self, actions: tuple[Action, ...], place: str) -> None:
        """Every one of them. Raises GivenUp, TaskStopped, Cancelled."""
        for at, action in enumerate(actions, 1):
            self._job.check()
            self._one(action, f"{place}.{at}")
            if place in ("do", "at_end"):
                self.finished += 1

    def _one(self, action: Action, place: str) -> None:
        if action.condition is not None:
            holds = self._decide(action.condition, f"{place}.if")
            branch, name = (action.then, "then") if holds else (action.otherwise, "else")
            self.all(branch, f"{place}.{name}")
        elif action.repeat:
            self._repeat(action, place)
        elif action.say is not None:
            done = self._reduce(action, place) if action.reduce else self._say(action, place)
            self._scope.pop("data", None)
            self._scope |= {name: done[name] for name in ("reply", "data") if name in done}
            self._keep(action, place, "data" if "data" in done else "reply")
        elif action.call is not None:
            self._scope["result"] = self._call(action, place)["result"]
            self._keep(action, place, "result")
        elif action.wait is not None:
            self._wait(action, action.wait, place)
        elif action.sub is not None:
            self._scope["result"] = self._sub(action, place)["result"]
            self._keep(action, place, "result")
        else:
            if action.expect is not None:
                self._expect(action, action.expect, f"{place}.expect" if action.save else place)
            if action.save is not None:
                self._save(action, action.save, place, self._newest())

    def _newest(self) -> str:
        return "data" if "data" in self._scope else "reply"

    def _keep(self, action: Action, place: str, made: str) -> None:
        """What an action made, under its name and in its file."""
        if action.named:
            self._scope[action.named] = self._scope[made]
        if action.save is not None:
            self._save(action, action.save, f"{place}.save", made)

    def _repeat(self, action: Action, place: str) -> None:
        assert action.until is not None
        assert action.at_most is not None
        for number in range(1, action.at_most + 1):
            self.all(action.repeat, f"{place}.{number}")
            if self._decide(action.until, f"{place}.{number}.until"):
                return

        def fail(row: ActionRow, cut_off: bool, purse: Purse) -> Result:
            raise ActionFailed(f"`until` does not hold after {action.at_most} rounds")

        self._attempts.result(Doing(place, "repeat", self._policy(action), fail))

    # --- what is done ---------------------------------------------------------------------------

    def _say(self, action: Action, place: str, group: Group | None = None) -> Result:
        """With a `group` of results of inputs: one step of reducing them."""
        assert action.say is not None
        written = Text.parse(action.say)
        identity = self._job.identity(self._who, place)
        more = told(group) if group is not None else {}
        noted = {"took": len(group), "label": label_of(group)} if group else {}

        def prepare(why: str) -> Result:
            return {"text": words(self._known.fill(written, more), why), **noted}

        def perform(row: ActionRow, cut_off: bool, purse: Purse) -> Result:
            text, id = row.result["text"], f"{identity}{row.attempt}"
            try:
                done = say(
                    self._job,
                    self._agent,
                    action,
                    id=id,
                    text=text,
                    purse=purse,
                    consenting=partial(self._consent, place),
                    document=self._stranger(written),
                )
                self._expected(action.expect, done["reply"], text, id)
            except ActionFailed as failed:
                failed.result = {**(failed.result or {}), **noted}
                raise
            return {**done, **noted}

        def spent(ms: float) -> Spent:
            return spent_on(self._agent, identity, ms)

        policy, bounds = self._policy(action), action.budget or self._job.task.spec.budget.action
        kind = "say" if group is None else "reduce"
        doing = Doing(place, kind, policy, perform, prepare, spent, bounds, tries=policy.tries)
        return self._attempts.result(doing)

    def _stranger(self, written: Text) -> str:
        """Where the words of a text come from, if not from who wrote the task: what inputs say, and
        what was made of it."""
        task = self._job.task
        inputs = task.spec.inputs
        own = inputs is None or not inputs.untrusted or written.before(task.vars) is None
        return "" if own else f"inputs of {task.name}"

    def _trust_of(self, action: Action) -> int:
        """That of what the arguments of a call are made from: who wrote the task answers for what
        stands in it, and for inputs that are not untrusted; not for what an agent has said."""
        inputs = self._job.task.spec.inputs
        # What a task gives another one may be an agent's words.
        own = {*_COUNTS, *(self._job.task.vars if self._job.outer is None else ())}
        if inputs is None or not inputs.untrusted:
            own |= {"input"}
        written = [Text.parse(each) for each in action.arguments.values() if isinstance(each, str)]
        if all(each.before(own) is None for each in written):
            return TRUST["user"]
        return self._agent.context.min_trust()

    def _reduce(self, action: Action, place: str) -> Result:
        """What all inputs left, as one."""

        def step(at: str, group: Group) -> Result:
            self._job.check()
            return self._say(action, at, group)

        def keep(at: str, group: Group) -> Result:
            made = "data" if action.json_schema is not None else "reply"
            value = group[0].value
            kept = {"reply": as_text(value), made: value, "took": 1, "label": group[0].label}

            def perform(row: ActionRow, cut_off: bool, purse: Purse) -> Result:
                return kept

            return self._attempts.result(Doing(at, "reduce", self._policy(action), perform))

        one = self._one_input
        reducing = Reducing(self._job, self._agent, action, place, one, step, keep)
        try:
            return reducing.result()
        except ActionFailed as nothing:
            failed = nothing

        def fail(row: ActionRow, cut_off: bool, purse: Purse) -> Result:
            raise failed

        return self._attempts.result(Doing(place, "reduce", self._policy(action), fail))

    def _call(self, action: Action, place: str) -> Result:
        identity = self._job.identity(self._who, place)

        def prepare(why: str) -> Result:
            try:
                return {"arguments": arguments_of(action, self._known.all())}
            except TemplateError as error:
                raise ActionFailed(error.message) from None

        def perform(row: ActionRow, cut_off: bool, purse: Purse) -> Result:
            id, given = f"{identity}{row.attempt}", row.result["arguments"]
            done = call(
                self._job,
                self._agent,
                action,
                given,
                id=id,
                trust=self._trust_of(action),
                cut_off=cut_off,
                choose=partial(self._unknown, place),
                consenting=partial(self._consent, place),
            )
            self._must_hold(action.expect, done["result"], None, again=False)
            return {**done, "id": id}

        policy = self._policy(action)
        done = self._attempts.result(
            Doing(place, "call", policy, perform, prepare, tries=policy.tries)
        )
        self._agent.loop.functions.forget_call(done["id"])
        return done

    def _unknown(self, place: str, text: str, choices: tuple[str, ...]) -> str:
        """What is done about a call that may have happened."""
        try:
            return self._attempts.choose(place, "unknown", text, choices)
        except Waits as waits:
            waits.untouched = False  # it is asked about again
            raise

    def _consent(self, place: str, request: ApprovalRequest) -> Consent:
        """Whether a call may be made. With an agent that others need, they wait too: what is said
        to it first would be the answer."""
        ends = self._job.task.spec.agents == "shared" and request.turn > 0
        return self._attempts.consent(place, request, ends=ends)

    def _sub(self, action: Action, place: str) -> Result:
        number = self._scope.get("number")
        sub = Subtask(self._job, self._agent, action, place, self._one_input, number)

        def prepare(why: str) -> Result:
            return {"set": sub.values(self._known.all())}

        def perform(row: ActionRow, cut_off: bool, purse: Purse) -> Result:
            again = row.attempt > 1
            return sub.run(row.result["set"], purse, row.spent, again=again)

        policy, bounds = self._policy(action), action.budget or self._job.task.spec.budget.action
        return self._attempts.result(
            Doing(place, "sub", policy, perform, prepare, sub.spent, bounds, True, policy.tries)
        )

    def _wait(self, action: Action, written: str, place: str) -> None:
        waiting = Waiting(self._job, self._agent, action, partial(self._consent, place))

        def prepare(why: str) -> Result:
            return {"until": waiting.time_of(self._known.fill(Text.parse(written)))}

        def perform(row: ActionRow, cut_off: bool, purse: Purse) -> Result:
            waiting.until(row.result, purse, row.spent)
            return dict(row.result)

        policy, bounds = self._policy(action), action.budget or self._job.task.spec.budget.action
        done = self._attempts.result(
            Doing(
                place, "wait", policy, perform, prepare, waiting.spent, bounds, tries=policy.tries
            )
        )
        waiting.is_over(done)

    def _expect(self, action: Action, check: Check, place: str) -> None:
        def perform(row: ActionRow, cut_off: bool, purse: Purse) -> Result:
            self._must_hold(check, self._scope.get("reply", ""), None, again=False)
            return {}

        self._attempts.result(Doing(place, "expect", self._policy(action), perform))

    def _save(self, action: Action, save: Save, place: str, made: str) -> None:
        outputs = self._job.outputs

        def perform(row: ActionRow, cut_off: bool, purse: Purse) -> Result:
            own = {*self._job.task.vars, "task", "number", "input"}
            path = file_of(save, self._known, own, outputs.path)
            if path == self._scope.get("_path"):
                raise ActionFailed(f"{path} is the input itself: it is not written to")
            data = line_of(save, made, self._known, self._source).encode("utf-8", "replace")
            written = outputs.append(path, data)
            return {
                "path": written.path,
                "start": written.start,
                "length": written.length,
                "bytes": len(data),
            }

        self._attempts.result(
            Doing(place, "save", self._policy(action), perform, alone=outputs.alone)
        )

    # --- what holds -----------------------------------------------------------------------------

    def _why_not(self, check: Check, reply: str) -> str:
        said = reply if check.of is None else self._known.fill(Text.parse(check.of))
        task = self._job.task
        own = function_of(check.check, task.base) if check.check is not None else None
        try:
            return why_not(check, said, task.schema(check.json_schema), own)
        except PagemindError:
            raise
        except Exception as fault:  # a function of somebody else's may raise anything
            raise ActionFailed(f"{check.check}: {type(fault).__name__}: {fault}") from None

    def _must_hold(self, check: Check | None, reply: str, held: Any, *, again: bool) -> None:
        if check is not None and (why := self._why_not(check, reply)):
            raise ActionFailed(why, held, again=again)

    def _expected(self, check: Check | None, reply: str, text: str, id: str) -> None:
        """As _must_hold(), noted with the turn: its episode tells how it went."""
        if check is None:
            return
        why = self._why_not(check, reply)
        if (turn := turn_of(self._agent, id)) is not None:
            expected(self._agent.state, turn, why)
        if why:
            raise ActionFailed(why, {"text": text}, again=True)

    def _decide(self, check: Check, place: str) -> bool:
        """Whether a check holds; once it was decided it stays so."""

        def perform(row: ActionRow, cut_off: bool, purse: Purse) -> Result:
            return {"holds": not self._why_not(check, self._scope.get("reply", ""))}

        kind = place.rpartition(".")[2]
        return bool(
            self._attempts.result(Doing(place, kind, self._job.task.spec.on_error, perform))[
                "holds"
            ]
        )

    def _policy(self, action: Action) -> OnError:
        return action.on_error or self._job.task.spec.on_error
