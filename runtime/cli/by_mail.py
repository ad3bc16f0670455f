"""A message that goes through the mailbox of the home: left for `pagemind up`, or answered by it.

Where `up` holds an agent, `send` is answered all the same: the message waits in the mailbox, and
its stored answer is read once its turn has ended.
"""

from typing import TYPE_CHECKING

from pagemind.runtime.settings import MAIL_LOOK_SECONDS, MAIL_WAIT_SECONDS

if TYPE_CHECKING:
    from pagemind.runtime.cancel import CancelToken
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.state.mailbox import Mail
    from pagemind.runtime.turn import TurnResult


def is_awake(runtime: "Runtime") -> bool:
    """Whether a process keeps the home awake."""
    from pagemind.runtime.awake.awake import lock_of

    return lock_of(runtime.home.path).held()


def put(runtime: "Runtime", name: str, text: str, speaker: str, id: str | None) -> "Mail":
    """Leave a message. Raises UnknownAgent, UserError."""
    from pagemind.runtime.event import UserMessage
    from pagemind.runtime.intake import checked_text
    from pagemind.runtime.state.mailbox import Mailbox

    agent = runtime.home.find(name)
    mailbox = Mailbox(runtime.home.database, runtime.clock)
    return mailbox.put(agent.id, UserMessage(checked_text(text), speaker), id)


def queue(
    name: str, text: str, speaker: str, id: str | None, as_json: bool, home: str | None
) -> int:
    """`send --queue`."""
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        mail = put(runtime, name, text, speaker, id)
        agent = runtime.home.find(name).name
    if as_json:
        answer({"agent": agent, "queued": mail.number, "id": mail.id})
    else:
        print(f"queued for {agent} as {mail.number}; `pagemind up` passes it on")
    return 0


def answered(
    runtime: "Runtime",
    name: str,
    text: str,
    speaker: str,
    id: str | None,
    *,
    wait: float,
    cancel: "CancelToken",
) -> "TurnResult":
    """Leave a message and wait for its turn. Raises AgentInUse where it does not begin in time,
    UserError where it cannot be handled, Cancelled; it stays queued then."""
    from pagemind.runtime.errors import AgentInUse, UserError
    from pagemind.runtime.state.mailbox import Mailbox

    mail = put(runtime, name, text, speaker, id)
    mailbox = Mailbox(runtime.home.database, runtime.clock)
    until = runtime.clock.monotonic() + max(wait, MAIL_WAIT_SECONDS)
    while (left := mailbox.get(mail.number)) is not None:
        if left.aside:
            raise UserError(left.why, hint=f"it stays queued as {mail.number}")
        if runtime.clock.monotonic() > until and not _begun(runtime, name, mail.id):
            why = f": {left.why}" if left.why else ""
            raise AgentInUse(
                f"{name} does not get to it{why}",
                hint=f"it stays queued as {mail.number}; `pagemind queue drop {mail.number}`"
                " takes it back",
            )
        cancel.wait(MAIL_LOOK_SECONDS)
    result = _result(runtime, name, mail.id)
    if result is None:
        raise UserError("the message was taken out of the queue unanswered")
    return result


def _begun(runtime: "Runtime", name: str, id: str) -> bool:
    with runtime.reader(name) as reader:
        return reader.state.turns.by_client_id(id) is not None


def _result(runtime: "Runtime", name: str, id: str) -> "TurnResult | None":
    """What the turn of this id came to; None if there is none, or it has not ended."""
    from pagemind.runtime.turn import heard, stored_result

    with runtime.reader(name) as reader:
        row = reader.state.turns.by_client_id(id)
        if row is None or not row.result:
            return None
        said = [
            message
            for message in reader.state.journal.of_turn(row.turn)
            if message.role == "tool" or message.seq in row.reply_seqs
        ]
        texts = heard(said, heartbeat=reader.protocol == "heartbeat")
        return stored_result(name, row, "\n\n".join(texts))
