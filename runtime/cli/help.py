"""What `--help` looks like: commands in sections, an example under each.

The plain formatter is used on purpose: typer's rich one loads a Markdown parser, which doubles the
time that help takes.
"""

from typing import Any

from typer.core import TyperCommand, TyperGroup


def _example(epilog: str | None, formatter: Any) -> None:
    if not epilog:
        return
    with formatter.section("Example"):
        for line in epilog.splitlines():
            formatter.write(" " * formatter.current_indent + line + "\n")


class Command(TyperCommand):
    """A command whose epilog is an example, kept to the letter."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        _example(self.epilog, formatter)


class Group(TyperGroup):
    """A group that lists its commands in the order and the sections of the table.

    Switches of the whole program may also stand after the verb: `pagemind chat ada -v`.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        width = max(len(name) for name in self.commands)
        for name, command in self.commands.items():
            about = _first_sentence(command.help or "")
            section = getattr(command, "rich_help_panel", None) or "Commands"
            sections.setdefault(section, []).append((name.ljust(width), about))
        for section, rows in sections.items():
            with formatter.section(section):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        _example(self.epilog, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if ctx.parent else hoisted(args))


def _first_sentence(text: str) -> str:
    """Whole, where the library would cut it: the formatter wraps it."""
    first = " ".join(text.split("\n\n")[0].split())
    return first.partition(". ")[0].removesuffix(".")


def hoisted(arguments: list[str]) -> list[str]:
    """The arguments with the program's own switches first. What follows `--` is nobody's switch."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    first: list[str] = []
    rest: list[str] = []
    at = 0
    while at < end:
        word = arguments[at]
        if word in ("-v", "-vv", "--verbose") or word.startswith("--log-file="):
            first.append(word)
        elif word == "--log-file" and at + 1 < end:
            first += arguments[at : at + 2]
            at += 1
        else:
            rest.append(word)
        at += 1
    return [*first, *rest, *arguments[end:]]
