"""The table of commands, and what becomes of mistakes."""

import subprocess
import sys
from pathlib import Path

import pytest
from cli_kit import Cli, clean_environ

from pagemind.runtime.cli.app import COMMANDS, _asked_for, main
from pagemind.runtime.cli.help import hoisted

ROOT = Path(__file__).resolve().parents[2]
NOT_FOR_HELP = (
    "litellm",
    "lancedb",
    "pydantic",
    "prompt_toolkit",
    "tiktoken",
    "rich.console",
    "sqlite3",
)


@pytest.mark.parametrize("words", [words for _, words, _, _ in COMMANDS])
def test_every_command_has_help_and_an_example(words: str, cli: Cli) -> None:
    """The example is a line that begins with the command itself, or uses it."""
    ran = cli(*words.split(), "--help")
    assert ran.code == 0
    assert "Usage: pagemind" in ran.out
    _, _, example = ran.out.partition("Example:\n")
    assert f"pagemind {words}" in example
    assert "--home" in ran.out or words == "completion"


@pytest.mark.parametrize("words", [[], ["chat"], ["send"], ["memory", "search"], ["models"]])
def test_help_imports_only_what_it_shows(words: list[str], tmp_path: Path) -> None:
    """No help loads a model library, a store, the editor or a validator."""
    code = (
        "import sys\nfrom pagemind.runtime.cli.app import main\n"
        f"code = main([*{words!r}, '--help'])\n"
        f"print('LOADED', [m for m in {NOT_FOR_HELP!r} if m in sys.modules])\nsys.exit(code)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=clean_environ(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0
    assert "LOADED []" in ran.stdout


def test_only_what_is_asked_for_is_made() -> None:
    """The command that is named, a group where its command is not, or all; whatever stands
    before the verb."""

    def made(*words: str) -> set[str]:
        return {verb for _, verb, _, _ in _asked_for(words)}

    every = {verb for _, verb, _, _ in COMMANDS}
    assert made("chat", "ada", "-v") == made("--log-file", "memory", "-v", "chat") == {"chat"}
    assert made("agents", "new", "ada") == {"agents new"}
    agents = {verb for verb in every if verb.startswith("agents ")}
    assert made("agents") == made("agents", "nwe") == made("agents", "--help") == agents
    assert made() == made("--help", "chat") == made("agent", "new") == every


def test_the_version_is_told(cli: Cli) -> None:
    """--version is one line."""
    ran = cli("--version")
    assert (ran.code, ran.out.split()[0]) == (0, "pagemind")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bogus"], "No such command 'bogus'"),
        (["memory", "serch"], "Did you mean 'search'?"),
        (["send", "ada"], "TEXT: say something, or --approve or --deny"),
        (["send", "ada", "x", "--wait", "soon"], "--wait"),
        (["memory", "search", "ada", "x", "--tier", "disk"], "--tier"),
    ],
)
def test_wrong_usage_ends_with_2(words: list[str], message: str, cli: Cli) -> None:
    """The error is one line, the hint names the help that answers it."""
    ran = cli(*words)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert message in ran.err
    assert "--help" in ran.err
    assert "Traceback" not in ran.err


def test_a_group_alone_shows_its_help(cli: Cli) -> None:
    """On standard error, as wrong usage."""
    ran = cli("memory")
    assert (ran.code, ran.out) == (2, "")
    assert "blocks" in ran.err


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (["inspect", "nobody", "--json"], 1, "UnknownAgent"),
        (["send", "a/b", "x", "--json"], 1, "InvalidName"),
        (["memory", "pages", "--json"], 2, "UsageError"),
    ],
)
def test_an_error_is_json_where_json_was_asked_for(
    words: list[str], code: int, kind: str, cli: Cli
) -> None:
    """One object on standard output, whose code is the exit code."""
    ran = cli(*words)
    assert ran.code == code
    assert ran.json["schema"] == 1
    assert set(ran.json["error"]) == {"type", "message", "hint", "code", "retryable"}
    assert (ran.json["error"]["type"], ran.json["error"]["code"]) == (kind, code)


def test_a_fault_of_ours_is_one_line_and_a_log(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The traceback is in the log, and on the screen only with -v."""
    cli.ada()

    def broken(*_: object) -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr("pagemind.runtime.runtime.Runtime.agents", broken)
    ran = cli("agents", "list")
    assert ran.code == 4
    assert ran.err.splitlines()[0] == "error: ZeroDivisionError: of all things"
    assert "Traceback" not in ran.err
    log = cli.home / "pagemind.log"
    assert str(log) in ran.err
    assert "of all things" in log.read_text(encoding="utf-8")
    assert "Traceback" in cli("agents", "list", "-v").err


def test_the_log_has_no_content(cli: Cli) -> None:
    """Not even a log of everything says what was said."""
    cli.ada()
    log = cli.home / "all.log"
    assert cli("--log-file", str(log), "-vv", "send", "ada", "the secret is 4711").code == 0
    assert "4711" not in log.read_text(encoding="utf-8")


def test_switches_of_the_program_may_follow_the_verb() -> None:
    """What follows -- is text."""
    assert hoisted(["send", "ada", "-v", "x"]) == ["-v", "send", "ada", "x"]
    assert hoisted(["chat", "--log-file", "f", "ada"]) == ["--log-file", "f", "chat", "ada"]
    assert hoisted(["send", "ada", "--", "-v"]) == ["send", "ada", "--", "-v"]


def test_ctrl_c_ends_with_130(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a word."""

    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pagemind.runtime.runtime.Runtime.agents", pressed)
    ran = cli("agents", "list")
    assert (ran.code, ran.out, ran.err.strip()) == (130, "", "")


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    """`pagemind … | head -1` is quiet."""
    code = "import sys; from pagemind.runtime.cli.app import main; sys.exit(main(sys.argv[1:]))"
    with subprocess.Popen(
        [sys.executable, "-c", code, "models", "list", "--json"],
        env=clean_environ(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_the_console_script_returns_the_code() -> None:
    """main() gives the code back instead of raising."""
    assert main(["--help"]) == 0
