"""Commands about the talk itself: which agent and model, taking a turn up again, judging it."""

from pagemind.runtime.cli.commands.command import Command, Scene
from pagemind.runtime.errors import UserError


def _agents(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.render import ago, table

    now = scene.opening.runtime.clock.now()
    table(
        ["agent", "definition", "messages", "pages", "last active"],
        [
            [
                info.name,
                info.definition,
                f"{info.messages:,}",
                f"{info.pages:,}",
                ago(info.last_active_at, now)
                + ("  ← this one" if info.name == scene.agent.name else ""),
            ]
            for info in scene.opening.runtime.agents()
        ],
        right="messages pages",
        spare="pages definition",
    )


def _switch(scene: Scene, rest: str) -> None:
    if rest == scene.agent.name:
        raise UserError(f"{rest} is the one you talk to", hint="/agents lists the others")
    scene.agent = scene.opening.switch(rest)
    print(f"you talk to {scene.agent.name} now, on {scene.agent.model.name}")


def _model(scene: Scene, rest: str) -> None:
    if not rest:
        print(f"{scene.agent.name} runs on {scene.agent.model.name}; /model MODEL changes it")
        return
    scene.agent = scene.opening.reopen(rest)
    print(f"{scene.agent.name} runs on {scene.agent.model.name} now, and will next time")


def _new(scene: Scene, rest: str) -> None:
    number = scene.agent.new_conversation()
    print(f"conversation {number} begins; what was said stays in memory")


def _retry(scene: Scene, rest: str) -> None:
    scene.retry()


def _approve(scene: Scene, rest: str) -> None:
    from pagemind.runtime.person import Consent

    if rest.lower() not in ("", "always"):
        raise UserError(f"/approve takes nothing, or always, not {rest!r}")
    scene.approve(Consent(True, always=bool(rest)))


def _deny(scene: Scene, rest: str) -> None:
    from pagemind.runtime.person import Consent

    scene.approve(Consent(False, reason=rest))


def _good(scene: Scene, rest: str) -> None:
    _judge(scene, "good", rest)


def _bad(scene: Scene, rest: str) -> None:
    _judge(scene, "bad", rest)


def _judge(scene: Scene, verdict: str, why: str) -> None:
    from pagemind.runtime.feedback import judge

    turn = judge(scene.agent.state, verdict, why)
    noted = ", with your reason" if why else ""
    print(f"turn {turn} is marked {verdict}{noted}")


def _schedules(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.schedules import print_timers

    name = scene.agent.name
    print_timers([(name, one) for one in scene.opening.runtime.timers(name).all()])


COMMANDS = (
    Command("/agents", "", "the agents of this home", _agents),
    Command("/switch", "AGENT", "talk to another agent", _switch, "agent"),
    Command("/model", "[MODEL]", "run on another model, now and next time", _model, "model"),
    Command("/new", "", "begin a new conversation; memory stays", _new),
    Command("/schedules", "", "the timers that wake the agent by themselves", _schedules),
    Command("/retry", "", "take up a turn that failed or was stopped", _retry),
    Command("/approve", "[ALWAYS]", "run the call that waits, or always that function", _approve),
    Command("/deny", "[WHY]", "refuse the call that waits; the agent reads why", _deny),
    Command("/good", "[WHY]", "the last answer was good", _good),
    Command("/bad", "[WHY]", "the last answer was bad", _bad),
)
