"""A definition is checked whole: every fault with its line, what is allowed and the nearest."""

import json
from pathlib import Path

import pytest

from pagemind.runtime import settings
from pagemind.runtime.definition import (
    AgentDefinition,
    load_definition,
    parse_definition,
    shipped_definitions,
)
from pagemind.runtime.errors import DefinitionError, UnknownDefinition
from pagemind.runtime.function_names import GROUPS, expand
from pagemind.runtime.settings import SEARCH_RANKINGS, SEARCH_WEIGHTS
from pagemind.runtime.template import load
from pagemind.runtime.tiers.composite import RANKINGS


def parse(text: str, **environ: str) -> AgentDefinition:
    """The definition in `a.yaml`, in an environment of these variables only."""
    return parse_definition(text, "a.yaml", environ=environ)


def faults(text: str, **environ: str) -> list[str]:
    """The lines of the error that this text makes."""
    with pytest.raises(DefinitionError) as caught:
        parse(text, **environ)
    return caught.value.message.splitlines()


def fault(text: str, **environ: str) -> str:
    """The one line of the error that this text makes."""
    (line,) = faults(text, **environ)
    return line


# --- what a definition says ---------------------------------------------------------------------


def test_a_name_is_enough() -> None:
    """Everything else has the defaults of settings.py."""
    agent = parse("name: ada")
    assert agent.embedding == "local/minilm"
    assert (agent.pressure.warn, agent.pressure.flush, agent.pressure.keep) == (0.7, 1.0, 0.5)
    assert list(agent.blocks) == ["persona", "human"]
    assert agent.blocks["human"].limit == settings.BLOCK_LIMIT
    every = [name for group in GROUPS.values() for name in group]
    assert agent.functions == tuple(name for name in every if name != "core_set")  # no profile
    assert agent.limits.steps == settings.MAX_STEPS
    assert agent.protocol == "default"
    assert not agent.states("protocol")


def test_short_forms_are_spelt_out() -> None:
    """A model by its name, a block by its text or by nothing, one prompt or several."""
    agent = parse(
        "name: ada\nmodel: openai/x\nsystem: memgpt\nblocks: {persona: I am Ada., human: }\n"
    )
    assert agent.model is not None
    assert agent.model.name == "openai/x"
    assert agent.blocks["persona"].value == "I am Ada."
    assert agent.blocks["human"].value == ""
    assert agent.system == ("memgpt",)


def test_a_model_may_say_how_to_reach_it() -> None:
    """Address, key variable, parameters, fallbacks in order, and the summariser."""
    agent = parse(
        """
        name: ada
        model:
          name: openai/x
          api_base: http://localhost:8000/v1
          api_key_env: MY_KEY
          params: {temperature: 0.2}
          fallbacks: [a/b, {name: c/d, api_base: "https://e"}]
          summarizer: f/g
        """
    )
    assert agent.model is not None
    assert [f.name for f in agent.model.fallbacks] == ["a/b", "c/d"]
    assert agent.model.params == {"temperature": 0.2}
    assert agent.summarizer_name == "f/g"


def test_functions_stand_in_the_order_of_the_table() -> None:
    """Groups and single names mix, none twice, and the order written does not matter."""
    one = parse("name: a\ntools: [clock_now, archival, archival_insert, core_append]")
    two = parse("name: a\ntools: [core_append, archival, clock]")
    assert one.functions == two.functions == expand(["core_append", "archival", "clock"])


def test_no_functions_is_a_choice() -> None:
    """An empty list means none, not all."""
    assert parse("name: a\ntools: []").functions == ()


def test_a_date_stays_text() -> None:
    """YAML 1.2: `2026-01-05` and `no` are text, not a date and not false."""
    agent = parse("name: a\nblocks: {x: 2026-01-05, y: no}")
    assert agent.blocks["x"].value == "2026-01-05"
    assert agent.blocks["y"].value == "no"


def test_searches_are_ranked_as_the_definition_says() -> None:
    """A composite by name, and weights over the shipped ones."""
    said = parse("name: ada\nsearch: {ranking: park, weights: {speaker: 0, date: 0.3}}").search
    assert (said.ranking, said.weights) == ("park", {"speaker": 0, "date": 0.3})
    assert said.all_weights == {**SEARCH_WEIGHTS, "speaker": 0, "date": 0.3}
    plain = parse("name: ada").search
    assert (plain.ranking, plain.all_weights) == ("relevance", SEARCH_WEIGHTS)


def test_the_rankings_that_may_be_named_are_those_that_exist() -> None:
    """Definitions are read long before any ranking is imported."""
    assert tuple(RANKINGS) == SEARCH_RANKINGS


def test_a_definition_is_frozen() -> None:
    """A loaded definition cannot be changed in passing."""
    with pytest.raises(ValueError, match="frozen"):
        parse("name: a").name = "b"


# --- the environment ----------------------------------------------------------------------------


def test_variables_resolve_and_are_not_stored() -> None:
    """`${VAR}` reaches the value; raw and JSON keep what was written."""
    text = "name: a\nmodel: {name: x/y, params: {extra: '${SECRET}'}}\nblocks: {me: '${WHO:-Ada}'}"
    agent = parse(text, SECRET="hush")
    assert agent.model is not None
    assert agent.model.params == {"extra": "hush"}
    assert agent.blocks["me"].value == "Ada"
    assert "hush" not in agent.to_json()
    assert "hush" not in json.dumps(agent.raw)
    assert "hush" not in repr(agent)


def test_a_variable_may_stand_for_a_number() -> None:
    """A number may come from the environment."""
    assert parse("name: a\ncontext_window: ${W}", W="4096").context_window == 4096
    assert parse("name: a\nbudget: {day_usd: '${B:-1.5}'}").budget.day_usd == 1.5


def test_an_empty_variable_takes_the_default() -> None:
    """As in a shell, `:-` also stands for a variable that is set but empty."""
    assert parse("name: ${N:-ada}", N="").name == "ada"


def test_a_doubled_dollar_is_literal() -> None:
    """`$${VAR}` is text."""
    assert parse("name: a\ndescription: costs $5, $${X}").description == "costs $5, ${X}"


def test_a_variable_that_is_not_set_is_named() -> None:
    """The error names the variable, its line, and how to give a default, and says it once."""
    assert fault("name: a\ncontext_window: ${W}") == (
        "a.yaml:2: context_window: ${W} is not set; set it, or write ${W:-default} for a default"
    )


# --- storing ------------------------------------------------------------------------------------


def test_stored_and_read_again_it_is_the_same() -> None:
    """from_json is the inverse of to_json; variables are resolved anew."""
    agent = parse("name: a\nblocks: {me: '${WHO}'}\ntools: [core]", WHO="Ada")
    again = AgentDefinition.from_json(agent.to_json(), environ={"WHO": "Eve"})
    assert again.raw == agent.raw
    assert again.tools == agent.tools
    assert again.blocks["me"].value == "Eve"


def test_a_prompt_given_by_path_is_stored(tmp_path: Path) -> None:
    """The agent keeps its instructions when the files are moved away."""
    (tmp_path / "mine.md").write_text("You work for {{ team }}.")
    path = tmp_path / "a.yaml"
    path.write_text("name: a\nsystem: ./mine.md\nvars: {team: harbour}\n")
    stored = load_definition(path).to_json()
    (tmp_path / "mine.md").unlink()
    path.unlink()
    assert AgentDefinition.from_json(stored).instructions().startswith("You work for harbour.\n\n")


def test_a_newer_format_is_refused() -> None:
    """What a newer pagemind stored is not guessed at."""
    stored = json.loads(parse("name: a").to_json()) | {"v": 99}
    with pytest.raises(DefinitionError, match="newer pagemind"):
        AgentDefinition.from_json(json.dumps(stored))


# --- instructions -------------------------------------------------------------------------------


def test_prompts_are_joined_in_order() -> None:
    """Several prompts make one text, and a protocol adds its own at the end."""
    agent = parse("name: a\nsystem: [memgpt, coder]\nprotocol: heartbeat")
    assert [p.source for p in agent.prompts()] == ["memgpt.md", "coder.md", "heartbeat.md"]
    assert agent.instructions().index("programmer") > agent.instructions().index("persistent")


def test_the_runtime_may_choose_another_protocol() -> None:
    """Without a `system` of its own, a definition takes the prompt of the protocol in use."""
    agent = parse("name: a")
    assert [p.source for p in agent.prompts()] == ["memgpt.md"]
    assert [p.source for p in agent.prompts("heartbeat")] == ["memgpt.md", "heartbeat.md"]


def test_text_may_stand_in_the_definition() -> None:
    """A `system` of several words is the prompt itself, filled like any other."""
    agent = parse("name: a\nsystem: |\n  You are {{ who }}.\n  Be brief.\nvars: {who: 7}\n")
    own, _, rest = agent.instructions().partition("\n\n")
    assert own == "You are 7.\nBe brief."
    assert rest == load("data").text.strip()


def test_variables_of_prompts_are_held_to_vars() -> None:
    """One too few and one too many are faults of the definition, with line and nearest name."""
    lines = faults("name: a\nsystem: You are {{ who }}.\nvars:\n  whom: Ada\n")
    assert lines == [
        "a.yaml:3: vars: a.yaml: system needs 'who'; add it under vars",
        "a.yaml:4: vars.whom: no prompt of this definition uses it; did you mean 'who'?",
    ]


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("memgtp", "no prompt is called 'memgtp'; did you mean memgpt?"),
        ("./absent.md", "absent.md: no such file or directory"),
        ("You are {{ my-name }}.", "{{ my-name }} is not a variable"),
    ],
)
def test_a_prompt_that_cannot_be_used_is_a_fault(system: str, said: str) -> None:
    """Unknown, absent and malformed prompts are found at load, not in the first turn."""
    line = fault(f"name: a\nsystem: {system!r}\n")
    assert line.startswith("a.yaml:2: system: ")
    assert said in line


# --- faults -------------------------------------------------------------------------------------


def test_all_faults_are_told_at_once_in_the_order_of_the_file() -> None:
    """A person mends a file in one pass."""
    lines = faults(
        """nmae: a
pressure: {warn: 0.4, flsh: 1}
blocks:
  Human: {value: x}
  ok: {value: abcdef, limit: 3}
tools: [cor]
timezone: europe/lisbn
limits: {steps: many, cost: -1}
"""
    )
    assert [line.split(": ")[0] for line in lines] == [
        f"a.yaml:{n}" for n in (1, 2, 4, 5, 6, 7, 8, 8)
    ]
    assert "did you mean 'name'?" in lines[0]
    assert "did you mean 'flush'? allowed: warn, flush, keep" in lines[1]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("modle: x", "modle: unknown key; did you mean 'model'? allowed: name, description, model"),
        ("zzz: 1", "zzz: unknown key; allowed: name"),
        ("model: {name: x, api_keyenv: K}", "did you mean 'api_key_env'?"),
        ("model: {name: a b}", "'a b' is not a model"),
        ("model: {api_base: 'http://x'}", "model.name: is missing"),
        ("model: {name: x, api_base: localhost}", "it starts with http:// or https://"),
        ("model: {name: x, params: {api_key: k}}", "write api_key_env beside params"),
        ("model: {name: x, params: {stream: true}}", "'stream' is set by the runtime"),
        ("model: {name: x, fallbacks: [{nam: y}]}", "model.fallbacks.0"),
        ("pressure: {warn: 0.4}", "here keep 0.5, warn 0.4, flush 1"),
        ("pressure: {flush: 1.2}", "0 < keep < warn < flush ≤ 1 must hold"),
        ("pressure: 3", "must be a mapping of keys to values, not 3"),
        ("context_window: 10", "must be at least 1,024, not 10"),
        ("context_window: yes please", "must be a number, not 'yes please'"),
        ("context_window: true", "must be a number, not true or false"),
        ("context_window: 2048.5", "must be a whole number"),
        ("trust: {world: true}", "must be 'ask', 'refuse' or 'allow', not true"),
        ("protocol: tools", "must be 'default', 'heartbeat' or 'guided', not 'tools'"),
        ("description: 12", "must be text, not 12; put it in quotes"),
        ("embedding: ~", "must be text, not empty"),
        ("blocks: {Human: x}", "'Human' is not a block label"),
        ("blocks: {'a\"b': x}", "is not a block label"),
        ("blocks: [a]", "must be a mapping of keys to values, not a list"),
        ("blocks: {a: {limit: 3, value: abcdef}}", "6 of 3 characters; shorten it by 3"),
        ("blocks: {a: {read_only: maybe}}", "must be true or false, not 'maybe'"),
        ("tools: core", "must be a list, not 'core'"),
        ("tools: [core_apend]", "no function or group is called 'core_apend'; did you mean 'core_"),
        ("tools: [page_out]", "groups: core, recall, archival, pages, clock"),
        ("prefetch: {tokens: -1}", "must be at least 0, not -1"),
        ("prefetch: {token: 100}", "did you mean 'tokens'? allowed: tokens, recall, archival, pa"),
        ("prefetch: {recall: 100}", "must be at most 20, not 100"),
        ("prefetch: 600", "must be a mapping"),
        ("gists: {model: sometimes}", "must be true or false, not 'sometimes'"),
        ("gists: false", "must be a mapping"),
        ("prompt: {refresh_blocks: always}", "must be 'on_edit' or 'on_flush', not 'always'"),
        ("prompt: {refresh: on_edit}", "did you mean 'refresh_blocks'?"),
        ("search: {rankin: park}", "did you mean 'ranking'? allowed: depth, ranking, weights"),
        (
            "search: {ranking: prak}",
            "no ranking is called 'prak'; did you mean 'park'? rankings: rel",
        ),
        ("search: {weights: {vectr: 1}}", "no weight is called 'vectr'; did you mean 'vector'?"),
        ("search: {weights: {vector: heavy}}", "must be a number, not 'heavy'"),
        ("search: {weights: {vector: 1000}}", "vector must be from -100 to 100, not 1000"),
        ("timezone: Lisbon", "no time zone is called 'Lisbon'"),
        ("timezone: ../../etc/passwd", "no time zone is called"),
        ("timezone: europe/lisbon2", "did you mean 'Europe/Lisbon'?"),
        (
            "sleep: sometimes",
            "sleep.when: must be off, idle, every N turns or a cron line: 'sometim",
        ),
        ("sleep: 3", "must be off, idle, every N turns, a cron line, or a mapping with `when`"),
        ("sleep: {reflect: {every: 0}}", "sleep.reflect.every: must be at least 1, not 0"),
        ("scopes: {read: [/app], write: /app}", "scopes.read has only /app; say `scope: /app`, or"),
        ("budget: {day_usd: -1}", "must be at least 0, not -1"),
        ("limits: {identical_calls: 1}", "must be at least 2, not 1"),
        ("limits: {stepps: 1}", "did you mean 'steps'?"),
        ("vars: {a: [1]}", "must be text or a number"),
        ("local_only: sometimes", "must be true or false"),
        ("system: {a: b}", "system: must be"),
    ],
)
def test_a_fault_says_what_is_allowed(line: str, said: str) -> None:
    """Each kind of fault names its line, its key and what would be right."""
    lines = faults(f"name: a\n{line}\n")
    assert lines[0].startswith("a.yaml:2: ")
    assert said in lines[0]


def test_a_key_in_the_wrong_place_is_not_repeated() -> None:
    """Whoever wrote a key where its variable's name belongs does not find it in a log."""
    line = fault("name: a\nmodel: {name: x, api_key_env: sk-proj-1234}")
    assert "not the key itself" in line
    assert "1234" not in line


def test_bounds_between_sections_hold() -> None:
    """The reserve leaves half of the window, and only one place names the summariser."""
    assert "at most 1,024 of 2,048" in fault("name: a\ncontext_window: 2048\noutput_reserve: 1500")
    assert "keep one" in fault("name: a\nmodel: {name: x, summarizer: y}\nsummarizer: z")


def test_a_guided_model_sees_edits_at_once() -> None:
    """It reads what is known from the blocks."""
    said = fault("name: a\nprotocol: guided\nprompt: {refresh_blocks: on_flush}")
    assert "protocol guided reads what was edited from the blocks; keep on_edit" in said


@pytest.mark.parametrize("name", ["", "a b", "../x", "a/b", "-x", "x" * 65, "ä", "🐙"])
def test_a_name_is_a_plain_word(name: str) -> None:
    """Names that are no names are refused with the rule."""
    assert "is not a name" in fault(f"name: {json.dumps(name)}")


# --- files that are no definitions --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a.yaml:1: the file is empty"),
        ("# only a comment\n", "a.yaml:1: the file is empty"),
        ("- a\n", "a.yaml:1: a definition is a mapping of keys to values, not a list"),
        ("hello", "not a single value"),
        ("name: a\nname: b\n", "a.yaml:2: the key 'name' stands twice"),
        ("name: a\nblocks:\n\thuman: x\n", "a.yaml:3: a tab cannot indent YAML"),
        ("name: a\nsystem: b: c\n", "a.yaml:2: a colon where none can stand"),
        ("name: a\n---\nname: b\n", "a.yaml:2: more than one document"),
        ("name: *x\n", "a.yaml:1: an alias"),
        ("name: 'a\n", "a quote is not closed"),
        ("tools: [a\n", "a bracket is not closed"),
        ("budget: {day_usd: ${B}}\n", "a.yaml:1: ${VAR} inside { } or [ ] must be in quotes"),
        ("1: a\n", "the key 1 is not text"),
        ("name: .inf\n", "is not a number that can be stored"),
        ("name: !!python/object:os.system x\n", "tags are not allowed"),
        ("name: a\ndescription: \x07\n", "a.yaml:2: a character that YAML does not allow (U+0007)"),
        ("name: a\x00\n", "(U+0000)"),
        ("name: \ud800\n", "(U+D800)"),
        ("[" * 3000, "a.yaml:1: nested too deeply"),
        ("x: " + "y" * (10 << 20), "a.yaml:1: longer than 64 KB"),
    ],
)
def test_what_is_no_definition_is_said_in_plain_words(text: str, said: str) -> None:
    """Malformed YAML never shows the parser's terms or a traceback."""
    assert said in fault(text)


def test_anchors_work_and_bombs_do_not() -> None:
    """An anchor may be used again; ones that multiply without bound are refused."""
    agent = parse("name: a\nblocks: {x: &b {limit: 9}, y: *b}")
    assert agent.blocks["y"].limit == 9
    rows = ["a: &a [1,1,1,1,1,1,1,1,1,1]"]
    for one, next_one in zip("abcdefgh", "bcdefghi", strict=True):
        rows.append(f"{next_one}: &{next_one} [{','.join([f'*{one}'] * 10)}]")
    assert "more than 10,000 values" in fault("\n".join(rows))


def test_an_escaped_surrogate_is_cleaned() -> None:
    """What UTF-8 cannot hold never gets past the reader."""
    agent = parse('name: a\nblocks: {x: "a\\ud800b"}')
    assert agent.blocks["x"].value.encode("utf-8")


# --- loading ------------------------------------------------------------------------------------


def test_an_unknown_name_gets_the_nearest() -> None:
    """A misspelt shipped name is answered with the one meant, and all there are."""
    with pytest.raises(UnknownDefinition, match="no definition is called 'asistant'") as caught:
        load_definition("asistant")
    assert "did you mean assistant?" in caught.value.hint
    assert all(name in caught.value.hint for name in shipped_definitions())


def test_an_absent_file_gets_its_nearest_neighbour(tmp_path: Path) -> None:
    """A misspelt path is answered with the file beside it."""
    (tmp_path / "harbour.yaml").write_text("name: a")
    with pytest.raises(UnknownDefinition, match="no such file") as caught:
        load_definition(tmp_path / "harbor.yaml")
    assert "harbour.yaml" in caught.value.hint


def test_a_folder_is_no_definition(tmp_path: Path) -> None:
    """A folder is refused in one line."""
    with pytest.raises(UnknownDefinition, match="is a directory"):
        load_definition(tmp_path)


@pytest.mark.parametrize("data", [b"\xff\xfen\x00a\x00", b"name: \xe9\n", b"\x89PNG\r\n\x1a\n\x00"])
def test_a_binary_file_is_refused_with_its_line(tmp_path: Path, data: bytes) -> None:
    """What is not UTF-8 is named as such."""
    path = tmp_path / "a.yaml"
    path.write_bytes(data)
    with pytest.raises(DefinitionError, match=r"a\.yaml:1: not UTF-8 text"):
        load_definition(path)


def test_a_file_with_a_bom_loads(tmp_path: Path) -> None:
    """Editors that write a byte order mark do no harm."""
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: a\r\n")
    assert load_definition(path).name == "a"
    assert load_definition(path).source == str(path)


@pytest.mark.parametrize("where", ["params", "fallback"])
def test_a_key_in_a_header_must_come_from_the_environment(where: str) -> None:
    """Definitions are stored and shown: a header that is a key names a variable."""
    params = "params: {extra_headers: {X-Team: blue, Authorization: 'KEY'}}"
    model = f"{{name: openai/x, {params}}}"
    if where == "fallback":
        model = f"{{name: openai/y, fallbacks: [{model}]}}"
    text = f"name: a\nmodel: {model}\n"
    with pytest.raises(DefinitionError, match="keys stay out of definitions") as refused:
        parse_definition(text.replace("KEY", "Bearer planted-1234"))
    assert "planted" not in refused.value.message
    written = text.replace("KEY", "Bearer ${TEAM_KEY}")
    fine = parse_definition(written, environ={"TEAM_KEY": "planted-1234"})
    assert "planted" not in fine.to_json()


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("{every: 1h}", "message: is missing"),
        ("{message: x}", "says when by one of every, cron, at"),
        ("{every: 1h, cron: '0 9 * * *', message: x}", "says when by one of every, cron, at"),
        ("{every: blue moon, message: x}", "is no time for a timer"),
        ("{cron: '61 * * * *', message: x}", "is no cron line: bad minute"),
        ("{every: 1h, message: ' '}", "message is empty"),
        ("{every: 1h, name: a, message: x}, {every: 2h, name: a, message: x}", "names two timers"),
    ],
)
def test_timers_that_cannot_be_are_told_with_their_line(written: str, why: str) -> None:
    """Before any agent is made."""
    with pytest.raises(DefinitionError, match=f"definition:2: schedules.*{why}"):
        parse_definition(f"name: x\nschedules: [{written}]\n")
