"""`pagemind inspect`: the window of an agent, section by section, the exact request, and a page of
all that it remembers."""

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder

if TYPE_CHECKING:
    from pagemind.runtime.model import ModelRequest
    from pagemind.runtime.reader import AgentReader


def inspect(
    agent: AgentName,
    request: Annotated[
        bool, typer.Option("--request", help="Print the exact request of the next call.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write all of it to one page for a browser, which needs no network.",
        ),
    ] = None,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Show what fills an agent's window; works while another process runs it."""
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.cli.window_picture import picture

    with opened(home) as runtime, runtime.reader(agent) as reader:
        page = _write_page(reader, html) if html is not None else None
        inspection = reader.inspect()
        asked = reader.request() if request else None
    if as_json:
        body = inspection.as_json()
        if asked is not None:
            body["request"] = _request_json(asked)
        if page is not None:
            body["html"] = page
        answer(body)
    elif page is not None:
        _tell_page(page)
    elif asked is not None:
        print_request(asked)
    else:
        picture(inspection, name=agent)


def _write_page(reader: "AgentReader", path: Path) -> dict[str, Any]:
    """Where the page is, how large, and what stands in it. A page that is there is replaced once
    the new one is whole."""
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.inspector.page import write_page

    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as file:
            counts = write_page(file.write, reader)
        unfinished.replace(path)
        size = path.stat().st_size
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror or error}",
            hint="name a file in a folder that is there, such as ada.html",
        ) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return {
        "path": str(path),
        "bytes": size,
        **{name: counts[name] for name in ("messages", "turns", "pages", "passages")},
    }


def _tell_page(page: dict[str, Any]) -> None:
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import plural, size

    print(page["path"])
    say(
        f"{size(page['bytes'])}: {plural(page['turns'], 'turn')},"
        f" {plural(page['messages'], 'message')}, {plural(page['passages'], 'passage')};"
        " open it in a browser, and mind who else may read it"
    )


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
