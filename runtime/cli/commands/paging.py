"""Commands about what left the window: the tree of pages, pins, paging out now."""

from pagemind.runtime.cli.commands.command import Command, Scene


def _pages(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.memory_pages import WHOLE, print_tree
    from pagemind.runtime.cli.render import visible
    from pagemind.runtime.memory_answers import find_page, page_text
    from pagemind.runtime.page_reader import entry

    pages = scene.agent.state.pages
    if not pages.last_number:
        print("no pages yet: everything said is still in the window")
    elif not rest:
        print_tree(scene.agent.state, whole=pages.count() <= WHOLE)
    else:
        with scene.opening.runtime.reader(scene.agent.name) as reader:
            one = find_page(reader, rest)
            print(visible(page_text(reader, one) if one.level else entry(one)))


def _page(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.render import visible
    from pagemind.runtime.memory_answers import find_page, page_text

    with scene.opening.runtime.reader(scene.agent.name) as reader:
        print(visible(page_text(reader, find_page(reader, rest))))


def _pin(scene: Scene, rest: str) -> None:
    made = scene.agent.pin(rest)
    already = "" if made.changed else " already"
    print(f"{made.target} is pinned{already}: {made.tokens:,} tokens, from the next flush on")


def _unpin(scene: Scene, rest: str) -> None:
    gone = scene.agent.unpin(rest)
    print(f"{gone.target} is not pinned any more; it leaves the window at the next flush")


def _flush(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.turn_view import paged_out

    done = scene.agent.flush()
    if not done.pages:
        print("there is nothing that could leave the window")
        return
    messages = sum(page.messages for page in done.pages)
    freed = f"; {done.freed:,} tokens freed" if done.freed > 0 else ""
    print(paged_out([p.short_id for p in done.pages], messages) + freed)


def _warn(scene: Scene, rest: str) -> None:
    percent = scene.agent.warn()
    print(f"the agent is told that its window is {percent} % full")


COMMANDS = (
    Command("/pages", "[ID]", "the tree of what left the window, or a directory", _pages, "page"),
    Command("/page", "ID", "read one: /page p3", _page, "page"),
    Command("/pin", "ID", "keep a message or page in view", _pin, "pinnable"),
    Command("/unpin", "ID", "let it go again", _unpin, "pin"),
    Command("/flush", "", "page out now", _flush),
    Command("/warn", "", "tell the agent now that its window fills", _warn),
)
