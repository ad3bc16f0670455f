"""The classes behind every command: what `--help` looks like, and what it does not load.

The plain formatter is used on purpose: typer's rich one loads a Markdown parser, which doubles the
time that help takes. So would its validator, which typer asks about options that nobody gave.
"""

from typing import Any

from typer.core import TyperCommand, TyperGroup


def _example(epilog: str | None, formatter: Any) -> None:
    if not epilog:
        return
    with formatter.section("Example"):
        for line in epilog.splitlines():
            formatter.write(" " * formatter.current_indent + line + "\n")


class _Quick:
    """Takes what needs no checking as it is: defaults, texts, nothing. The rest is typer's."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value as the function takes it; as typer's RuntimeParam."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        text = isinstance(value, str) and param.type_descriptor.annotation is str
        if text or value is param.default:
            return value
        param._runtime_param = None  # makes typer build its own
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _quickened(parameters: Any) -> Any:
    for parameter in parameters:
        # Older typers have no such attribute, and convert without a validator.
        if getattr(parameter, "_runtime_param", ...) is None:
            parameter._runtime_param = _Quick()
    return parameters


class Command(TyperCommand):
    """A command whose epilog is an example, kept to the letter."""

    def get_params(self, ctx: Any) -> Any:
        return _quickened(super().get_params(ctx))

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        _example(self.epilog, formatter)


class Group(TyperGroup):
    """A group that lists its commands in the order and the sections of the table.

    Switches of the whole program may also stand after the verb: `pagemind chat ada -v`.
    """

    def get_params(self, ctx: Any) -> Any:
        return _quickened(super().get_params(ctx))

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
