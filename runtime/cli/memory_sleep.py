"""`pagemind memory sleep`: the sleep-time worker, run by hand."""

from typing import Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Wait


def sleep(
    agent: AgentName,
    status: Annotated[
        bool, typer.Option("--status", help="Only say what the worker is up to.")
    ] = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Tend an agent's memory now: every job that is due, whatever its definition says of when."""
    from pagemind.runtime.cli.interrupt import stop_on_interrupt
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.cli.tended import counted, standing, waiting
    from pagemind.runtime.sleep.worker import status_of

    with opened(home) as runtime:
        if status:
            with runtime.reader(agent) as reader:
                found = status_of(reader.state, reader.definition.sleep)
                name = reader.name
            if as_json:
                answer({"agent": name, "status": found.as_json()})
            else:
                print(f"{name}: {standing(found)}")
            return 0
        with runtime.agent(agent, create=False, wait=wait) as one:
            with stop_on_interrupt() as cancel:
                report = one.sleep(cancel)
            left = one.sleep_status()
    if as_json:
        answer({"agent": one.name, **report.as_json(), "status": left.as_json()})
    else:
        print(f"{one.name}: {counted(report.as_json())}")
        if told := waiting(left, one.name):
            print(told)
    return 3 if report.notes else 0
