"""The table of commands, and `main()`: the console script `pagemind`.

A command is a function with a light signature in a file of its own; whatever is heavy is imported
inside it, so that every `--help` is quick. Whatever a command raises becomes output in failure.py.
"""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from pagemind.runtime.cli import (
    agents,
    agents_accept,
    agents_fork,
    agents_judge,
    agents_portable,
    agents_rewind,
    archives,
    archives_review,
    audit,
    blocks,
    config,
    doctor,
    evaluate,
    init,
    inspect,
    mcp,
    mcp_serve,
    memory_change,
    memory_compact,
    memory_edit,
    memory_erase,
    memory_facts,
    memory_folder,
    memory_forget,
    memory_insert,
    memory_pages,
    memory_pin,
    memory_review,
    memory_revoke,
    memory_search,
    memory_segments,
    memory_show,
    memory_skills,
    memory_sleep,
    memory_store,
    memory_trust,
    memory_why,
    models,
    observe,
    past_diff,
    past_history,
    queue,
    replay,
    run,
    schedules,
    send,
    shell_completion,
    start,
    tasks,
    tasks_answer,
    up,
    upgrade,
    usage,
)
from pagemind.runtime.cli.chat import chat
from pagemind.runtime.cli.demo import demo
from pagemind.runtime.cli.failure import report
from pagemind.runtime.cli.help import Command, Group, hoisted

TALK, MEMORY, HOUSE = "Talk", "Memory", "Housekeeping"
_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

Row = tuple[str, str, Callable[..., Any], str]  # section, words, function, example
COMMANDS: tuple[Row, ...] = (
    (TALK, "chat", chat, "pagemind chat ada -d companion"),
    (TALK, "send", send.send, 'pagemind send ada "My boat is called Nomad."'),
    (TALK, "observe", observe.observe, 'pagemind observe ada "It rains." --source weather'),
    (TALK, "run", run.run, "pagemind run task.yaml --set city=Lisbon"),
    (TALK, "up", up.up, "pagemind up ada --inbox ada=letters"),
    (TALK, "demo", demo, "pagemind demo"),
    (MEMORY, "inspect", inspect.inspect, "pagemind inspect ada --request"),
    (MEMORY, "memory blocks", memory_show.blocks, "pagemind memory blocks ada"),
    (MEMORY, "memory search", memory_search.search, 'pagemind memory search ada "the boat"'),
    (MEMORY, "eval", evaluate.evaluate, "pagemind eval ada cases.yaml --floor 0.9"),
    (MEMORY, "memory passages", memory_show.passages, "pagemind memory passages ada --last 20"),
    (MEMORY, "memory facts", memory_facts.facts, "pagemind memory facts ada Sam --history"),
    (MEMORY, "memory pages", memory_pages.pages, "pagemind memory pages ada p17"),
    (MEMORY, "memory segments", memory_segments.segments, "pagemind memory segments ada"),
    (MEMORY, "memory dump", memory_folder.dump, "pagemind memory dump ada ada-memory"),
    (MEMORY, "memory load", memory_folder.load, "pagemind memory load ada ada-memory --dry-run"),
    (MEMORY, "memory history", memory_show.history, "pagemind memory history ada human"),
    (
        MEMORY,
        "memory insert",
        memory_insert.insert,
        "pagemind memory insert ada --file notes/ --tag boat",
    ),
    (MEMORY, "memory edit", memory_edit.edit, "pagemind memory edit ada human"),
    (MEMORY, "memory forget", memory_forget.forget, "pagemind memory forget ada a7 a9"),
    (
        MEMORY,
        "memory erase",
        memory_erase.erase,
        'pagemind memory erase ada --subject "Sam Reyes"',
    ),
    (MEMORY, "memory skills", memory_skills.skills, "pagemind memory skills ada sort_invoices"),
    (
        MEMORY,
        "memory store",
        memory_store.store,
        "pagemind memory store ada put users/sam theme '\"dark\"'",
    ),
    (MEMORY, "memory pin", memory_pin.pin, "pagemind memory pin ada m42"),
    (MEMORY, "memory unpin", memory_pin.unpin, "pagemind memory unpin ada m42"),
    (MEMORY, "memory review", memory_review.review, "pagemind memory review ada"),
    (
        MEMORY,
        "memory revoke",
        memory_revoke.revoke,
        "pagemind memory revoke ada --source http_get --dry-run",
    ),
    (MEMORY, "memory trust", memory_trust.trust, "pagemind memory trust ada m42 block:human"),
    (MEMORY, "memory why", memory_why.why, "pagemind memory why ada a7"),
    (MEMORY, "memory sleep", memory_sleep.sleep, "pagemind memory sleep ada"),
    (MEMORY, "memory restore", memory_change.restore, "pagemind memory restore ada human 3"),
    (MEMORY, "memory rebuild", memory_change.rebuild, "pagemind memory rebuild ada"),
    (MEMORY, "memory compact", memory_compact.compact, "pagemind memory compact ada"),
    (MEMORY, "memory reembed", memory_change.reembed, "pagemind memory reembed ada"),
    (MEMORY, "archives new", archives.new, "pagemind archives new handbook"),
    (MEMORY, "archives list", archives.list_archives, "pagemind archives list"),
    (MEMORY, "archives show", archives.show, "pagemind archives show handbook"),
    (
        MEMORY,
        "archives insert",
        archives.insert,
        "pagemind archives insert handbook --file rules.md --tag rules",
    ),
    (MEMORY, "archives sync", archives.sync, "pagemind archives sync handbook docs/"),
    (MEMORY, "archives search", archives.search, 'pagemind archives search handbook "parking"'),
    (MEMORY, "archives review", archives_review.review, "pagemind archives review handbook"),
    (
        MEMORY,
        "archives revoke",
        archives_review.revoke,
        "pagemind archives revoke handbook --source agent:bob --dry-run",
    ),
    (MEMORY, "archives rebuild", archives.rebuild, "pagemind archives rebuild handbook"),
    (
        MEMORY,
        "archives reembed",
        archives.reembed,
        "pagemind archives reembed handbook --embedding local/minilm",
    ),
    (MEMORY, "archives delete", archives.delete, "pagemind archives delete handbook --yes"),
    (MEMORY, "blocks new", blocks.new, "pagemind blocks new team_plan --text 'Map the harbour.'"),
    (MEMORY, "blocks list", blocks.list_blocks, "pagemind blocks list"),
    (MEMORY, "blocks show", blocks.show, "pagemind blocks show team_plan"),
    (MEMORY, "blocks edit", blocks.edit, "pagemind blocks edit team_plan"),
    (MEMORY, "blocks history", blocks.history, "pagemind blocks history team_plan"),
    (MEMORY, "blocks restore", blocks.restore, "pagemind blocks restore team_plan 3"),
    (MEMORY, "blocks delete", blocks.delete, "pagemind blocks delete team_plan --yes"),
    (HOUSE, "init", init.init, "pagemind init --model openai/gpt-4o-mini --name ada --yes"),
    (HOUSE, "config list", config.list_config, "pagemind config list"),
    (HOUSE, "config get", config.get, "pagemind config get model"),
    (HOUSE, "config set", config.set_, "pagemind config set model openai/gpt-4o-mini"),
    (HOUSE, "config unset", config.unset, "pagemind config unset embedding"),
    (HOUSE, "config path", config.path, 'cat "$(pagemind config path)"'),
    (HOUSE, "completion", shell_completion.completion, "source <(pagemind completion bash)"),
    (HOUSE, "agents list", agents.list_agents, "pagemind agents list --json"),
    (HOUSE, "agents show", agents.show, "pagemind agents show ada"),
    (HOUSE, "agents new", agents.new, "pagemind agents new ada -d my-agent.yaml"),
    (HOUSE, "agents update", agents.update, "pagemind agents update ada -d my-agent.yaml"),
    (HOUSE, "agents delete", agents.delete, "pagemind agents delete ada --yes"),
    (HOUSE, "agents path", agents.path, 'du -sh "$(pagemind agents path ada)"'),
    (HOUSE, "agents history", past_history.history, "pagemind agents history ada --last 10"),
    (HOUSE, "agents diff", past_diff.diff, "pagemind agents diff ada m45"),
    (HOUSE, "agents undo", agents_rewind.undo, "pagemind agents undo ada 2"),
    (HOUSE, "agents rewind", agents_rewind.rewind, "pagemind agents rewind ada m45"),
    (HOUSE, "agents lines", agents_rewind.lines, "pagemind agents lines ada"),
    (HOUSE, "agents bring-back", agents_rewind.bring_back, "pagemind agents bring-back ada"),
    (HOUSE, "agents fork", agents_fork.fork, "pagemind agents fork ada ada-2 --at m45"),
    (
        HOUSE,
        "agents export",
        agents_portable.export,
        "pagemind agents export ada ada.pmz",
    ),
    (
        HOUSE,
        "agents import",
        agents_portable.import_file,
        "pagemind agents import ada.pmz --as eva",
    ),
    (HOUSE, "agents accept", agents_accept.accept, "pagemind agents accept eva"),
    (HOUSE, "tasks list", tasks.list_tasks, "pagemind tasks list"),
    (HOUSE, "tasks show", tasks.show, "pagemind tasks show facts"),
    (HOUSE, "tasks logs", tasks.logs, "pagemind tasks logs facts --last 20"),
    (HOUSE, "tasks answer", tasks_answer.answer, "pagemind tasks answer facts skip"),
    (HOUSE, "tasks cancel", tasks.cancel, "pagemind tasks cancel facts"),
    (HOUSE, "tasks resume", tasks.resume, "pagemind tasks resume facts"),
    (HOUSE, "schedules list", schedules.list_schedules, "pagemind schedules list ada"),
    (
        HOUSE,
        "schedules add",
        schedules.add,
        'pagemind schedules add ada "every weekday at 9:00" "Read the news."',
    ),
    (HOUSE, "schedules cancel", schedules.cancel, "pagemind schedules cancel ada s3"),
    (HOUSE, "schedules reset", schedules.reset, "pagemind schedules reset ada"),
    (HOUSE, "queue list", queue.list_queue, "pagemind queue list ada"),
    (HOUSE, "queue retry", queue.retry, "pagemind queue retry 17"),
    (HOUSE, "queue drop", queue.drop, "pagemind queue drop 17"),
    (HOUSE, "agents good", agents_judge.good, 'pagemind agents good ada "it remembered"'),
    (HOUSE, "agents bad", agents_judge.bad, "pagemind agents bad ada"),
    (HOUSE, "mcp serve", mcp_serve.serve, "pagemind mcp serve ada"),
    (HOUSE, "mcp tools", mcp.tools, "pagemind mcp tools ada"),
    (HOUSE, "models pull", models.pull, "pagemind models pull --yes"),
    (HOUSE, "models list", models.list_models, "pagemind models list"),
    (HOUSE, "models path", models.path, "pagemind models path"),
    (HOUSE, "usage", usage.usage, "pagemind usage"),
    (HOUSE, "replay", replay.replay, "pagemind replay talk.jsonl"),
    (HOUSE, "audit verify", audit.verify, "pagemind audit verify"),
    (HOUSE, "audit show", audit.show, "pagemind audit show ada --since yesterday"),
    (HOUSE, "upgrade", upgrade.upgrade, "pagemind upgrade --dry"),
    (HOUSE, "doctor", doctor.doctor, "pagemind doctor"),
)
GROUPS = {
    "archives": "Shared archives: passages that many agents may read.",
    "blocks": "Shared blocks: texts that several agents always see and edit.",
    "memory": "Read and change what an agent remembers.",
    "config": "What holds for every agent: the file config.yaml of the home.",
    "audit": "What was done to memory, and whether anything was done behind its back.",
    "agents": "Make, look at, change and delete agents.",
    "tasks": "Tasks that were run: how they stand, stop them, go on.",
    "mcp": "MCP: an agent's memory for other agents, and what the servers of an agent offer.",
    "schedules": "Timers that wake agents while `pagemind up` runs.",
    "queue": "Events that wait for `pagemind up`.",
    "models": "Local models: no key, no network at run time.",
}


def build(words: Sequence[str] = ()) -> typer.Typer:
    """The program, from the table: as much of it as these words can be about, since making a
    hundred commands takes longer than most of them run."""
    app = _group(
        "An operating system's paging for LLM agents: the context window is RAM, LanceDB is disk.",
        example="pagemind chat",
    )
    app.callback()(_program)
    groups: dict[str, typer.Typer] = {}
    for section, verb, function, example in _asked_for(words):
        group, _, name = verb.rpartition(" ")
        if group and group not in groups:
            groups[group] = _group(GROUPS[group])
            app.add_typer(groups[group], name=group, rich_help_panel=section)
        place = groups[group] if group else app
        panel = None if group else section
        place.command(name, cls=Command, epilog=example, rich_help_panel=panel)(function)
    return app


def _asked_for(words: Sequence[str]) -> Sequence[Row]:
    """The command that is named in full, else those of the group that is named, else all."""
    said = hoisted(list(words))
    while said and said[0].startswith(("-v", "--verbose", "--log-file")):
        said = said[2:] if said[0] == "--log-file" else said[1:]
    for named in (said[:1], said[:2]):
        if rows := [row for row in COMMANDS if row[1].split() == named]:
            return rows
    return [row for row in COMMANDS if row[1].split()[:-1] == said[:1] != []] or COMMANDS


def _group(about: str, example: str | None = None) -> typer.Typer:
    return typer.Typer(
        cls=Group,
        help=about,
        epilog=example,
        no_args_is_help=True,
        rich_markup_mode=None,
        add_completion=False,
        context_settings=_SETTINGS,
        pretty_exceptions_enable=False,
    )


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"pagemind {version('pagemind')}")
        raise typer.Exit()


def _program(
    verbose: Annotated[
        int,
        typer.Option(
            "--verbose",
            "-v",
            count=True,
            show_default=False,
            help="Say more on standard error; -vv says all.",
        ),
    ] = 0,
    log_file: Annotated[
        Path | None,
        typer.Option("--log-file", metavar="FILE", help="Log everything there, without content."),
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and leave."
        ),
    ] = False,
) -> None:
    from pagemind.runtime.cli.logs import configure

    configure(verbose, log_file)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code of contract: 0, 1, 2, 3, 4, 5, 75 or 130."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    switches = words[: words.index("--")] if "--" in words else words
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a letter gets its number
            stream.reconfigure(errors="backslashreplace")
    if shell_completion.VARIABLE in os.environ:
        shell_completion.prepare()
    elif not words:
        start.show()
        return 0
    try:
        code = build(words)(args=words, prog_name="pagemind", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except SystemExit as end:  # typer ends so on a broken pipe
        return report(BrokenPipeError(), as_json=False, verbose=False) if end.code else 0
    except BaseException as error:
        return report(
            error,
            as_json="--json" in switches,
            verbose=any(word in ("-v", "-vv", "--verbose") for word in switches),
        )
