"""`pagemind doctor`: looks at the home and at every agent, and says what is wrong."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pagemind.runtime.cli.doctor_mcp import of_servers
from pagemind.runtime.cli.options import AsJson, HomeFolder, Wait

if TYPE_CHECKING:
    from pagemind.runtime.audit import Verified
    from pagemind.runtime.profile import Profile
    from pagemind.runtime.reader import AgentReader
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.state.home import Registered
    from pagemind.runtime.tiers_reader import TiersReader

_LOW_DISK = 1 << 30
_WRONG = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: of an agent, of an archive, or, with neither, of the home."""

    agent: str
    check: str
    status: Literal["ok", "note", "wrong"]
    detail: str
    hint: str = ""
    archive: str = ""

    def as_json(self) -> dict[str, str | None]:
        """An item of `doctor --json`."""
        return {
            "agent": self.agent or None,
            "archive": self.archive or None,
            "check": self.check,
            "status": self.status,
            "detail": self.detail,
            "hint": self.hint,
        }


def doctor(
    deep: Annotated[
        bool, typer.Option("--deep", help="Compare everything with everything: it takes a while.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="With --deep: do what is safe, and say what it was.")
    ] = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Check the home, models, agents and archives; the exit code is 3 if something is wrong."""
    from pagemind.runtime.cli.render import listing
    from pagemind.runtime.settings import home_path

    found = list(_home(home_path(home)))
    if not any(each.status == "wrong" for each in found):
        found += _inside(home, deep or repair, repair, wait)
    well = not any(each.status == "wrong" for each in found)
    if as_json:
        listing([each.as_json() for each in found], ok=well)
    else:
        _print(found, well)
    return 0 if well else _WRONG


# --- the home -----------------------------------------------------------------------------------


def _home(path: Path) -> Iterator[Finding]:
    from pagemind.runtime.cli.render import size

    yield Finding("", "home", "ok", str(path))
    near = path
    while not near.exists():
        near = near.parent
    try:
        with tempfile.TemporaryFile(dir=near):
            yield Finding("", "writable", "ok", "yes" if near == path else "yes, not made yet")
    except OSError as error:
        yield Finding(
            "",
            "writable",
            "wrong",
            f"{near} cannot be written: {(error.strerror or str(error)).lower()}",
            "set PAGEMIND_HOME, or give --home, to a folder that can be",
        )
    free = shutil.disk_usage(near).free
    yield Finding(
        "",
        "disk",
        "ok" if free >= _LOW_DISK else "wrong",
        f"{size(free)} free",
        "" if free >= _LOW_DISK else "free some: what does not fit is refused",
    )


def _inside(home: str | None, deep: bool, repair: bool, wait: float) -> Iterator[Finding]:
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.errors import PagemindError

    try:
        with opened(home) as runtime:
            yield _database(runtime.home.database.quick_check(), "", "registry")
            yield from _models(home)
            yield from _choice(runtime)
            agents = runtime.home.all()
            yield Finding("", "agents", "ok", f"{len(agents):,}")
            yield from _awake(runtime)
            yield from _erasures(runtime)
            chains = runtime.audit.verify() if deep else []
            if deep:
                yield from _shared_blocks(runtime)
                yield from _audited(chains, "home")
                yield from _audited(chains, "receipt")
            for registered in agents:
                if repair:
                    yield from _repaired(runtime, registered.name, wait)
                yield from _agent(runtime, registered)
                if deep:
                    yield from _deep(runtime, registered.name)
                    yield from _audited(chains, "agent", registered.name)
            for archive in runtime.archives.registry.all():
                for found in _archive(runtime, archive.name):
                    yield replace(found, agent="", archive=archive.name)
                if deep:
                    yield from _deep_archive(runtime, archive.name)
                    yield from _audited(chains, "archive", archive.name)
            if deep:
                yield from _strays(runtime, repair)
    except PagemindError as error:
        yield Finding("", "registry", "wrong", error.message, error.hint)


def _awake(runtime: "Runtime") -> Iterator[Finding]:
    """What wakes agents, and whether it can; nothing where there is nothing of it."""
    from pagemind.runtime.awake.awake import lock_of
    from pagemind.runtime.cli.render import plural
    from pagemind.runtime.state.mailbox import Mailbox

    waiting, aside = Mailbox(runtime.home.database, runtime.clock).counts()
    timers, inboxes = len(runtime.schedules.of()), len(runtime.schedules.inboxes())
    if not (waiting or aside or timers or inboxes):
        return
    parts = [(timers, "timer", ""), (inboxes, "inbox", "inboxes"), (waiting, "event", "")]
    said = ", ".join(plural(count, noun, many) for count, noun, many in parts if count)
    awake = lock_of(runtime.home.path).held()
    if said:
        hint = "" if awake else "`pagemind up` keeps them awake"
        yield Finding("", "awake", "ok" if awake else "note", said, hint)
    if aside:
        yield Finding(
            "",
            "put aside",
            "note",
            f"{plural(aside, 'event')} that could not be handled",
            "`pagemind queue list` says why",
        )


def _erasures(runtime: "Runtime") -> Iterator[Finding]:
    """Those that were cut off: what they were to remove may still be there."""
    names = {each.id: each.name for each in runtime.home.all()}
    for each in runtime.home.erasures.unfinished():
        name = names.get(each.agent, "an agent that was deleted")
        yield Finding(
            names.get(each.agent, ""),
            "erasure",
            "wrong",
            f"an erasure from {name} was cut off before its step {each.state}",
            f"`pagemind memory erase {name}` finishes it",
        )


def _database(fault: str, agent: str, check: str) -> Finding:
    if not fault:
        return Finding(agent, check, "ok", "whole")
    return Finding(agent, check, "wrong", f"damaged: {fault}", "restore it from a backup")


def _models(home: str | None) -> Iterator[Finding]:
    from pagemind.runtime.models.pull import installed

    names = ", ".join(f"local/{each.name}" for each in installed(home))
    yield Finding(
        "",
        "local models",
        "ok" if names else "note",
        names or "none",
        "" if names else "`pagemind models pull` fetches one",
    )


def _choice(runtime: "Runtime") -> Iterator[Finding]:
    """What a new agent would run on."""
    from pagemind.runtime.errors import PagemindError
    from pagemind.runtime.model_choice import choose

    try:
        choice = choose(None, asked=None, stored="", home=runtime.home.path)
    except PagemindError as error:
        yield Finding("", "model", "note", error.message, "pagemind chat shows three ways on")
        return
    yield Finding("", "model", "ok", f"{choice.name} ({choice.why})")


# --- one agent ----------------------------------------------------------------------------------


def _agent(runtime: "Runtime", registered: "Registered") -> Iterator[Finding]:
    from pagemind.runtime.errors import PagemindError

    name = registered.name
    try:
        reader = runtime.reader(name)
    except (PagemindError, ValueError, KeyError) as error:
        hint = error.hint if isinstance(error, PagemindError) else "restore it from a backup"
        yield Finding(name, "openable", "wrong", str(error) or type(error).__name__, hint)
        return
    with reader:
        try:
            info = reader.info()
            yield Finding(name, "openable", "ok", "yes, in use now" if info.in_use else "yes")
            database = reader.state.database
            yield _database(database.quick_check(), name, "state database")
            version = database.number("PRAGMA user_version")
            yield Finding(name, "schema", "ok", f"version {version}")
        except PagemindError as error:
            yield Finding(name, "state database", "wrong", error.message, error.hint)
            return
        yield from _tiers(reader, in_use=info.in_use)
        if reader.shared is not None:
            missing = reader.shared.warnings()
            names = ", ".join(each.name for each in reader.definition.archives)
            yield Finding(
                name, "archives", "note" if missing else "ok", "; ".join(missing) or names
            )
        yield from _quarantine(reader)
        if profiles := reader.definition.profiles:
            yield from _profiles(reader, profiles)
        for check, status, detail, hint in of_servers(reader):
            yield Finding(name, check, status, detail, hint)
        yield from _endpoints(runtime, reader)


def _quarantine(reader: "AgentReader") -> Iterator[Finding]:
    """What waits for a person, and floods of nearly the same."""
    from pagemind.runtime.cli.render import plural
    from pagemind.runtime.floods import observed
    from pagemind.runtime.quarantine import Quarantine

    quarantine = Quarantine(reader.state)
    if many := quarantine.count():
        review = f"pagemind memory review {reader.name}"
        yield Finding(
            reader.name, "quarantine", "note", f"{plural(many, 'record')} for you to decide", review
        )
    for flood in (*quarantine.floods(), *observed(reader.state)):
        said = f"{len(flood):,} that say nearly the same: {flood[0]} … {flood[-1]}"
        hint = f"`pagemind memory review {reader.name}`, or have their source stopped"
        yield Finding(reader.name, "burst", "note", said, hint)


def _profiles(reader: "AgentReader", profiles: "Mapping[str, Profile]") -> Iterator[Finding]:
    """Whether what they hold fits their schemas."""
    from pagemind.runtime.core_memory import misfits

    wrong = misfits(reader.shared_blocks.now(reader.state.blocks.all()), profiles)
    for label, why in wrong.items():
        hint = f"pagemind memory edit {reader.name} {label}"
        yield Finding(reader.name, "profile", "note", f"{label} does not fit: {why}", hint)
    if not wrong:
        yield Finding(reader.name, "profiles", "ok", ", ".join(profiles))


def _archive(runtime: "Runtime", name: str) -> Iterator[Finding]:
    from pagemind.runtime.errors import PagemindError

    try:
        with runtime.archives.reader(name) as reader:
            in_use = reader.info().in_use
            detail = "yes, and written to now" if in_use else "yes"
            yield Finding(name, "openable", "ok", detail)
            yield _database(reader.state.database.quick_check(), name, "state database")
            yield from _tiers(reader, in_use=in_use)
    except PagemindError as error:
        yield Finding(name, "openable", "wrong", error.message, error.hint)


def _tiers(reader: "TiersReader", *, in_use: bool) -> Iterator[Finding]:
    """LanceDB: whether it can be read, and what it does not have yet."""
    from pagemind.runtime.errors import PagemindError, SchemaTooNew, UserError
    from pagemind.runtime.tiers.store import TIERS

    unwritten = reader.state.outbox.count()
    archive = reader.commands == "archives"
    when = "with its next rows" if archive else "in its next turn"
    waits = f"they go out {when}, and are found meanwhile"
    yield Finding(
        reader.name,
        "unwritten rows",
        "note" if unwritten and not in_use else "ok",
        f"{unwritten:,}",
        waits if unwritten else "",
    )
    rebuild = f"pagemind {reader.commands} rebuild {reader.name}"
    try:
        reader.store.check()
        rows = {tier: reader.store.count(tier) for tier in TIERS}
        missing = sum(reader.store.count_missing(tier) for tier in TIERS)
    except PagemindError as error:
        # Whatever became of the tables, they can be made anew; only a person's choice cannot.
        hint = error.hint if isinstance(error, UserError | SchemaTooNew) else rebuild
        yield Finding(reader.name, "LanceDB", "wrong", error.message, hint)
        return
    detail = f"{rows['recall']:,} rows of recall, {rows['archival']:,} of archival"
    if archive:
        detail = f"{rows['archival']:,} rows"
    yield Finding(reader.name, "LanceDB", "ok", detail)
    yield _indices(reader, archive=archive, in_use=in_use)
    if reader.embedder is not None:
        yield Finding(
            reader.name,
            "missing vectors",
            "note" if missing and not in_use else "ok",
            f"{missing:,}",
            f"they are made up for in its next turns; or {rebuild}" if missing else "",
        )


def _indices(reader: "TiersReader", *, archive: bool, in_use: bool) -> Finding:
    """How many there are, and how many rows they do not know yet."""
    from pagemind.runtime.cli.render import plural
    from pagemind.runtime.settings import OPTIMIZE_COMMITS, OPTIMIZE_ROWS, UPKEEP_LEAVING
    from pagemind.runtime.tiers.store import TIERS

    states = [state for tier in TIERS if (state := reader.store.state(tier)) is not None]
    indices = sum(len(state.indices) for state in states)
    fresh = max((rows for state in states for rows in state.indices.values()), default=0)
    pieces = max((state.fragments for state in states), default=0)
    overdue = fresh > UPKEEP_LEAVING * OPTIMIZE_ROWS or pieces > UPKEEP_LEAVING * OPTIMIZE_COMMITS
    hint = "it is seen to in a pause" + (
        "" if archive else f"; or pagemind memory compact {reader.name}"
    )
    return Finding(
        reader.name,
        "indices",
        "note" if overdue and not in_use else "ok",
        f"{indices:,}; {plural(fresh, 'row')} not indexed yet, in {plural(pieces, 'piece')}",
        hint if overdue else "",
    )


# --- all of it ------------------------------------------------------------------------------------


def _repaired(runtime: "Runtime", name: str, wait: float) -> Iterator[Finding]:
    """Look, and do what is safe."""
    from pagemind.runtime.cli.doctor_deep import look, mend
    from pagemind.runtime.errors import PagemindError

    try:
        for done in mend(runtime, name, look(runtime, name), wait):
            yield Finding(name, "repaired", "ok", done)
    except (PagemindError, ValueError, KeyError) as error:
        hint = error.hint if isinstance(error, PagemindError) else "restore it from a backup"
        detail = str(error) or type(error).__name__
        yield Finding(name, "repaired", "note", f"not all: {detail}", hint)


def _deep(runtime: "Runtime", name: str) -> Iterator[Finding]:
    from pagemind.runtime.cli.doctor_deep import look
    from pagemind.runtime.errors import PagemindError

    try:
        found = look(runtime, name)
    except (PagemindError, ValueError, KeyError):
        return  # `openable` says it
    if not any(each.status == "wrong" for each in found):
        yield Finding(name, "invariants", "ok", "all hold")
    hints = {
        "": "restore the agent from a backup",
        "open": "its next turn mends it; or pagemind doctor --repair",
        "rebuild": f"pagemind memory rebuild {name}; or pagemind doctor --repair",
        "directories": "pagemind doctor --deep --repair",
        "records": "pagemind doctor --deep --repair",
    }
    for each in found:
        hint = each.hint or hints[each.repair]
        yield Finding(name, each.check, each.status, each.detail, hint)


def _deep_archive(runtime: "Runtime", name: str) -> Iterator[Finding]:
    from pagemind.runtime.cli.doctor_deep import look_at_archive
    from pagemind.runtime.errors import PagemindError

    try:
        found = look_at_archive(runtime, name)
    except (PagemindError, ValueError, KeyError):
        return  # `openable` says it
    if not any(each.status == "wrong" for each in found):
        yield Finding("", "invariants", "ok", "all hold", archive=name)
    rebuild = f"pagemind archives rebuild {name}"
    for each in found:
        hint = rebuild if each.repair == "rebuild" else "restore the archive from a backup"
        if each.status == "note":
            hint = "it mends itself when something is written next"
        yield Finding("", each.check, each.status, each.detail, each.hint or hint, archive=name)


def _shared_blocks(runtime: "Runtime") -> Iterator[Finding]:
    from pagemind.runtime.cli.doctor_deep import look_at_shared_blocks

    found = look_at_shared_blocks(runtime)
    for each in found:
        yield Finding("", each.check, each.status, each.detail, "restore home.db from a backup")
    blocks = len(runtime.shared_blocks.all())
    if blocks and not found:
        yield Finding("", "shared blocks", "ok", f"{blocks:,}, all versions there")


def _audited(chains: "Sequence[Verified]", kind: str, name: str = "") -> Iterator[Finding]:
    """What was found of the audit log of one of them, or of the receipts of erasures."""
    for each in chains:
        if each.kind != kind or name not in ("", each.name) or not each.read:
            continue  # of what cannot be read `openable` says so
        row = f"row {each.row:,}: " if each.row else ""
        row = f"{each.name}: " if each.kind == "receipt" else row
        yield Finding(
            each.name if each.kind == "agent" else "",
            "receipt" if each.kind == "receipt" else "audit log",
            "wrong" if each.fault else "ok",
            f"{row}{each.fault}" if each.fault else _whole(each),
            "pagemind audit show; restore what was tampered with from a backup"
            if each.fault
            else "",
            archive=each.name if each.kind == "archive" else "",
        )


def _whole(each: "Verified") -> str:
    if each.kind == "receipt":
        return each.name
    return f"whole, {each.rows:,} row{'s' if each.rows != 1 else ''}"


def _strays(runtime: "Runtime", repair: bool) -> Iterator[Finding]:
    """What lies beside the agents."""
    from pagemind.runtime.cli.doctor_deep import strays

    found = strays(runtime)
    if repair and any(each.repair for each in found):
        runtime.home.sweep()
        yield Finding("", "repaired", "ok", "abandoned folders removed")
        found = strays(runtime)
    hints = {
        "abandoned folders": "doctor --repair removes them; so does the next `agents new`",
        "foreign files": "they are not pagemind's, and are left alone",
        "unknown agents": "restore home.db from a backup, or move them elsewhere",
    }
    for each in found:
        yield Finding("", each.check, each.status, each.detail, hints[each.check])


def _endpoints(runtime: "Runtime", reader: "AgentReader") -> Iterator[Finding]:
    """Who receives what is said."""
    from pagemind.runtime.errors import PagemindError

    try:
        choice = runtime.choose_model(reader.name)
    except PagemindError as error:
        yield Finding(reader.name, "model", "note", error.message, "--model NAME chooses one")
    else:
        spec = reader.definition.model
        key = choice.api_key_env or (spec.api_key_env if spec else None)
        where = "this process" if _stays_here(choice.name) else choice.api_base or "its provider"
        unset = key is not None and key not in os.environ
        yield Finding(
            reader.name,
            "model",
            "wrong" if unset else "ok",
            f"{choice.name} ({choice.why}); data goes to {where}",
            f"export {key}=…" if unset else "",
        )
    name = reader.definition.embedding
    where = "this process" if _stays_here(name) or name == "none" else "its provider"
    yield Finding(reader.name, "embedding", "ok", f"{name}; data goes to {where}")


def _stays_here(name: str) -> bool:
    return name.startswith(("local/", "scripted/"))


def _print(found: list[Finding], well: bool) -> None:
    from rich.text import Text

    from pagemind.runtime.cli.render import console, plural, visible

    out = console()
    marks = {"ok": ("✓", "green"), "note": ("•", "yellow"), "wrong": ("✗", "bold red")}
    agent = ""
    for each in found:
        of = each.agent or (f"archive {each.archive}" if each.archive else "")
        if of != agent:
            agent = of
            out.print(Text.assemble("\n", (agent, "bold")))
        line = Text.assemble(marks[each.status], " ", (f"{each.check:<16}", "dim"))
        line.append(visible(each.detail))
        out.print(line, soft_wrap=True)
        if each.hint:
            out.print(Text(f"  {'':<16}{each.hint}", "dim"), soft_wrap=True)
    wrong = sum(each.status == "wrong" for each in found)
    out.print()
    if well:
        out.print(Text("all is well", "green"))
    else:
        out.print(Text(f"{plural(wrong, 'thing')} wrong", "bold red"))
