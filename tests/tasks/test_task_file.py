"""What is wrong with a task file is told before anything runs: its line, and what is allowed."""

import pytest
from task_kit import HEAD, Bench

from pagemind.runtime.errors import DefinitionError, UserError

LINES = "inputs: {lines: in.txt}\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("do: []", "task.yaml:2: do: holds nothing to do"),
        ("do: [{sya: x}]", "unknown key; did you mean 'say'?"),
        ("do: [{say: x, call: y}]", "say and call are two actions"),
        ("do: [{say: x, with: {a: b}}]", "with does not go with say; that takes: as, budget"),
        ("do: [{repeat: [{say: x}]}]", "repeat needs until, and at_most"),
        ("do: [{say: x}]\nagents: per_input", "per_input is about inputs, and there are none"),
        ("do: [{say: x}]\ninputs: {lines: a, csv: b}", "must say one of files, tree"),
        ("do: [{say: x}]\ninputs: {}", "must say one of files, tree"),
        ("do: [{say: x}]\ninputs: {files: 'a/**/b/**'}", "** may stand once"),
        ("do: [{say: x}]\non_error: giveup", "'stop' or 'ask', not 'giveup'"),
        ("do: [{say: x}]\nbudget: {task: {token: 1}}", "did you mean 'tokens'?"),
        ("do: [{say: x}]\nbudget: {task: {tokens: 0}}", "must be at least 1"),
        ("do: [{say: '{{ a b }}'}]", "is no variable"),
        ("do: [{say: x, expect: {regex: '('}}]", "is no pattern"),
        ("do: [{say: x, expect: {of: x}}]", "must say what holds"),
        ("do: [{say: x, schema: {type: 7}}]", "do.1.schema: type: 7 is not valid"),
        ("do: [{say: x, schema: none.json}]", "none.json: no such file"),
        ("do: [{say: x, save: {file: a.txt, row: {a: b}}}]", "a row is written to a .jsonl file"),
        ("do: [{save: x}]", "there is no reply yet"),
        ("do: [{expect: {contains: x}}]", "there is no reply yet"),
        ("do: [{say: '{{ input }}'}]", "no variable is called 'input'"),
        ("do: [{if: {contains: x, of: y}, then: [{say: x, as: a}]}, {say: '{{ a }}'}]", "'a'"),
        ("vars: {a: x}\ndo: [{say: '{{ a.b }}'}]", "a is a text: it has no field 'b'"),
        ("vars: {a:}\ndo: [{say: x}]", "write  {a: }, with a blank"),
        ("vars: {a: }\ndo: [{say: '{{ a }}'}]", "vars.a: has no value; give it with --set a=…"),
    ],
)
def test_a_fault_is_told(bench: Bench, text: str, says: str) -> None:
    """In words, where it stands."""
    with pytest.raises(DefinitionError) as told:
        bench.task(text + "\n")
    assert says in told.value.message
    assert "task.yaml:" in told.value.message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("do: [{say: '{{ block.humna }}'}]", "no block 'humna'; did you mean 'human'?"),
        ("do: [{call: core_apend}]", "no function 'core_apend'; did you mean 'core_append'?"),
        ("do: [{call: core_append, with: {block: human}}]", "core_append needs content"),
        ("do: [{call: core_append, with: {block: a, content: b, x: c}}]", "does not take it"),
        ("do: [{say: x, save: {file: a, block: persona}}]", "no block 'persona'"),
    ],
)
def test_what_the_agent_lacks_is_told(bench: Bench, text: str, says: str) -> None:
    """Before it is made."""
    with pytest.raises(DefinitionError) as told:
        bench.run(text + "\n")
    assert says in told.value.message
    assert not bench.model.requests


def test_fields_of_a_schema_and_of_columns_are_known(bench: Bench) -> None:
    """A field that neither has is a fault, also inside what `as` names."""
    bench.file("t.csv", "name,age\nSam,3\n")
    schema = "{type: object, properties: {n: {type: integer}}}"
    text = "inputs: {csv: t.csv}\ndo:\n"
    text += f"  - {{say: '{{{{ input.nmae }}}}', schema: {schema}, as: a}}\n"
    text += "  - {say: '{{ data.m }} {{ a.k }} {{ data.n }}'}\n"
    with pytest.raises(DefinitionError) as told:
        bench.task(text)
    message = told.value.message
    assert "input has no field 'nmae'; did you mean 'name'? known: name, age" in message
    assert "data has no field 'm'" in message
    assert "a has no field 'k'" in message


def test_a_value_that_is_set_must_be_declared(bench: Bench) -> None:
    """With the nearest."""
    with pytest.raises(UserError, match="--set cty") as told:
        bench.task("vars: {city: x}\ndo: [{say: x}]\n", {"cty": "y"})
    assert "did you mean city?" in told.value.hint


def test_an_agent_is_a_name_or_is_made(bench: Bench) -> None:
    """per_input needs one that can be made."""
    with pytest.raises(DefinitionError, match="needs definition"):
        bench.task("do: [{say: x}]\n", head="agent: {model: scripted/echo}\n")
    with pytest.raises(DefinitionError, match=r"write agent: \{definition: …\}"):
        bench.task(LINES + "agents: per_input\ndo: [{say: x}]\n", head="agent: ada\n")
    with pytest.raises(UserError, match="no agent is called 'ada'"):
        bench.run(bench.task("do: [{say: x}]\n", head="agent: ada\n"))
    assert HEAD.startswith("agent: {definition")
