"""What Tab offers in a chat: commands, what each takes, and files."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_kit import PLAIN
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from pagemind.runtime.cli.commands import COMMANDS
from pagemind.runtime.cli.completion import ChatCompleter
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel


@pytest.fixture(scope="module")
def completer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChatCompleter]:
    """Of ada, who has a page, a passage and a pin, beside bob."""
    home = tmp_path_factory.mktemp("home")
    definition = home / "plain.yaml"
    definition.write_text(PLAIN, encoding="utf-8")
    with Runtime(home) as runtime:
        runtime.agent("bob", str(definition), model="scripted/echo").close()
        agent = runtime.agent("ada", str(definition), model=ScriptedModel())
        agent.send("My boat is called Nomad.")
        agent.send("It lies in Porto.")
        agent.insert("Nomad is a boat.")
        agent.flush()
        agent.pin("m1")
        yield ChatCompleter(lambda: (runtime, agent))


def offered(completer: ChatCompleter, text: str) -> dict[str, str]:
    """Words and what is said of them, as they would be in the line."""
    document = Document(text, len(text))
    return {
        text[: len(text) + each.start_position] + each.text: each.display_meta_text
        for each in completer.get_completions(document, CompleteEvent())
    }


def test_commands_are_offered_with_what_they_do(completer: ChatCompleter) -> None:
    """All of them after the slash, then those that begin so."""
    assert list(offered(completer, "/")) == list(COMMANDS)
    assert offered(completer, "/pag") == {
        "/pages": "[ID] the tree of what left the window, or a direc…",
        "/page": "ID read one: /page p3",
    }


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("/switch ", {"/switch bob"}),
        ("/edit h", {"/edit human"}),
        ("/page ", {"/page p1"}),
        ("/pin m", {"/pin m1", "/pin m2", "/pin m3", "/pin m4"}),
        ("/pin p", {"/pin p1"}),
        ("/unpin ", {"/unpin m1"}),
        ("/forget ", {"/forget a1"}),
        ("/rewind m1", {"/rewind m1"}),
        ("/help pin", {"/help pin"}),
        ("/help zzz", set()),
        ("/quit ", set()),
        ("/nothing ", set()),
        ("no command /pag", set()),
    ],
)
def test_what_a_command_takes_is_offered(
    completer: ChatCompleter, typed: str, words: set[str]
) -> None:
    """Agents, blocks and ids, those that are there."""
    assert set(offered(completer, typed)) == words


def test_models_that_can_be_used_are_offered(
    completer: ChatCompleter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that agents run on, and that of a provider whose key is set."""
    monkeypatch.setenv("MISTRAL_API_KEY", "k")
    words = offered(completer, "/model ")
    assert words["/model scripted/echo"] == "bob runs on it"
    assert words["/model mistral/mistral-small-latest"] == "MISTRAL_API_KEY is set"


def test_files_are_offered_where_a_path_is_typed(completer: ChatCompleter, tmp_path: Path) -> None:
    """In a message and after /export; a slash at the start of a line is a command's."""
    (tmp_path / "boat.png").touch()
    assert set(offered(completer, f"look at {tmp_path}/b")) == {f"look at {tmp_path}/boat.png"}
    assert set(offered(completer, f"/export {tmp_path}/b")) == {f"/export {tmp_path}/boat.png"}


def test_nothing_is_offered_while_the_agent_opens() -> None:
    """Commands are."""
    completer = ChatCompleter(lambda: None)
    assert offered(completer, "/edit ") == {}
    assert "/edit" in offered(completer, "/e")
