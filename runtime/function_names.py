"""Which functions a definition may name: the groups and what is in each.

Definitions are read long before any tool is imported, so the names stand here; a test holds this
table against the functions in tools/.
"""

from collections.abc import Iterable, Mapping

# The agent's own memory: what a definition that says nothing about `tools` has.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "core": ("core_append", "core_edit", "core_rewrite", "core_set"),
    "recall": ("recall_search",),
    "archival": ("archival_insert", "archival_search", "archival_edit", "archival_delete"),
    "pages": ("page_in", "page_find", "page_pin", "page_unpin"),
    "clock": ("clock_now",),
}
# What reaches beyond it: an agent has of these what its definition names. A group of one function
# is called like it.
WORK: Mapping[str, tuple[str, ...]] = {
    "files": (
        "read_file",
        "list_files",
        "grep_files",
        "read_document",
        "write_file",
        "edit_file",
    ),
    "archives": ("archive_insert", "archive_edit", "archive_delete"),
    "agents": ("list_agents", "send_message_to", "send_message_to_all"),
    "store": ("store_put", "store_get", "store_search", "store_delete", "store_list"),
    "http_get": ("http_get",),
    "python": ("python",),
    "shell": ("shell",),
    "ask_user": ("ask_user",),
    "facts": ("fact_add", "fact_close", "fact_search", "fact_history"),
    "episodes": ("episode_search",),
    "skills": ("skill_save", "skill_search", "skill_run"),
    "timers": ("schedule", "cancel_schedule", "schedules_list"),
}
ALL_GROUPS: Mapping[str, tuple[str, ...]] = {**GROUPS, **WORK}
# Groups whose functions answer with what the agent holds anyway: nothing new comes in by them.
INWARD = frozenset({*GROUPS, "archives", "timers", "facts", "episodes", "skills", "store"})
# Functions of WORK whose results only repeat what stands in memory: they are not found again.
ECHOES: tuple[str, ...] = tuple(
    name for group in ("facts", "episodes", "store") for name in WORK.get(group, ())
)
# Memory that acts by itself later: a tainted step cannot write it, whoever would be asked.
STANDING = frozenset((*GROUPS["core"], *WORK["timers"], "page_pin")) - {"schedules_list"}
MCP = "mcp"  # the entry that names servers: their functions are known once they have said them
BETWEEN = "__"  # a server's name and that of its tool
WRITING = ("write_file", "edit_file")  # of the group files, where its option `write` allows it


def tells_new(function: str) -> bool:
    """Whether a function's answer may hold what the agent was never told before."""
    return not any(
        function in functions for group, functions in ALL_GROUPS.items() if group in INWARD
    )


def names(groups: Mapping[str, tuple[str, ...]] = GROUPS) -> tuple[str, ...]:
    """Every name that may stand under `tools`: groups first, then functions."""
    functions = (name for functions in groups.values() for name in functions)
    return tuple(dict.fromkeys((*groups, *functions)))


def expand(
    chosen: Iterable[str], groups: Mapping[str, tuple[str, ...]] = GROUPS
) -> tuple[str, ...]:
    """The functions of these groups and names, each once, in the order of the table.

    The order does not depend on how they were written, so that the prompt's prefix is stable.
    Every name must be in `names(groups)`.
    """
    wanted = set(chosen)
    return tuple(
        name
        for group, functions in groups.items()
        for name in functions
        if group in wanted or name in wanted
    )
