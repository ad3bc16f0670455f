"""Core memory functions: core_append, core_edit, core_rewrite."""

from pagemind.runtime.tool import ToolContext, tool


@tool(effect="memory")
def core_append(ctx: ToolContext, block: str, content: str) -> str:
    """Add a line to a core memory block, which you always see.

    Args:
        block: The block's label.
        content: One short fact, with names and dates.
    """
    value = ctx.core.append(block, content)
    return f"{block} is now:\n{value}"


@tool(effect="memory")
def core_edit(ctx: ToolContext, block: str, old_text: str, new_text: str) -> str:
    """Replace one exact piece of text in a core memory block, for example when a fact changed.

    Args:
        block: The block's label.
        old_text: Text that occurs exactly once in the block.
        new_text: What stands there instead; empty to delete it.
    """
    value = ctx.core.edit(block, old_text, new_text)
    return f"{block} is now:\n{value}"


@tool(effect="memory")
def core_rewrite(ctx: ToolContext, block: str, content: str) -> str:
    """Replace the whole text of a core memory block, for example to tidy a full one.

    Args:
        block: The block's label.
        content: The complete new text; the old one is kept as history.
    """
    value = ctx.core.rewrite(block, content)
    if not ctx.core.shows_edits:  # until the next flush it stands here alone
        return f"{block} is now:\n{value}"
    return f"{block} is rewritten ({len(content)} characters)"
