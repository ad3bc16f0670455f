"""`pagemind inspect`: the window of an agent, section by section, and the exact request."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder

if TYPE_CHECKING:
    from pagemind.runtime.model import ModelRequest


def inspect(
    agent: AgentName,
    request: Annotated[
        bool, typer.Option("--request", help="Print the exact request of the next call.")
    ] = False,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Show what fills an agent's window; works while another process runs it."""
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.cli.window_picture import picture

    with opened(home) as runtime, runtime.reader(agent) as reader:
        inspection = reader.inspect()
        asked = reader.request() if request else None
    if as_json:
        body = inspection.as_json()
        answer({**body, "request": _request_json(asked)} if asked is not None else body)
    elif asked is not None:
        print_request(asked)
    else:
        picture(inspection, name=agent)


def _request_json(request: "ModelRequest") -> dict[str, Any]:
    return {
        "system": list(request.system),
        "messages": [
            {
                "id": message.short_id if message.seq else None,
                "role": message.role,
                "kind": message.kind,
                "speaker": message.speaker,
                "text": message.text,
                "tool_calls": [
                    {"id": call.id, "name": call.name, "arguments": call.parsed()}
                    for call in message.tool_calls
                ],
                "tool_call_id": message.tool_call_id or None,
            }
            for message in request.messages
        ],
        "tools": [
            {"name": t.name, "description": t.description, "parameters": t.parameters}
            for t in request.tools
        ],
        "max_tokens": request.max_tokens,
    }


def print_request(request: "ModelRequest") -> None:
    """Texts as they are sent, under a line that says what each is."""
    from pagemind.runtime.cli.render import visible

    for number, text in enumerate(request.system, 1):
        print(f"--- system, part {number}\n{visible(text)}\n")
    for message in request.messages:
        name = f" {message.short_id}" if message.seq else ""
        print(f"--- {message.role}{name}")
        if message.text:
            print(visible(message.text))
        for call in message.tool_calls:
            print(visible(f"[call {call.id}] {call.name}({call.arguments})"))
        print()
    for tool in request.tools:
        schema = json.dumps(tool.parameters, ensure_ascii=False)
        print(f"--- function {tool.name}\n{tool.description}\n{schema}\n")
    print(f"--- at most {request.max_tokens:,} tokens of reply")
