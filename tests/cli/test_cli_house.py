"""`pagemind models` and `doctor`: what is here, what is wrong."""

from pathlib import Path

from cli_kit import Cli


def test_models_are_listed(cli: Cli) -> None:
    """One is the default, none is here in an empty home."""
    items = cli("models", "list", "--json").json["items"]
    assert sum(item["default"] for item in items) == 1
    assert not any(item["installed"] for item in items)
    assert all(item["name"].startswith("local/") for item in items)
    assert items[0]["name"] in cli("models", "list").out


def test_a_pull_says_what_it_would_do_and_asks(cli: Cli) -> None:
    """Source, licence, size, disk and hash; nobody said yes, so nothing is fetched."""
    ran = cli("models", "pull")
    assert ran.code == 1
    for word in ("licence", "size", "sha256", "from", "disk"):
        assert word in ran.out
    assert "--yes" in ran.err
    assert not (cli.home / "models").exists()


def test_a_pull_refuses_a_wrong_file(cli: Cli, tmp_path: Path) -> None:
    """The hash decides, and the error says so in one line."""
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"GGUF" + b"\0" * 100)
    ran = cli("models", "pull", "smollm2-135m", "--yes", "--file", str(wrong))
    assert ran.code == 1
    assert "error: smollm2-135m could not be pulled" in ran.err
    assert "Traceback" not in ran.err


def test_an_unknown_model_names_the_known(cli: Cli) -> None:
    """The nearest first."""
    ran = cli("models", "path", "smolm2-135m")
    assert ran.code == 1
    assert "did you mean smollm2-135m?" in ran.err


def test_where_models_are_kept(cli: Cli) -> None:
    """Below the home."""
    assert cli("models", "path").out.strip() == str(cli.home / "models")


def test_a_sound_home_is_well(cli: Cli) -> None:
    """Each agent is looked at; who receives what is said is told."""
    cli.ada("Hello")
    ran = cli("doctor", "--json")
    assert ran.code == 0
    assert ran.json["ok"]
    checks = {(item["agent"], item["check"]): item for item in ran.json["items"]}
    assert checks["ada", "openable"]["status"] == "ok"
    assert checks["ada", "state database"]["detail"] == "whole"
    assert "this process" in checks["ada", "model"]["detail"]
    assert "all is well" in cli("doctor").out


def test_a_home_that_is_not_there_yet_is_well(cli: Cli, tmp_path: Path) -> None:
    """A newcomer's first command may be doctor."""
    ran = cli("doctor", "--home", str(tmp_path / "new"))
    assert ran.code == 0


def test_a_damaged_agent_is_found(cli: Cli) -> None:
    """The others are still looked at, and the exit code is 3."""
    cli.ada("Hello")
    assert cli("agents", "new", "bob", "-d", str(cli.definition)).code == 0
    folder = Path(cli("agents", "path", "ada").out.strip())
    for leftover in folder.glob("state.db-*"):
        leftover.unlink()
    (folder / "state.db").write_bytes(b"not a database at all" * 100)
    ran = cli("doctor", "--json")
    assert ran.code == 3
    assert not ran.json["ok"]
    found = {(item["agent"], item["check"]): item["status"] for item in ran.json["items"]}
    assert found["ada", "openable"] == "wrong"
    assert found["bob", "openable"] == "ok"


def test_a_broken_tier_is_found_and_rebuilt(cli: Cli) -> None:
    """doctor names the command that mends it, and that command does."""
    cli.ada("My boat is called Nomad.")
    assert cli("memory", "rebuild", "ada").code == 0
    folder = Path(cli("agents", "path", "ada").out.strip()) / "lance"
    for manifest in folder.rglob("*.manifest"):
        manifest.write_bytes(b"broken")
    ran = cli("doctor")
    assert ran.code == 3
    assert "pagemind memory rebuild ada" in ran.out
    assert cli("memory", "rebuild", "ada").code == 0
    assert cli("doctor").code == 0
    assert cli("memory", "search", "ada", "Nomad", "--json").json["total"] == 2
