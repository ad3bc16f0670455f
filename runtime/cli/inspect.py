"""`pagemind inspect`: the window of an agent, section by section, the exact request, how far what
stands in it is trusted, and a page of all that it remembers."""

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
    trust: Annotated[
        bool,
        typer.Option(
            "--trust", help="Show its rules of trust, and what of the window is untrusted."
        ),
    ] = False,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Show what fills an agent's window; works while another process runs it."""
    from pagemind.runtime.cli import trust_picture
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.cli.window_picture import picture
    from pagemind.runtime.request_json import request_json

    with opened(home) as runtime, runtime.reader(agent) as reader:
        if html is not None:
            runtime.home.made_files.note(reader.registered.id, html, "page")
        page = _write_page(reader, html) if html is not None else None
        inspection = reader.inspect()
        asked = reader.request() if request else None
        trusted = reader.trust_view() if trust else None
    if trusted is not None and as_json:
        answer(trusted.as_json())
    elif trusted is not None:
        trust_picture.picture(trusted, name=agent)
    elif as_json:
        body = inspection.as_json()
        if asked is not None:
            body["request"] = request_json(asked)
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


def print_request(request: "ModelRequest") -> None:
    """Texts as they are sent, under a line that says what each is."""
    from pagemind.runtime.cli.render import visible
    from pagemind.runtime.request_json import request_lines

    for piece in request_lines(request):
        print(visible(piece))
