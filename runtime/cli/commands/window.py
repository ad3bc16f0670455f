"""Commands that show what the model sees, what it did, and what that took."""

from pagemind.runtime.cli.commands.command import Command, Scene


def _context(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.window_picture import picture

    with scene.opening.runtime.reader(scene.agent.name) as reader:
        picture(reader.inspect(), name=scene.agent.name)


def _request(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.inspect import print_request

    with scene.opening.runtime.reader(scene.agent.name) as reader:
        print_request(reader.request())


def _details(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.turn_details import print_details

    print_details(scene.agent.state, rest)


def _status(scene: Scene, rest: str) -> None:
    """Who answers, how much is kept, and what the worker is up to."""
    from pagemind.runtime.cli.render import plural
    from pagemind.runtime.cli.tended import standing
    from pagemind.runtime.quarantine import Quarantine

    agent = scene.agent
    state = agent.state
    kept = (
        plural(state.journal.count(), "message"),
        plural(state.passages.count(), "passage"),
        plural(state.pages.count(), "page"),
    )
    print(f"model   {agent.model.name}")
    print(f"memory  {', '.join(kept)}")
    print(f"sleep   {standing(agent.sleep_status())}")
    if many := Quarantine(state).count():
        print(f"waits   {plural(many, 'record')} for your decision: /review")


def _sleep(scene: Scene, rest: str) -> None:
    """Tend memory now."""
    from pagemind.runtime.cli.interrupt import stop_on_interrupt
    from pagemind.runtime.cli.tended import counted, waiting

    with stop_on_interrupt() as cancel:
        print(counted(scene.agent.sleep(cancel).as_json()))
    if told := waiting(scene.agent.sleep_status(), scene.agent.name):
        print(told)


def _usage(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.render import money, table
    from pagemind.runtime.cli.spent import midnight
    from pagemind.runtime.clock import rfc3339

    agent = scene.agent
    history = agent.state.history
    day = rfc3339(midnight(agent.state.clock.now(), agent.zone))
    rows = []
    for name, since in (("today", day), ("ever", "")):
        steps, used, cost, known = history.usage(since)
        rows.append(
            [
                name,
                f"{steps:,}",
                f"{used.prompt_tokens:,}",
                f"{used.cached_tokens:,}",
                f"{used.completion_tokens:,}",
                money(cost, known),
            ]
        )
    heads = ["", "calls", "sent", "cached", "received", "cost"]
    table(heads, rows, right="calls sent cached received cost", spare="cached")


def _export(scene: Scene, rest: str) -> None:
    from pathlib import Path

    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import plural, size, visible

    done = scene.opening.runtime.export_agent(
        scene.agent.name, Path(rest or f"{scene.agent.name}.pmz")
    )
    holds = ", ".join(
        plural(count, noun)
        for count, noun in (
            (done.messages, "message"),
            (done.passages, "passage"),
            (done.pages, "page"),
        )
    )
    print(f"{visible(str(done.path))}: {size(done.bytes)}, {holds}")
    for note in done.notes:
        say(visible(note))


COMMANDS = (
    Command("/context", "", "the window as a picture", _context),
    Command("/request", "", "the exact request of the next call", _request),
    Command("/details", "[TURN]", "what the last turn called, and what came back", _details),
    Command("/export", "[FILE]", "write the agent to one file: ada.pmz", _export, "file"),
    Command("/status", "", "model, memory, and what the sleep-time worker is up to", _status),
    Command("/sleep", "", "tend memory now, as the worker does between turns", _sleep),
    Command("/usage", "", "tokens and cost, of today and ever", _usage),
)
