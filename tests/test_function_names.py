"""The names that definitions may use are those of the functions that exist."""

import pkgutil
from importlib import import_module

from pagemind.runtime.function_names import ALL_GROUPS, GROUPS, expand, names
from pagemind.runtime.tool import Tool


def test_the_table_names_exactly_the_functions_that_exist() -> None:
    """Every function in tools/ stands in one group, and no name is left without a function.

    send_message is the one exception: the protocol adds it, a definition does not.
    """
    package = import_module("pagemind.tools")
    modules = [
        import_module(f"pagemind.tools.{m.name}") for m in pkgutil.iter_modules(package.__path__)
    ]
    found = {v.name for module in modules for v in vars(module).values() if isinstance(v, Tool)}
    assert found - {"send_message"} == {name for group in ALL_GROUPS.values() for name in group}


def test_no_function_stands_in_two_groups() -> None:
    """A function is in one group, and no group is called like a function."""
    assert len(names()) == len(set(names()))


def test_a_group_and_one_of_its_functions_make_it_once() -> None:
    """The order is that of the table, whatever was written first."""
    assert expand(["archival_search", "core", "core_edit"]) == (*GROUPS["core"], "archival_search")
