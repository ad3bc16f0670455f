"""An agent's own instructions: the part of `system` that is its maker's text, as it is stored.

Prompts that ship are not its own: they follow the installed version. An agent that has only these
gets a part of its own after them. What is written here is what `agents update` would write: the
stored definition; it holds from the next time that the agent is opened.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.acceptance import IMPORTED, accept, accepted
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.errors import PagemindError, TemplateError, UserError
from pagemind.runtime.patch import DoesNotApply, hunks_of, patched
from pagemind.runtime.settings import PROMPT_CHARS, PROMPT_DIFF_LINES, PROMPT_GROWTH_CHARS
from pagemind.runtime.state.database import Database
from pagemind.runtime.template import load

TARGET = "system"  # of changes
_VARIABLE = re.compile(r"\$\{[^}]*\}?|\{\{[^}]*\}?\}?")


@dataclass(frozen=True, slots=True)
class Own:
    """The text, and where it stands: at which place of `system` (None: it is not there yet), and
    under which path, where it was given by one."""

    text: str
    at: int | None
    path: str | None = None


def own_of(database: Database) -> Own:
    """Of a stored agent."""
    stored = json.loads(database.meta("definition"))
    parts = _parts(stored)
    for at in range(len(parts) - 1, -1, -1):
        if parts[at] in stored["prompts"]:
            return Own(stored["prompts"][parts[at]], at, parts[at])
        if any(character.isspace() for character in parts[at].strip()):
            return Own(parts[at].strip("\n"), at)
    return Own("", None)


def checked(own: Own, diff: str) -> str:
    """The text as a proposed diff makes it. Raises DoesNotApply for one that does not fit, is not
    small, or brings in a variable."""
    changed = sum(hunk.changed for hunk in hunks_of(diff))
    if changed > PROMPT_DIFF_LINES:
        raise DoesNotApply(
            f"it changes {changed} lines, and a minimal change at most {PROMPT_DIFF_LINES}"
        )
    after = patched(own.text, diff).strip("\n")
    if len(after) - len(own.text) > PROMPT_GROWTH_CHARS:
        raise DoesNotApply(
            f"it adds {len(after) - len(own.text):,} characters; at most {PROMPT_GROWTH_CHARS:,}"
        )
    if len(after) > max(PROMPT_CHARS, len(own.text)):
        raise DoesNotApply(
            f"the instructions would have {len(after):,} characters; at most {PROMPT_CHARS:,}"
        )
    if after == own.text.strip("\n"):
        raise DoesNotApply("the diff changes nothing")
    if not any(character.isspace() for character in after.strip()):
        raise DoesNotApply("it leaves nothing that could be instructions")
    if new := set(_VARIABLE.findall(after)) - set(_VARIABLE.findall(own.text)):
        raise DoesNotApply(f"it brings in a variable: {min(new)[:40]}")
    return after


def write(database: Database, own: Own, text: str) -> None:
    """Store it in the place of the agent's own part; within a transaction. Raises DefinitionError
    where that is no definition."""
    stored = json.loads(database.meta("definition"))
    parts = _parts(stored)
    if own.path is not None:
        stored["prompts"][own.path] = text
    elif own.at is not None:
        parts[own.at] = text
        stored["definition"]["system"] = parts
    else:
        shipped = parts or ["guided" if database.meta("protocol") == "guided" else "memgpt"]
        stored["definition"]["system"] = [*shipped, text]
    made = json.dumps(stored, ensure_ascii=False)
    definition = AgentDefinition.from_json(made)
    known = accepted(database)
    database.set_meta("definition", made)
    if known and database.meta(IMPORTED):  # what it may reach is what it was
        accept(database, definition.folder)


def _parts(stored: dict[str, Any]) -> list[str]:
    written = stored["definition"].get("system") or []
    return [written] if isinstance(written, str) else [str(each) for each in written]


def shipped_of(database: Database) -> str:
    """What stands before its own: for who words a change, to read and not to repeat."""
    stored = json.loads(database.meta("definition"))
    own = own_of(database)
    texts = []
    for at, part in enumerate(_parts(stored)):
        if at != own.at and part not in stored["prompts"]:
            try:
                texts.append(load(part).text)
            except TemplateError:
                texts.append(part)
    return "\n\n".join(texts)


def replaced(database: Database, before: str, after: str, *, what: str) -> None:
    """Put one text in the place of another. Raises UserError where the agent has another one by
    now, or the definition cannot be read here."""
    own = own_of(database)
    if own.text.strip("\n") != before.strip("\n"):
        raise UserError(f"the instructions have changed since {what}", hint="look at them anew")
    try:
        write(database, own, after)
    except PagemindError as error:
        raise UserError(f"{what} cannot be made: {error.message}", hint=error.hint) from None
