"""`agents export` and `agents import` as a person types them, and docs/portability.md as it is."""

import json
import re
import shlex
from pathlib import Path

import pytest
from cli_kit import Cli

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "portability.md"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files are written where one stands."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plain(text: str) -> str:
    """Without what differs from run to run: hashes, sizes, the time in front of a message."""
    text = re.sub(r"\b[0-9a-f]{64}\b", "HASH", text)
    text = re.sub(r"\d+ kB", "N kB", text)
    return re.sub(r"\[\w{3} \d{4}-\d\d-\d\d \d\d:\d\d\] ", "", text).strip()


def sessions(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)


def documented(command: str = "agents export") -> list[str]:
    """The keys that docs/json.md has for the answer."""
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    section = text.partition(f"## {command}\n")[2].partition("\n## ")[0]
    return sorted(set(re.findall(r"(?m)^\| `(\w+)", section)))


def test_another_tools_file_answers_as_documented(cli: Cli, here: Path) -> None:
    """--json of an import, new and into one that is there."""
    (here / "chat.json").write_text('[{"role": "user", "content": "hi"}, {"role": "system"}]')
    for words in (["--as", "eva", "-d", str(cli.definition)], ["--into", "eva"]):
        answer = cli("agents", "import", "chat.json", "--json", *words).json
        assert sorted(answer) == sorted([*documented("agents import of another tool"), "schema"])
        assert answer["skipped"][0]["what"] == "system prompt"
    assert (answer["imported"]["messages"], answer["duplicates"]) == (0, 1)


def test_the_page_shows_what_is_printed(cli: Cli, here: Path) -> None:
    """Every command of the page, one after the other, with its output; its Python too."""
    (here / "conversations.json").write_text('[{"mapping": {}, "current_node": "x"}]')
    (here / "chat.jsonl").write_text(sessions("json")[0])
    told = 0
    for session in sessions("console"):
        for block in re.split(r"(?m)^\$ ", session)[1:]:
            line, _, shown = block.partition("\n")
            words = shlex.split(line)
            assert words[0] == "pagemind"
            ran = cli(*words[1:])
            assert (ran.code == 1) == ("error:" in shown), ran.err
            assert plain(ran.err if ran.code else ran.out) == plain(shown), line
            told += 1
    assert told == 15
    (python,) = sessions("python")
    exec(compile(python, str(DOCS), "exec"), {})


def test_answers_are_as_documented(cli: Cli) -> None:
    """--json of both, whole and increment."""
    cli.ada("Hello, I am Sam.")
    one = cli("agents", "export", "ada", "0.pmz", "--json").json
    assert one["since"] is None
    assert one["messages"] == 2
    two = cli("agents", "import", "0.pmz", "--as", "eva", "--json").json
    assert two["sha256"] == one["sha256"]
    assert two["agent"] == "eva"
    assert cli("send", "ada", "And on.").code == 0
    three = cli("agents", "export", "ada", "1.pmz", "--since", "0.pmz", "--json").json
    four = cli("agents", "import", "1.pmz", "--as", "eva", "--json").json
    assert (three["since"], four["messages"]) == (2, 4)
    for answer in (one, two, three, four):
        assert answer.pop("schema") == 1
        assert sorted(answer) == sorted(documented())


def test_mistakes_say_what_to_type_next(cli: Cli) -> None:
    """Unknown agent, no file, a taken name, a file that is there, no date."""
    cli.ada("Hello.")
    assert cli("agents", "export", "ada", "ada.pmz").code == 0
    for words, told in {
        ("export", "adda", "x.pmz"): "ada",
        ("export", "ada", "ada.pmz"): "--force",
        ("export", "ada", "no/x.pmz"): "make the folder first",
        ("export", "ada", "x.pmz", "--since", "soon"): "m42",
        ("import", "no.pmz"): "is not there",
        ("import", "ada.pmz"): "--as NAME",
        ("import", "ada.pmz", "--as", "a/b"): "looks like a path",
    }.items():
        ran = cli("agents", *words)
        assert ran.code == 1, words
        assert told in ran.err
        assert "Traceback" not in ran.err
    answer = json.loads(cli("agents", "import", "no.pmz", "--json").out)
    assert answer["error"]["type"] == "BadExport"
    assert cli("agents", "export", "ada", "ada.pmz", "--force").code == 0


def test_an_agent_in_use_is_not_carried_on(cli: Cli) -> None:
    """Exit code 75, as for everything that needs the agent to itself."""
    from pagemind.runtime.runtime import Runtime

    cli.ada("Hello.")
    assert cli("agents", "export", "ada", "0.pmz").code == 0
    assert cli("agents", "import", "0.pmz", "--as", "eva").code == 0
    assert cli("send", "ada", "And on.").code == 0
    assert cli("agents", "export", "ada", "1.pmz", "--since", "0.pmz").code == 0
    with Runtime(cli.home) as runtime:
        runtime.agent("eva")
        assert cli("agents", "import", "1.pmz", "--as", "eva").code == 75
    assert cli("agents", "import", "1.pmz", "--as", "eva").code == 0


def test_a_folder_of_memory_answers(cli: Cli, tmp_path: Path) -> None:
    """As docs/json.md says; --dry-run changes nothing."""
    cli.ada("Hello.")
    mem = str(tmp_path / "mem")
    answer = cli("memory", "dump", "ada", mem, "--json").json
    assert sorted(answer) == sorted([*documented("memory dump"), "schema"])
    with (tmp_path / "mem" / "blocks" / "human.md").open("a") as file:
        file.write("Sam.")
    for words, applied in ((["--dry-run"], False), ([], True)):
        answer = json.loads(cli("memory", "load", "ada", mem, "--json", *words).out)
        assert sorted(answer) == sorted([*documented("memory load"), "schema"])
        assert (answer["applied"], answer["changes"][0]["after"]) == (applied, "Sam.")
    assert cli("memory", "load", "ada", str(tmp_path / "no")).code == 1


def test_what_an_imported_agent_may_reach_is_accepted(cli: Cli) -> None:
    """It is shown, asked about, and open from then on; what is open already is not asked about."""
    worker = cli.home / "worker.yaml"
    worker.write_text(
        "name: worker\nembedding: none\ncontext_window: 8192\ntools: [core, shell]\n",
        encoding="utf-8",
    )
    cli("agents", "new", "ada", "-d", str(worker), "-m", "scripted/echo")
    cli("agents", "export", "ada", str(cli.home / "ada.pmz"))
    done = cli("agents", "import", str(cli.home / "ada.pmz"), "--as", "eva")
    assert "closed until `pagemind agents accept` opens it: run commands in ." in done.err
    assert "shell: closed until" in cli("send", "eva", "Hello", "-m", "scripted/echo").err
    shown = cli("agents", "accept", "eva", "--dry-run", "--json").json
    assert (shown["accepted"], len(shown["reach"])) == (False, 1)
    asked = cli("agents", "accept", "eva")
    assert asked.code == 1
    assert "accepting is not done without being asked" in asked.err
    assert cli("agents", "accept", "eva", "--yes").code == 0
    assert cli("agents", "accept", "eva").err == "all of this is open already\n"
    assert "closed" not in cli("send", "eva", "Hello").err
    assert "all of this is open already" in cli("agents", "accept", "ada").err
