"""The functions the model calls; this file is the table.

To add one: a function with `@tool` in a file of its own, a line here, a test. Groups are what a
definition's `tools:` may name.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from pagemind.runtime.errors import DefinitionError
from pagemind.runtime.tool import Tool
from pagemind.tools.agents import list_agents, send_message_to, send_message_to_all
from pagemind.tools.archival import (
    archival_delete,
    archival_edit,
    archival_insert,
    archival_search,
)
from pagemind.tools.archives import archive_delete, archive_edit, archive_insert
from pagemind.tools.ask_user import ask_user
from pagemind.tools.clock import clock_now
from pagemind.tools.core import core_append, core_edit, core_rewrite, core_set, for_profiles
from pagemind.tools.documents import read_document
from pagemind.tools.episodes import episode_search
from pagemind.tools.facts import fact_add, fact_close, fact_history, fact_search
from pagemind.tools.files import edit_file, grep_files, list_files, read_file, write_file
from pagemind.tools.fitted import fitted
from pagemind.tools.pages import page_find, page_in, page_pin, page_unpin
from pagemind.tools.python import python
from pagemind.tools.recall import recall_search
from pagemind.tools.shell import shell
from pagemind.tools.skills import skill_run, skill_save, skill_search
from pagemind.tools.speech import send_message
from pagemind.tools.store import (
    store_delete,
    store_get,
    store_list,
    store_put,
    store_search,
)
from pagemind.tools.timers import cancel_schedule, schedule, schedules_list
from pagemind.tools.web import http_get

if TYPE_CHECKING:
    from pagemind.runtime.definition import AgentDefinition

GROUPS: dict[str, tuple[Tool, ...]] = {
    "core": (core_append, core_edit, core_rewrite, core_set),
    "recall": (recall_search,),
    "archival": (archival_insert, archival_search, archival_edit, archival_delete),
    "pages": (page_in, page_find, page_pin, page_unpin),
    "clock": (clock_now,),
    "files": (read_file, list_files, grep_files, read_document, write_file, edit_file),
    "archives": (archive_insert, archive_edit, archive_delete),
    "agents": (list_agents, send_message_to, send_message_to_all),
    "store": (store_put, store_get, store_search, store_delete, store_list),
    "http_get": (http_get,),
    "python": (python,),
    "shell": (shell,),
    "ask_user": (ask_user,),
    "facts": (fact_add, fact_close, fact_search, fact_history),
    "episodes": (episode_search,),
    "skills": (skill_save, skill_search, skill_run),
    "timers": (schedule, cancel_schedule, schedules_list),
}

__all__ = ["GROUPS", "find", "of_definition", "send_message"]


def find(names: Iterable[str]) -> list[Tool]:
    """The tools of groups and single functions, once each, in the order of this table.

    Raises KeyError for a name that is neither.
    """
    every = {tool.name: tool for tools in GROUPS.values() for tool in tools}
    wanted: set[str] = set()
    for name in names:
        wanted.update(t.name for t in GROUPS[name]) if name in GROUPS else wanted.add(
            every[name].name
        )
    return [tool for tool in every.values() if tool.name in wanted]


def of_definition(definition: "AgentDefinition") -> list[Tool]:
    """The functions of a definition with their terms: those of the table, then the person's own.
    Raises DefinitionError for one of these that cannot be imported."""
    from pagemind.tools.own import import_tool

    every = {tool.name: tool for tools in GROUPS.values() for tool in tools}
    found: dict[str, Tool] = {}
    for use in definition.uses:
        where = definition.where(use.name)
        made = import_tool(use, where) if use.own else replace(every[use.name], terms=use.terms)
        if made.name == core_set.name:
            made = for_profiles(made, definition.profiles)
        made = fitted(made, definition)
        if made.name in found:
            raise DefinitionError(
                f"{where}: tools: {use.name}: there is a function {made.name} already",
                hint="give one of them another name",
            )
        found[made.name] = made
    return list(found.values())
