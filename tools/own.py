"""Functions of the person's own, by import path: `tools: [mypkg.tools:lookup]`."""

from dataclasses import replace
from importlib import import_module
from inspect import iscoroutinefunction

from pydantic import PydanticUserError

from pagemind.runtime.errors import DefinitionError
from pagemind.runtime.tool import Tool, make_tool
from pagemind.runtime.tool_use import OwnTerms, ToolUse


def import_tool(use: ToolUse, source: str) -> Tool:
    """The function, with the effect that the definition or it itself declares. `source` says where
    it is named. Raises DefinitionError for what cannot be imported, or is none."""
    module, _, name = use.name.partition(":")
    hint = "is it installed, or its folder in PYTHONPATH?"
    try:
        found = getattr(import_module(module), name)
    except AttributeError:
        raise DefinitionError(f"{source}: tools: {module} has no {name!r}") from None
    except (Exception, SystemExit) as error:  # its import runs whatever it likes
        raise DefinitionError(
            f"{source}: tools: {use.name} cannot be imported: {type(error).__name__}: {error}",
            hint=hint,
        ) from error
    terms = use.terms
    assert isinstance(terms, OwnTerms)
    try:
        if not isinstance(found, Tool) and iscoroutinefunction(found):
            raise TypeError("it is async; a plain function can call asyncio.run()")
        made = found if isinstance(found, Tool) else make_tool(found)
    except (TypeError, ValueError, NameError, AttributeError, PydanticUserError) as error:
        raise DefinitionError(
            f"{source}: tools: {use.name} cannot be a function of an agent: {error}",
            hint="it needs a docstring and a type for each parameter",
        ) from error
    return replace(
        made, effect=terms.effect or made.effect, seconds=terms.seconds, foreign=True, terms=terms
    )
