"""init, config, completion and the first screen, as a person meets them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_kit import Cli, clean_environ
from pty_kit import ENTER, Terminal

from pagemind.runtime.cli.start import SCREEN
from pagemind.runtime.definition import load_definition
from pagemind.runtime.model_choice import PROVIDERS, ModelChoice
from pagemind.runtime.setup import first_definition


def test_flags_answer_every_question(cli: Cli) -> None:
    """Piped, with flags: a config, a definition, an agent that can be talked to."""
    words = ("--model", "scripted/echo", "--embedding", "none", "--name", "bob")
    ran = cli("init", *words, "--persona", "I am a calm sailor: quiet.", stdin=b"")
    assert ran.code == 0, ran.err
    assert "next: pagemind chat bob" in ran.out
    assert cli("config", "get", "model").out == "scripted/echo\n"
    assert cli("send", "bob", "Hello").out.startswith("You said: ")
    blocks = cli("memory", "blocks", "bob", "--json").json["items"]
    assert next(b for b in blocks if b["label"] == "persona")["value"].startswith("I am a calm")
    definition = load_definition(cli.home / "definitions" / "bob.yaml")
    assert definition.name == "bob"
    assert not definition.states("embedding")


def test_what_is_usable_is_taken(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --yes the first model that is found; with none the config leaves it open."""
    ran = cli("init", "--yes")
    assert "no model yet" in ran.out
    assert cli("config", "get", "model").code == 1
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    answer = cli("init", "--yes", "--name", "eve", "--json").json
    assert answer["model"].startswith("anthropic/")
    assert cli("config", "get", "model").out.startswith("anthropic/")


def test_nothing_is_written_over(cli: Cli) -> None:
    """A second init keeps comments, definitions, agents and what was chosen."""
    cli("init", "--model", "scripted/echo", "--embedding", "none", "--yes")
    config = cli.home / "config.yaml"
    config.write_text(config.read_text() + "# my own note\n")
    definition = cli.home / "definitions" / "ada.yaml"
    definition.write_text(definition.read_text() + "# mine, too\n")
    before = (config.read_text(), definition.read_text())
    cli("send", "ada", "Hello")
    answer = cli("init", "--yes", "--json").json
    assert answer["wrote"] == []
    assert answer["made"] is False
    assert len(answer["kept"]) == 3
    assert (config.read_text(), definition.read_text()) == before
    assert cli("agents", "history", "ada", "--json").json["total"] == 1


def test_wrong_answers_are_refused_before_anything_is_written(cli: Cli) -> None:
    """A name that cannot be, a config that must be mended first."""
    assert cli("init", "--yes", "--name", "a/b").code == 1
    assert not (cli.home / "config.yaml").exists()
    (cli.home / "config.yaml").write_text("modle: x\n")
    ran = cli("init", "--yes")
    assert ran.code == 1
    assert "did you mean model?" in ran.err


def test_a_server_of_ones_own_stands_with_the_agent(tmp_path: Path) -> None:
    """Its name alone would go elsewhere."""
    server = ModelChoice("openai/mine", "a server", "http://127.0.0.1:8080/v1")
    path = tmp_path / "yes.yaml"
    path.write_text(first_definition("yes", "", server))
    definition = load_definition(path)
    assert definition.name == "yes"
    assert definition.model is not None
    assert (definition.model.name, definition.model.api_base) == (server.name, server.api_base)
    assert "I am a personal assistant" in definition.blocks["persona"].value


def test_three_questions_are_asked_in_a_terminal(tmp_path: Path) -> None:
    """Numbers and Enter are answers, and all of it fits on one screen."""
    keys = dict.fromkeys([*PROVIDERS, "VOYAGE_API_KEY", "COHERE_API_KEY"], "k")
    environ = {**clean_environ(tmp_path), **keys}
    code = (
        "import sys\nfrom pagemind.runtime import model_choice\n"
        "model_choice._loopback = lambda: None\n"
        "from pagemind.runtime.cli.app import main\nsys.exit(main(['init']))"
    )
    with Terminal(code, [], environ) as terminal:
        for wanted, answer in (
            ("litellm knows [openai/gpt-4o-mini]:", "1"),
            ("number or name [local/minilm]:", "none"),
            ("name [ada]:", ""),
            ("exact assistant]:", ""),
        ):
            terminal.expect(wanted)
            terminal.send(answer + ENTER)
        terminal.expect("next: pagemind chat ada")
        assert len(terminal.lines) < 24  # the shell's prompt comes below
    assert "embedding: none" in (tmp_path / "config.yaml").read_text()


def test_config_is_read_and_set(cli: Cli) -> None:
    """get, set, unset, list and path; unknown keys with the nearest."""
    assert cli("config", "get", "model").code == 1
    assert cli("config", "set", "model", "openai/gpt-4o-mini").code == 0
    assert cli("config", "get", "model").out == "openai/gpt-4o-mini\n"
    assert cli("config", "get", "model", "--json").json["value"] == "openai/gpt-4o-mini"
    assert cli("config", "set", "otel", "yes", "--json").json["value"] is True
    assert [i["key"] for i in cli("config", "list", "--json").json["items"]] == [
        "model",
        "embedding",
        "definition",
        "otel",
    ]
    assert "openai/gpt-4o-mini" in cli("config", "list").out
    assert cli("config", "unset", "model").code == 0
    assert cli("config", "get", "model").code == 1
    assert cli("config", "path").out == f"{cli.home / 'config.yaml'}\n"
    wrong = cli("config", "set", "modell", "x")
    assert wrong.code == 1
    assert "did you mean model?" in wrong.err
    assert cli("config", "set", "otel", "perhaps").code == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed_for_each_shell(shell: str, cli: Cli) -> None:
    """And no other is known."""
    ran = cli("completion", shell)
    assert ran.code == 0
    assert "_PAGEMIND_COMPLETE" in ran.out
    assert cli("completion", "csh").code == 2


def test_bash_completes_commands_and_agents(cli: Cli) -> None:
    """The real shell, the real script; nothing heavy is loaded for a TAB."""
    for name in ("ada", "bob", "ben"):
        cli("agents", "new", name, "-d", str(cli.definition))
    environ = {**os.environ, "PAGEMIND_HOME": str(cli.home), "_PAGEMIND_COMPLETE": "complete_bash"}

    def completed(words: str) -> list[str]:
        code = (
            "import sys\nfrom pagemind.runtime.cli.app import main\n"
            "try: main()\nfinally:\n"
            "    heavy = ('litellm', 'lancedb', 'pydantic', 'prompt_toolkit', 'pyarrow')\n"
            "    assert not [m for m in heavy if m in sys.modules]\n"
        )
        asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
        ran = subprocess.run(
            [sys.executable, "-c", code],
            env={**environ, **asked},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in ran.stderr
        return ran.stdout.split()

    assert completed("pagemind ini") == ["init"]
    assert set(completed("pagemind send b")) == {"bob", "ben"}
    assert completed("pagemind chat ad") == ["ada"]
    assert completed("pagemind config get mo") == ["model"]
    environ["PAGEMIND_HOME"] = str(cli.home / "nowhere")
    assert completed("pagemind send b") == []
    assert not (cli.home / "nowhere").exists()


def test_the_first_screen_is_one_screen(cli: Cli) -> None:
    """24 lines of 80 columns, and every command on it is real."""
    ran = cli()
    assert (ran.code, ran.out) == (0, SCREEN)
    lines = SCREEN.splitlines()
    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80
    for line in lines:
        _, found, command = line.partition("  pagemind ")
        if found:
            words = [word for word in command.split("  ")[0].split() if word not in ("ada", "boat")]
            assert cli(*words, "--help").code == 0
