"""No telemetry, ever: a whole life of an agent opens no connection that nobody asked for."""

from pathlib import Path

import pytest
from processes import python

GUARDED = f"""
    import sys
    sys.path.insert(0, {str(Path(__file__).parent)!r})
    import network_guard
    network_guard.close()
"""
LIFE = """
    from pathlib import Path
    from pagemind.runtime.definition import parse_definition
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.testing import ScriptedModel, call

    definition = parse_definition(
        "{name: quiet, system: You are a test agent., context_window: 2048, output_reserve: 128,"
        " embedding: local/minilm, tools: [core_append, recall_search, archival, page_in]}"
    )
    script = [
        call("core_append", block="human", content="Sam"), "Noted.",
        call("archival_insert", content="The boat is Nomad."), "Kept.",
        call("recall_search", query="boat"), "Found.",
        call("archival_search", query="boat"), "Found.",
    ]
    with Runtime(Path(sys.argv[1])) as runtime:
        agent = runtime.agent("ada", definition, model=ScriptedModel(script, after="I see."))
        for number in range(20):
            agent.send(f"Fact {number}: " + "harbour light tide " * 20)
        assert agent.state.pages.count() > 0
        assert runtime._write_back.drain(agent.id, 60)
        assert agent.engine.store.count_missing("recall") == 0, "nothing was embedded"
        with runtime.reader("ada") as reader:
            reader.inspect()
"""
LITELLM = """
    from pagemind.runtime.models.litellm_library import load
    load()
"""
COMMANDS = """
    from pagemind.runtime.cli.app import main
    for command in (["--help"], ["agents", "list"], ["models", "list"], ["doctor"]):
        sys.argv = ["pagemind", *command]
        try:
            main()
        except SystemExit:
            pass
"""
END = """
    assert network_guard.tried == [], network_guard.tried
    print("quiet")
"""


@pytest.mark.parametrize("script", [LIFE, LITELLM, COMMANDS], ids=["life", "litellm", "commands"])
def test_nothing_is_sent_anywhere(
    tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Creating, talking, flushing, embedding, searching, reading and closing reach nobody; nor
    does loading litellm, nor a command that only looks."""
    monkeypatch.setenv("PAGEMIND_HOME", str(tmp_path / "home"))
    child = python(GUARDED + script + END, tmp_path / "home", cold=True)
    out, errors = child.communicate(timeout=180)
    assert child.returncode == 0, errors[-3000:]
    assert out.strip().endswith("quiet"), errors[-3000:]


@pytest.mark.parametrize("host", ["example.org", "93.184.215.14"])
def test_the_guard_would_notice(host: str) -> None:
    """The same guard does stop a connection, by name and by number."""
    child = python(
        GUARDED
        + f"""
    import urllib.request
    try:
        urllib.request.urlopen("http://{host}/", timeout=2)
    except BaseException as error:
        print(type(error).__name__, network_guard.tried[:1])
"""
    )
    out, errors = child.communicate(timeout=60)
    assert out.strip() == f"Reached ['{host}']", errors
