"""docs/tools.md is true: every option with its default, every limit, every function."""

import re
from pathlib import Path

import pytest

from pagemind.runtime import settings
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.function_names import WORK
from pagemind.runtime.tool_use import (
    FilesTerms,
    HttpTerms,
    OwnTerms,
    PythonTerms,
    ShellTerms,
    Terms,
)

DOC = (Path(__file__).resolve().parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")
_ROW = re.compile(r"^\| `(\w+)` \| (\S+) \| .+ \|$", re.MULTILINE)
KINDS: dict[str, type[Terms]] = {
    "## Consent and rules": Terms,
    "### files": FilesTerms,
    "### http_get": HttpTerms,
    "### python": PythonTerms,
    "### shell": ShellTerms,
    "### Your own": OwnTerms,
}
_MB = 1 << 20
LIMITS = {
    "a call, where nothing else is said": f"{settings.TOOL_SECONDS:g} s",
    "one result; a larger one is refused": f"{settings.TOOL_MEGABYTES} MB",
    "a text file that is read, searched or edited": f"{settings.FILE_BYTES // _MB} MB",
    "a document": f"{settings.DOCUMENT_BYTES // _MB} MB",
    "files that a listing shows": f"{settings.FILES_LISTED:,}",
    "names that a listing or search looks at": f"{settings.FILES_WALKED:,}",
    "lines that a search shows": f"{settings.GREP_MATCHES:,}",
    "characters of such a line": f"{settings.GREP_LINE_CHARS:,}",
    "a search": f"{settings.GREP_SECONDS:g} s",
    "what a process prints": f"{settings.PROCESS_OUTPUT_BYTES // _MB} MB",
    "one file that Python code writes": f"{settings.PROCESS_FILE_BYTES // _MB} MB",
    "processes and threads that Python code starts": f"{settings.PROCESS_TASKS}",
}


def section(title: str) -> str:
    """The text below a heading, up to the next one."""
    return re.split(r"^##+ ", DOC.partition(f"\n{title}\n")[2], flags=re.MULTILINE)[0]


def shown(value: object) -> str:
    """A default as the page has it."""
    if value is None or value == ():
        return "none"
    if isinstance(value, bool):
        return f"`{value}`".lower()
    return f"`{value}`" if isinstance(value, str) else f"{value:g}"


@pytest.mark.parametrize("title", KINDS)
def test_every_option_stands_there_with_its_default(title: str) -> None:
    """And no other."""
    kind = KINDS[title]
    common = {} if kind is Terms else Terms.model_fields
    own = {
        name: shown(field.default)
        for name, field in kind.model_fields.items()
        if name not in common
    }
    assert dict(_ROW.findall(section(title))) == own


def test_every_limit_stands_there() -> None:
    """As settings.py has it."""
    rows = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", section("## Limits"), re.MULTILINE))
    del rows["limit"]
    assert rows == LIMITS


def test_every_function_stands_there() -> None:
    """By its name."""
    for functions in WORK.values():
        for name in functions:
            assert f"`{name}`" in DOC or f"### {name}" in DOC


def test_the_definition_of_the_page_is_one() -> None:
    """What it shows can be copied."""
    (text,) = re.findall(r"```yaml\n(.*?)```", DOC, re.DOTALL)
    uses = {use.name: use.terms for use in parse_definition(text).uses}
    assert uses["mypkg.tools:lookup"].at_most == 3
    assert uses["shell"].rule == "ask"
    assert "write_file" in uses
