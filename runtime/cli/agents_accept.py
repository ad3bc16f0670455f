"""`pagemind agents accept`: open what an imported agent's definition reaches, once it was seen."""

from pagemind.runtime.cli.options import AgentName, AsJson, DryRun, HomeFolder, Wait, Yes


def accept(
    agent: AgentName,
    dry_run: DryRun = False,
    yes: Yes = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Let an imported agent use all that its definition names: show it, ask, and open it.

    Until then it has its memory, and nothing beyond. Relative folders begin where this is run.
    """
    from pagemind.runtime.cli.consent_view import exact
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import confirmed, opened

    with opened(home) as runtime:
        name = runtime.home.find(agent).name
        reach = runtime.accept(name, apply=False)
        if not as_json:
            for line in reach or ["reach nothing beyond its memory"]:
                print(f"{name} may {exact(line)}")
        question = f"open all of this to {name}?"
        done = not dry_run and (not reach or confirmed(question, yes=yes, doing="accepting"))
        if done:
            runtime.accept(name, wait=wait)
    if as_json:
        answer({"agent": name, "reach": reach, "accepted": done})
    return 0
