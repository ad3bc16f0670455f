"""`pagemind agents show --at`: the request of a past step, as a picture by sections or as JSON."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pagemind.runtime.message import Message
    from pagemind.runtime.past_request import PastRequest
    from pagemind.runtime.reader import AgentReader
    from pagemind.runtime.runtime import Runtime

_LINES = 4  # of instructions and summary; --request prints all
_NAMES = {"page_table": "page table"}


def show_past(
    runtime: "Runtime", reader: "AgentReader", at: str, *, as_json: bool, request: bool
) -> None:
    """Print the request of the step that `at` names. Raises NotFound, UserError."""
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.past import Past

    past = Past(reader, runtime.counter)
    moment = past.moments.find(at)
    found = past.request(at)
    if as_json:
        answer(past_json(runtime, reader, found, seq=moment.seq))
    elif request:
        answer(whole_request(found))
    else:
        _picture(reader, found, moment.written)


def whole_request(found: "PastRequest") -> dict[str, Any]:
    """What the model was given, and the messages as its provider had them."""
    from pagemind.runtime.legalise import rules_for, to_wire
    from pagemind.runtime.request_json import request_json

    return {
        "model": found.model,
        **request_json(found.request),
        "wire": to_wire(found.request, rules_for(found.model)),
    }


def past_json(
    runtime: "Runtime", reader: "AgentReader", found: "PastRequest", *, seq: int
) -> dict[str, Any]:
    """The answer of `agents show --at --json` (contract), without the schema number."""
    from pagemind.runtime.clock import rfc3339

    blocks = []
    for block in found.blocks:
        made = reader.state.blocks.version(block.label, block.version)
        blocks.append(
            {
                "label": block.label,
                "value": block.value,
                "limit": block.limit,
                "tokens": runtime.counter.count(block.value),
                "description": block.description,
                "read_only": block.read_only,
                "version": block.version,
                "updated_at": rfc3339(made.at) if made else None,
                "author": made.author if made else "",
            }
        )
    return {
        "agent": reader.name,
        "seq": seq,
        "step": found.step,
        "turn": found.turn,
        "last_seq": found.seq,
        "at": rfc3339(found.at),
        "model": found.model,
        "finish": found.finish,
        "sections": [{"name": k, "tokens": v} for k, v in found.sections.items()],
        "blocks": blocks,
        "summary": found.summary,
        "page_table": found.page_table,
        "pinned": found.pinned,
        "prefetch": found.prefetch,
        "messages": [
            {
                "id": message.short_id,
                "seq": message.seq,
                "role": message.role,
                "speaker": message.speaker,
                "origin": message.provenance.origin,
                "trust": message.provenance.trust,
                "text": message.text,
            }
            for message in found.shown
        ],
        "exact": found.exact,
        "sha256": found.sha256,
        "request": whole_request(found),
    }


# --- for people -----------------------------------------------------------------------------------


def _picture(reader: "AgentReader", found: "PastRequest", written: str) -> None:
    """One bar for all of it, then each section with what stood in it."""
    from rich.text import Text

    from pagemind.runtime.cli.render import bar, console, visible

    out = console()
    total = sum(found.sections.values())
    when = f"{found.at.astimezone(reader.zone):%a %Y-%m-%d %H:%M:%S}"
    out.print(
        Text.assemble(
            (f"{reader.name} at {written}", "bold"),
            f" · step s{found.step} of turn {found.turn} · {when} · {found.model}",
        ),
        soft_wrap=True,
    )
    said = (
        "this is what was sent, byte for byte"
        if found.exact
        else "something of it was erased or not recorded: this is not exactly what was sent"
    )
    out.print(
        Text(f"{total:,} tokens, {found.request.max_tokens:,} for the reply; {said}"),
        soft_wrap=True,
        style="dim" if found.exact else "yellow",
    )
    for name, tokens in found.sections.items():
        if not tokens:
            continue
        out.print()
        head = Text(f"{_NAMES.get(name, name):<11}", "bold")
        head.append(f"{tokens:>8,}  ", "not bold")
        head.append(bar(tokens / max(1, total), 20).replace("░", " ").rstrip(), "dim not bold")
        out.print(head, soft_wrap=True)
        width = max(20, out.width - 2)
        for line in _contents(found, name):
            out.print(Text(f"  {_cut(visible(line), width)}"), soft_wrap=True)
    if found.finish:
        out.print()
        out.print(Text(f"the model answered: {_answer(reader, found)}"), soft_wrap=True)


def _contents(found: "PastRequest", name: str) -> Iterator[str]:
    if name == "system":
        yield from _first(found.request.system[0])
    elif name == "tools":
        yield ", ".join(tool.name for tool in found.request.tools)
    elif name == "core":
        for block in found.blocks:
            size = f"{len(block.value):,} of {block.limit:,}"
            yield f"{block.label} (version {block.version}, {size})"
            yield from (f"  {line}" for line in block.value.splitlines())
    elif name == "summary":
        yield from _first(found.summary)
    elif name == "page_table":
        yield from found.page_table.splitlines()
    elif name == "pinned":
        yield from found.pinned.splitlines()
    elif name == "queue":
        width = max((len(message.short_id) for message in found.shown), default=0)
        names = max((len(_who(message)) for message in found.shown), default=0)
        for message in found.shown:
            yield f"{message.short_id:<{width}}  {_who(message):<{names}}  {_one_line(message)}"
    else:
        yield from found.prefetch.splitlines()[1:-1]


def _first(text: str) -> Iterator[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    yield from lines[:_LINES]
    if len(lines) > _LINES:
        yield f"… {len(lines) - _LINES:,} lines more"


def _who(message: "Message") -> str:
    """The role; who spoke stands in the text, as the model read it."""
    return message.name if message.role == "tool" else message.role


def _one_line(message: "Message") -> str:
    calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    return " ".join([*message.text.split(), *calls])


def _cut(line: str, width: int) -> str:
    from rich.cells import cell_len, set_cell_size

    return line if cell_len(line) <= width else set_cell_size(line, width - 1) + "…"


def _answer(reader: "AgentReader", found: "PastRequest") -> str:
    """What came of the request."""
    state = reader.state
    row = state.database.one(
        "SELECT seq FROM messages WHERE turn = ? AND step = ? ORDER BY seq LIMIT 1",
        (found.turn, found.step),
    )
    if row is None:
        return f"nothing that was kept ({found.finish})"
    return f"m{row['seq']}: {_one_line(state.journal.get([row['seq']])[row['seq']])}"
