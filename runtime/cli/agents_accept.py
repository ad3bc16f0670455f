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
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import confirmed, opened

    with opened(home) as runtime:
        name = runtime.home.find(agent).name
        reach = runtime.accept(name, apply=False)
        with runtime.reader(name) as reader:
            done = not reader.definition.closed
        if not as_json:
            for line in reach or ["reach nothing beyond its memory"]:
                print(f"{name} may {exact(line)}")
            if reach and done:
                say("all of this is open already")
        question = f"open all of this to {name}?"
        if not (done or dry_run) and confirmed(question, yes=yes, doing="accepting"):
            runtime.accept(name, wait=wait)
            done = True
    if as_json:
        answer({"agent": name, "reach": reach, "accepted": done})
    return 0
