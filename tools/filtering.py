"""What search functions take, as checked filters for the services."""

from typing import Any

from pagemind.runtime.errors import BadArguments, BadFilter
from pagemind.runtime.filters import filters_of
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.tool import ToolContext


def filters(ctx: ToolContext, **given: Any) -> SearchFilters:
    """The filters of a call. What a weak model fills in for "everything" is no restriction.
    Raises BadArguments."""
    try:
        return filters_of(given, ctx.now())
    except BadFilter as refused:
        raise BadArguments(refused.message) from None
