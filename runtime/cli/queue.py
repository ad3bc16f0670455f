"""`pagemind queue`: events that wait for `pagemind up`, and those that were put aside."""

from typing import Annotated

import typer

from pagemind.runtime.cli.options import AsJson, HomeFolder
from pagemind.runtime.cli.schedules import AnyAgent

Numbers = Annotated[
    list[int], typer.Argument(metavar="NUMBER…", help="As `queue list` shows them.")
]


def list_queue(agent: AnyAgent = None, as_json: AsJson = False, home: HomeFolder = None) -> None:
    """Messages, timers and files that wait for an agent, in order."""
    from pagemind.runtime.cli.render import listing, local, one_line, table
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.state.mailbox import Mailbox

    with opened(home) as runtime:
        mailbox = Mailbox(runtime.home.database, runtime.clock)
        wanted = runtime.home.find(agent).id if agent else None
        found = [(runtime.home.of_id(m.agent).name, m) for m in mailbox.all(wanted)]
    if as_json:
        listing([mail.as_json(name) for name, mail in found])
    elif found:
        rows = [
            [
                str(mail.number),
                name,
                "aside" if mail.aside else "waits",
                local(mail.at),
                one_line(mail.event.text)[:60],
                one_line(mail.why),
            ]
            for name, mail in found
        ]
        table(["number", "agent", "status", "came", "text", "why"], rows, right="number")
    else:
        print("nothing waits")


def retry(numbers: Numbers, home: HomeFolder = None) -> None:
    """Try again what was put aside."""
    from pagemind.runtime.cli.render import plural
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.state.mailbox import Mailbox

    with opened(home) as runtime:
        Mailbox(runtime.home.database, runtime.clock).retry(numbers)
    print(f"{plural(len(numbers), 'event')} will be tried again")


def drop(numbers: Numbers, home: HomeFolder = None) -> None:
    """Take events out of the queue. One whose turn runs already ends all the same."""
    from pagemind.runtime.cli.render import plural
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.state.mailbox import Mailbox

    with opened(home) as runtime:
        mailbox = Mailbox(runtime.home.database, runtime.clock)
        mailbox.retry(numbers)  # raises for one that is not there, before any is dropped
        for number in numbers:
            mailbox.take(number)
    print(f"{plural(len(numbers), 'event')} dropped")
