"""The command by which a person says how far something is trusted."""

from pagemind.runtime.cli.commands.command import Command, Scene


def _trust(scene: Scene, rest: str) -> None:
    """What it says is shown first, to the letter."""
    from pagemind.runtime.cli.memory_trust import show, told

    *ids, last = rest.split()
    distrust = last == "--distrust"
    found = scene.agent.trusting.find(ids if distrust else [*ids, last], distrust=distrust)
    wanted = [each for each in found if each.was != each.now]
    if not wanted:
        print("nothing to change: it is trusted so already")
        return
    show(wanted)
    answer = scene.ask(f"{'distrust' if distrust else 'trust'} this? y/N: ").strip().lower()
    if answer not in ("y", "yes"):
        print("nothing was changed")
        return
    told(scene.agent.trusted(wanted), wanted)


COMMANDS = (
    Command(
        "/trust",
        "IDS",
        "believe m42, p17, a7, block:human; no more: --distrust",
        _trust,
    ),
)
