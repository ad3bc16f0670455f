"""`pagemind blocks`: make, look at, change and delete shared blocks; `memory` knows them, too."""

from cli_kit import PLAIN, Cli


def sharing(cli: Cli) -> None:
    """The agent ada has the shared block team_plan as its plan."""
    plan = "blocks:\n  plan: {value: Map the harbour., limit: 100, shared: team_plan}\n"
    cli.definition.write_text(PLAIN.replace("blocks:\n", plan), encoding="utf-8")
    cli.ada("Hello")


def test_the_life_of_a_shared_block(cli: Cli) -> None:
    """New, list, show, edit, history, restore, delete."""
    made = cli("blocks", "new", "team_plan", "--text", "Map it.", "--limit", "100")
    assert (made.code, made.out) == (0, "made team_plan: 7 of 100 characters\n")
    assert cli("blocks", "show", "team_plan").out == "Map it.\n"
    assert cli("blocks", "edit", "team_plan", "--text", "Map all of it.").code == 0
    assert "14 of 100" in cli("blocks", "list").out
    bigger = cli("blocks", "edit", "team_plan", "--limit", "200", "--description", "A plan.")
    assert bigger.out == "team_plan: 14 of 200 characters\n"
    assert cli("blocks", "show", "team_plan", "--json").json["description"] == "A plan."
    assert "restored" not in cli("blocks", "history", "team_plan").out
    assert cli("blocks", "restore", "team_plan", "1").code == 0
    assert cli("blocks", "show", "team_plan").out == "Map it.\n"
    assert cli("blocks", "delete", "team_plan").code == 1
    assert cli("blocks", "delete", "team_plan", "--yes").out == "deleted team_plan\n"
    assert cli("blocks", "list", "--json").json["total"] == 0


def test_memory_commands_work_on_what_is_shared(cli: Cli) -> None:
    """They show the value, versions and authors of all, and change it for all."""
    sharing(cli)
    cli("blocks", "edit", "team_plan", "--text", "Sound the depths.")
    shown = cli("memory", "blocks", "ada")
    assert "plan  17 of 100 characters, shared as team_plan\n  Sound the depths." in shown.out
    plan = cli("memory", "blocks", "ada", "--json").json["items"][0]
    assert (plan["version"], plan["author"], plan["shared"]) == (2, "user", "team_plan")
    assert cli("memory", "edit", "ada", "plan", "--text", "Draw it.").code == 0
    assert cli("memory", "restore", "ada", "plan", "1").code == 0
    versions = cli("memory", "history", "ada", "plan", "--json").json["items"]
    assert [v["value"] for v in versions] == [
        "Map the harbour.",
        "Sound the depths.",
        "Draw it.",
        "Map the harbour.",
    ]
    assert versions == cli("blocks", "history", "team_plan", "--json").json["items"]


def test_a_block_that_agents_have_is_not_deleted(cli: Cli) -> None:
    """They are named."""
    sharing(cli)
    refused = cli("blocks", "delete", "team_plan", "--yes")
    assert (refused.code, "shared by ada" in refused.err) == (1, True)
    assert cli("agents", "delete", "ada", "--yes").code == 0
    assert cli("blocks", "delete", "team_plan", "--yes").code == 0


def test_mistakes_are_one_line(cli: Cli) -> None:
    """With what to do next."""
    assert "pagemind blocks new zzz" in cli("blocks", "show", "zzz").err
    assert "lower-case" in cli("blocks", "new", "Team Plan").err
    cli("blocks", "new", "team_plan", "--limit", "5")
    assert "did you mean team_plan?" in cli("blocks", "show", "team_plna").err
    assert cli("blocks", "new", "team_plan").code == 1
    assert "of 5 characters" in cli("blocks", "edit", "team_plan", "--text", "too long").err
    assert "versions are 1 to 1" in cli("blocks", "restore", "team_plan", "7").err
