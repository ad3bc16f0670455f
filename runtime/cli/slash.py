"""The commands of chat: lines that begin with a slash. This file is their table.

They act on the open agent and print; what a person can get wrong is told in one line.
"""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pagemind.runtime.errors import UserError

if TYPE_CHECKING:
    from pagemind.runtime.agent import Agent
    from pagemind.runtime.cli.opening import Opening
    from pagemind.runtime.outbox import Tier


_HIT_CHARS = 240  # of a search result: /page and `pagemind memory search` show all of it


class Leave(Exception):
    """The person is done."""


@dataclass
class Scene:
    """What the commands act on. `versions` are the blocks' before the last turn."""

    opening: "Opening"
    agent: "Agent"
    versions: dict[str, int]
    retry: Callable[[], None]

    def remember(self) -> None:
        """Before a turn: which versions /undo would go back to."""
        self.versions = {block.label: block.version for block in self.agent.context.core}


def run(scene: Scene, line: str) -> None:
    """Carry out one line. Raises Leave, or a UserError for a command that is not there."""
    name, _, rest = line.strip().partition(" ")
    if name not in COMMANDS:
        close = get_close_matches(name, COMMANDS, n=1)
        nearest = f"did you mean {close[0]}?" if close else "/help lists them"
        raise UserError(
            f"there is no command {name}",
            hint=f"{nearest} (a space before the slash sends it as text)",
        )
    COMMANDS[name][0](scene, rest.strip())


def _help(scene: Scene, rest: str) -> None:
    from rich.text import Text

    from pagemind.runtime.cli.render import console

    out = console()
    for name, (_, argument, about) in COMMANDS.items():
        out.print(Text.assemble((f"{name} {argument}".ljust(18), "cyan"), about), soft_wrap=True)
    keys = "Enter sends · Alt-Enter begins a new line · Ctrl-C stops the turn · Ctrl-D leaves"
    out.print(Text(keys, "dim"), soft_wrap=True)


def _model(scene: Scene, rest: str) -> None:
    if not rest:
        print(f"{scene.agent.name} runs on {scene.agent.model.name}; /model NAME changes it")
        return
    scene.agent = scene.opening.reopen(rest)
    print(f"{scene.agent.name} runs on {scene.agent.model.name} now, and will next time")


def _blocks(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.memory_show import print_blocks

    print_blocks(list(scene.agent.context.core))


def _search(tier: "Tier", noun: str) -> Callable[[Scene, str], None]:
    def search(scene: Scene, rest: str) -> None:
        from pagemind.runtime.cli.failure import say
        from pagemind.runtime.cli.hits import print_hits
        from pagemind.runtime.cli.render import plural
        from pagemind.runtime.services import SearchFilters

        found = scene.agent.engine.search(tier, rest or None, SearchFilters(), 10)
        for warning in found.warnings:
            say(warning)
        if not found.hits:
            print(f"no match among {plural(found.searched, noun)}")
        print_hits(found.hits, scene.agent.zone, most=_HIT_CHARS)

    return search


def _pages(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.memory_pages import WHOLE, print_tree

    pages = scene.agent.state.pages
    if pages.last_number:
        print_tree(scene.agent.state, whole=pages.count() <= WHOLE)
    else:
        print("no pages yet: everything said is still in the window")


def _page(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.memory_pages import find_page, page_text
    from pagemind.runtime.cli.render import visible

    if not rest:
        raise UserError("which page?", hint="/pages lists them; /page p1 reads one")
    with scene.opening.runtime.reader(scene.agent.name) as reader:
        print(visible(page_text(reader, find_page(reader, rest))))


def _context(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.window_picture import picture

    with scene.opening.runtime.reader(scene.agent.name) as reader:
        picture(reader.inspect(), name=scene.agent.name)


def _retry(scene: Scene, rest: str) -> None:
    scene.retry()


def _undo(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.render import one_line

    agent = scene.agent
    changed = [
        block.label
        for block in agent.context.core
        if block.version > scene.versions.get(block.label, block.version)
    ]
    if not changed:
        raise UserError("the last turn noted nothing", hint="/blocks shows what is noted")
    for label in changed:
        value = agent.restore_block(label, scene.versions[label])
        last = one_line(value.splitlines()[-1]) if value else "(empty)"
        print(f"{label} is as it was before: {last}")
    scene.remember()


def _new(scene: Scene, rest: str) -> None:
    number = scene.agent.new_conversation()
    print(f"conversation {number} begins; what was said stays in memory")


def _agents(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.render import ago, plural

    now = scene.opening.runtime.clock.now()
    for info in scene.opening.runtime.agents():
        here = "  ← this one" if info.name == scene.agent.name else ""
        when = ago(info.last_active_at, now)
        print(f"{info.name}: {info.definition}, {plural(info.messages, 'message')}, {when}{here}")


def _flush(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.turn_view import paged_out

    done = scene.agent.flush()
    if not done.pages:
        print("there is nothing that could leave the window")
        return
    messages = sum(page.messages for page in done.pages)
    print(f"{paged_out([p.short_id for p in done.pages], messages)}; {done.freed:,} tokens freed")


def _quit(scene: Scene, rest: str) -> None:
    raise Leave


Command = Callable[[Scene, str], None]
COMMANDS: dict[str, tuple[Command, str, str]] = {
    "/help": (_help, "", "this list"),
    "/model": (_model, "NAME", "run on another model, now and next time"),
    "/blocks": (_blocks, "", "core memory: what the agent always sees"),
    "/recall": (_search("recall", "message"), "QUERY", "search everything that was said"),
    "/archival": (_search("archival", "passage"), "QUERY", "search the passages that were kept"),
    "/pages": (_pages, "", "the pages of what left the window"),
    "/page": (_page, "ID", "read one: /page p3"),
    "/context": (_context, "", "what fills the window"),
    "/retry": (_retry, "", "take up a turn that failed or was stopped"),
    "/undo": (_undo, "", "take back what the last turn noted in core memory (not what was said)"),
    "/new": (_new, "", "begin a new conversation"),
    "/agents": (_agents, "", "the agents of this home"),
    "/flush": (_flush, "", "page out now"),
    "/quit": (_quit, "", "leave, as Ctrl-D does"),
}
