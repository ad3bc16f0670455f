"""Profiles on the command line: looked at, edited, checked, exported, dumped, shared."""

import json

import pytest
from cli_kit import Cli
from kernel_kit import agent_at, runtime_at
from profile_kit import PLAIN, YAML, keeper, sam

from pagemind.runtime.portable.folder.load import load_memory
from pagemind.runtime.testing import ScriptedModel, call


def test_a_person_edits_and_is_told(cli: Cli) -> None:
    """memory blocks, memory edit, memory history and restore; what does not fit is refused."""
    with agent_at(cli.home, ScriptedModel(["Hm."]), keeper()) as agent:
        agent.send("Hello.")
    refused = cli("memory", "edit", "ada", "sam", "--text", '{"nam": "Sam"}')
    assert refused.code == 1
    assert "did you mean 'name'" in refused.err
    done = cli("memory", "edit", "ada", "sam", "--text", '{"pets": [], "name": "Sam"}')
    assert done.code == 0
    shown = cli("memory", "blocks", "ada").out
    assert "of 400 characters, profile" in shown
    assert '"name": "Sam"' in shown
    item = cli("memory", "blocks", "ada", "--json").json["items"][1]
    assert (item["profile"], json.loads(item["value"])) == (True, {"name": "Sam", "pets": []})
    assert cli("memory", "edit", "ada", "sam", "--text", "{}").code == 0  # a person may
    assert cli("memory", "restore", "ada", "sam", "2").code == 0
    assert '"name": "Sam"' in cli("memory", "blocks", "ada").out


def test_another_schema_keeps_the_value_and_says_what_does_not_fit(cli: Cli) -> None:
    """agents update, memory blocks and doctor tell it; the model mends it field by field."""
    first, second = cli.home / "one.yaml", cli.home / "two.yaml"
    one = YAML.format(profile=PLAIN, more="value: {name: Sam, age: 7}", limit=400, window=2400)
    first.write_text(one, encoding="utf-8")
    second.write_text(one.replace("age:", "years:"), encoding="utf-8")
    assert cli("agents", "new", "ada", "-d", str(first)).code == 0
    assert "profiles" in cli("doctor").out
    updated = cli("agents", "update", "ada", "-d", str(second), "--yes")
    assert "sam keeps its value, which does not fit the profile: no field is called 'age'" in (
        updated.err
    )
    assert cli("agents", "update", "ada", "-d", str(second), "--json", "--dry-run").json["misfits"]
    assert (
        "does not fit its profile: no field is called 'age'" in cli("memory", "blocks", "ada").out
    )
    assert "sam does not fit: no field is called 'age'" in cli("doctor").out
    mending = [
        call("core_set", block="sam", path="years", value=7),
        call("core_set", block="sam", path="age", value=None),
        "Mended.",
    ]
    with agent_at(cli.home, ScriptedModel(mending)) as agent:
        assert agent.send("Seven years.").text == "Mended."
        assert sam(agent) == {"name": "Sam", "years": 7}


def test_profiles_go_out_and_come_in(cli: Cli) -> None:
    """Export and import keep them; a dump is edited as JSON and loaded, a misfit names its file."""
    with agent_at(cli.home, ScriptedModel(["Hm."]), keeper(more="value: {name: Sam}")) as agent:
        agent.send("Hello.")
    file, folder = cli.home / "ada.pmz", cli.home / "dump"
    assert cli("agents", "export", "ada", str(file)).code == 0
    assert cli("agents", "import", str(file), "--as", "eve").code == 0
    with runtime_at(cli.home) as runtime:
        eve = runtime.agent("eve", model=ScriptedModel([]))
        eve.call("core_set", {"block": "sam", "path": "age", "value": 8})
        assert sam(eve) == {"name": "Sam", "age": 8}
    assert cli("memory", "dump", "ada", str(folder)).code == 0
    page = folder / "blocks" / "sam.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace('"name": "Sam"', '"name":"Sam"'), encoding="utf-8")
    with runtime_at(cli.home) as runtime:
        assert not load_memory(runtime, "ada", folder, dry_run=True).plan.changes  # only its form
        page.write_text(text.replace('"name": "Sam"', '"age":7,"name":"Ben"'), encoding="utf-8")
        assert load_memory(runtime, "ada", folder).plan.changes
        assert '"name": "Ben",\n "age": 7' in page.read_text(encoding="utf-8")
    page.write_text(text.replace('"name"', '"nam"'), encoding="utf-8")
    refused = cli("memory", "load", "ada", str(folder))
    assert refused.code == 1
    assert "sam.md:" in refused.err
    assert "did you mean 'name'" in refused.err


def test_a_shared_profile_is_held_by_all(cli: Cli) -> None:
    """Two agents set fields of one; a person's edit is held to it; a text somebody forced into it
    is told, and can be written anew."""
    shared = keeper(more="shared: sam_profile")
    with runtime_at(cli.home) as runtime:
        ada = runtime.agent("ada", shared, model=ScriptedModel(after="Hm."))
        ben = runtime.agent("ben", shared, model=ScriptedModel(after="Hm."))
        ada.call("core_set", {"block": "sam", "path": "name", "value": "Sam"})
        ben.call("core_set", {"block": "sam", "path": "age", "value": 7})
        ada.send("Hello.")
        assert sam(ada) == sam(ben) == {"name": "Sam", "age": 7}
    refused = cli("blocks", "edit", "sam_profile", "--text", "Sam is 7.")
    assert refused.code == 1
    assert "sam_profile (a profile of ada): it is no JSON" in refused.err
    assert cli("blocks", "edit", "sam_profile", "--text", '{"age": 8}').code == 0
    with runtime_at(cli.home) as runtime:
        runtime.shared_blocks.change(
            "sam_profile", lambda now: "Sam.", author="user", reason="forced", origin="user"
        )
        ada = runtime.agent("ada", model=ScriptedModel(after="Hm."))
        with pytest.raises(Exception, match="no JSON"):
            ada.call("core_set", {"block": "sam", "path": "age", "value": 9})
        ada.call("core_rewrite", {"block": "sam", "content": '{"age": 9}'})
        assert sam(ada) == {"age": 9}
