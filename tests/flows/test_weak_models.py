"""Weak and odd models: whatever comes back, the turn ends by a name of docs/stop-reasons.md.

Each case speaks through real litellm to a server that judges every request; what was said stays,
nothing is run that was not asked for, and any provider would accept what the next request shows.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pytest
from kernel_kit import everything, small
from loopback import Call, Loopback, Reply
from native_wire import (
    ANTHROPIC_REPLY,
    GEMINI_REPLY,
    NativeServer,
    anthropic_faults,
    gemini_faults,
)
from provider_kit import agent_on, illegal, said

from pagemind.runtime.models.litellm_model import LitellmModel
from pagemind.runtime.turn import TurnResult

ASKED = "Please remember that I am called Sam."
APPEND = {"block": "human", "content": "Is called Sam."}
AS_TEXT = json.dumps({"name": "core_append", "arguments": APPEND})


def append(arguments: object = APPEND, **more: object) -> Reply:
    call = Call("core_append", arguments, **more)
    return Reply(calls=(call,))


@dataclass(frozen=True)
class Case:
    """`replies`, then "Well." for good; the turn ends with `stop` and says `text`.

    `human` is core memory afterwards, `oks` whether each call went well, `told` a text that the
    first result holds.
    """

    replies: Sequence[Reply | str]
    stop: str = "answered"
    text: str = "Well."
    human: str = ""
    oks: Sequence[bool] = ()
    told: str = ""
    seen_late: bool = False  # a stray closing tag, which nobody can foresee in a stream


HUMAN = "Is called Sam."
CUT = '{"block": "human", "content": "Is called Sa'

CASES = {
    # --- prose and JSON where a call or an answer was wanted ---
    "prose": Case(["I would call core_append now."], text="I would call core_append now."),
    "broken JSON": Case(["{Hello, Sam! I am"], text="{Hello, Sam! I am"),
    "JSON of another shape": Case(
        ['{"type": "bot_response", "message": "Hi."}'],
        text='{"type": "bot_response", "message": "Hi."}',
    ),
    "arguments of another shape": Case(
        [append({"type": "bot_response", "text": "Hi."})], oks=[False], told="does not take type"
    ),
    # --- a call written as text ---
    "a call as text": Case([AS_TEXT], human=HUMAN, oks=[True]),
    "a call in a tag": Case([f"<tool_call>\n{AS_TEXT}\n</tool_call>"], human=HUMAN, oks=[True]),
    "a call in a fence": Case([f"```json\n{AS_TEXT}\n```"], human=HUMAN, oks=[True]),
    "thought, then a call as text": Case(
        [f"<think>Save it.</think>\n{AS_TEXT}"], human=HUMAN, oks=[True]
    ),
    "a call within prose": Case([f"Sure. {AS_TEXT}"], text=f"Sure. {AS_TEXT}"),
    "an unknown function as text": Case(
        ['{"name": "rm_rf", "arguments": {}}'], text='{"name": "rm_rf", "arguments": {}}'
    ),
    "a call as text, cut off": Case([Reply(AS_TEXT[:-9], finish="length")], text=AS_TEXT[:-9]),
    # --- names and arguments ---
    "an invented function": Case(
        [Reply(calls=(Call("core_memory.apend", APPEND),)), append()],
        human=HUMAN,
        oks=[False, True],
        told="Functions: core_append",
    ),
    "a near miss": Case(
        [Reply(calls=(Call("core_apend", APPEND),))], oks=[False], told="Did you mean core_append"
    ),
    "a name beyond all length": Case([Reply(calls=(Call("x" * 500, {}),))], oks=[False]),
    "missing arguments": Case([append({"block": "human"})], oks=[False], told="content: field req"),
    "no arguments at all": Case([append("")], oks=[False], told="block: field required"),
    "extra arguments": Case([append({**APPEND, "mood": 1})], oks=[False], told="not take mood"),
    "null for a text": Case([append({"block": "human", "content": None})], oks=[False]),
    "a number for a text": Case(
        [append({"block": "human", "content": 42})], human="42", oks=[True]
    ),
    "a list for a text": Case([append({"block": "human", "content": ["Sam"]})], oks=[False]),
    "a text for a number": Case(
        [Reply(calls=(Call("recall_search", {"query": "Sam", "part": "1"}),))], oks=[True]
    ),
    "null for an option": Case(
        [Reply(calls=(Call("recall_search", {"query": "Sam", "role": None, "end": "null"}),))],
        oks=[True],
    ),
    "arguments that are a list": Case([append('["human", "Sam"]')], oks=[False]),
    "arguments that are prose": Case(
        [append("please append it")], oks=[False], told="not a JSON object"
    ),
    "arguments encoded twice": Case(
        [append(json.dumps(json.dumps(APPEND)))], "answered", oks=[True], human=HUMAN
    ),
    "arguments without their brace": Case(
        [append('{"block": "human", "content": "Is called Sam."')], human=HUMAN, oks=[True]
    ),
    "half a surrogate": Case(
        [append('{"block": "human", "content": "\\ud83c"}')], human="\ufffd", oks=[True]
    ),
    # --- cut off ---
    "cut off by max_tokens": Case(
        [Reply(calls=(Call("core_append", CUT),), finish="length")], oks=[False], told="cut off"
    ),
    "cut off, and called a stop": Case([append(CUT)], oks=[False], told="cut off"),
    "whole, but at the limit": Case(
        [Reply(calls=(Call("core_append", APPEND),), finish="length")], oks=[False], told="cut off"
    ),
    "cut off in the second call": Case(
        [Reply(calls=(Call("core_append", APPEND), Call("core_append", CUT)), finish="length")],
        human=HUMAN,
        oks=[True, False],
    ),
    "text cut off": Case([Reply("Dear Sa", finish="length")], text="Dear Sa"),
    # --- how calls are put on the wire ---
    **{
        f"two calls, {style}, {ids} ids": Case(
            [
                Reply(
                    calls=(
                        Call("core_append", APPEND, id=id),
                        Call("core_append", {"block": "human", "content": "Sails."}, id=id),
                    ),
                    call_style=style,
                )
            ],
            human="Is called Sam.\nSails.",
            oks=[True, True],
        )
        for style in ("split", "index_zero", "id_everywhere", "doubled")
        for ids, id in (("own", "auto"), ("no", None), ("empty", ""))
        # Without ids and indexes a call sent twice is two calls: nothing tells them apart.
        if not (style == "doubled" and ids != "own")
    },
    "two calls with one id": Case(
        [
            Reply(
                calls=(
                    Call("core_append", APPEND, id="c1"),
                    Call("core_append", {"block": "human", "content": "Sails."}, id="c1"),
                )
            )
        ],
        human="Is called Sam.\nSails.",
        oks=[True, True],
    ),
    "an id used before": Case(
        [append(id="c1"), append({"block": "human", "content": "Sails."}, id="c1")],
        human="Is called Sam.\nSails.",
        oks=[True, True],
    ),
    "a call that says stop": Case(
        [Reply(calls=(Call("core_append", APPEND),), finish="stop")], human=HUMAN, oks=[True]
    ),
    "no call that says tool_calls": Case([Reply("Hello.", finish="tool_calls")], text="Hello."),
    "text beside a call": Case(
        [Reply("I note it.", calls=(Call("core_append", APPEND),))],
        text="I note it.\n\nWell.",
        human=HUMAN,
        oks=[True],
    ),
    # --- nothing ---
    "an empty completion": Case(["", "Here."], text="Here."),
    "two empty completions": Case(["", " \n"], "empty", text=""),
    "nothing but a thought": Case(["<think>Hm.</think>", "<think>Hm, hm"], "empty", text=""),
    "a call without a name": Case([Reply(calls=(Call("", APPEND),)), ""], "empty", text=""),
    # --- no end ---
    "the same call for ever": Case(
        [Reply(calls=(Call("recall_search", {"query": "Sam"}),))] * 9,
        "repeated_call",
        text="",
        oks=[True] * 4,
    ),
    "the same call in one reply": Case(
        [Reply(calls=(Call("recall_search", {"query": "Sam"}),) * 9)],
        "repeated_call",
        text="",
        oks=[True] * 4,
    ),
    "invented functions for ever": Case(
        [Reply(calls=(Call(f"do_{n}", {}),)) for n in range(20)],
        "tool_errors",
        text="",
        oks=[False] * 8,
    ),
    "invented functions in one reply": Case(
        [Reply(calls=tuple(Call(f"do_{n}", {}) for n in range(20)))],
        "tool_errors",
        text="",
        oks=[False] * 8,
    ),
    "200 calls in a row": Case(
        [Reply(calls=(Call("recall_search", {"query": f"Sam {n}"}),)) for n in range(200)],
        "steps",
        text="",
        oks=[True] * 50,
    ),
    "200 calls in one reply": Case(
        [Reply(calls=tuple(Call("recall_search", {"query": f"Sam {n}"}) for n in range(200)))],
        oks=[True] * 32,
    ),
    # --- thought and refusal ---
    "a thought in the text": Case(["<think>Who is Sam?</think>Hello, Sam."], text="Hello, Sam."),
    "a thought without its opening": Case(
        ["Who is Sam?\n</think>\nHello."], text="Hello.", seen_late=True
    ),
    # The first, streamed, looks empty: litellm drops the key. Asked again, whole, it is seen.
    "a refusal": Case([Reply(refusal="I will not.")] * 2, "refused", text="I will not."),
    **{
        f"finish {reason}": Case([Reply(finish=reason)], "refused", text="")
        for reason in ("content_filter", "refusal", "SAFETY")
    },
    "a filter within the text": Case(
        [Reply("It is ", finish="content_filter")], "refused", text="It is "
    ),
    "a filter within a call": Case(
        [Reply(calls=(Call("core_append", CUT),), finish="content_filter")], "refused", text=""
    ),
}


@dataclass
class Seen:
    """A case as it went."""

    turn: TurnResult
    shown: str
    people: list[str]
    human: str
    results: list[str]
    faults: list[str]
    after: TurnResult
    illegal: list[str] = field(default_factory=list)


def walk(home: Path, case: Case) -> Seen:
    """The turn, and another one after it."""
    number = count()

    def reply(body: dict[str, object]) -> Reply | str:
        if not body.get("tools"):
            return "They talk."  # a summary
        at = next(number)
        return case.replies[at] if at < len(case.replies) else "Well."

    pieces: list[str] = []
    with (
        Loopback(reply, window=8192) as server,
        agent_on(home, server, small(8192, reserve=512)) as agent,
    ):
        turn = agent.send(
            ASKED,
            observer=lambda e: (
                pieces.append(str(e.data.get("text"))) if e.kind == "text_delta" else None
            ),
        )
        faults = illegal(agent)
        human = agent.context.core.get("human").value
        results = [m.text for m in everything(agent) if m.role == "tool"]
        number = count(len(case.replies))
        after = agent.send("And now?")
        return Seen(
            turn,
            "".join(pieces),
            said(agent),
            human,
            results,
            faults,
            after,
            [*server.illegal, *illegal(agent)],
        )


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_turn_ends_by_name_and_nothing_is_lost(tmp_path: Path, case: Case) -> None:
    """The stop reason, the answer, what was run and what was not; then the agent goes on."""
    seen = walk(tmp_path, case)
    assert (seen.turn.stop_reason, seen.turn.text) == (case.stop, case.text)
    assert [each.ok for each in seen.turn.tool_calls] == list(case.oks)
    assert seen.human == case.human
    if case.told:
        assert case.told in seen.results[0]
    assert seen.faults == seen.illegal == []
    assert seen.people == [ASKED, "And now?"]
    assert (seen.after.stop_reason, seen.after.text) == ("answered", "Well.")
    if case.stop != "answered":
        assert seen.turn.reasons
    # What a person watches is what they are left with: no call, no thought.
    if not case.seen_late:
        assert "".join(seen.shown.split()) == "".join(case.text.split())


def test_reasoning_goes_back_within_its_tool_loop_only(tmp_path: Path) -> None:
    """A server that wants its reasoning_content back gets it with the results, and not in the
    next turn; the person never reads it, and it is not what the agent said."""
    script = [Reply(calls=(Call("core_append", APPEND),), reasoning="Sam it is."), "Done.", "Well."]
    shown: list[str] = []
    with Loopback(script) as server, agent_on(tmp_path, server) as agent:
        turn = agent.send(ASKED, observer=lambda event: shown.append(str(event.data)))
        agent.send("And now?")
        echoed = [
            [m.get("reasoning_content") for m in body["messages"] if m["role"] == "assistant"]
            for body in server.requests
        ]
        assert echoed == [[], ["Sam it is."], [None, None]]
        assert turn.text == "Done."
        assert "Sam it is" not in "".join(shown)
        assert server.illegal == illegal(agent) == []


def test_a_provider_that_refuses_its_reasoning_never_gets_it(tmp_path: Path) -> None:
    """Mistral answers 400 to a key it does not know."""
    call = Call("core_append", APPEND, id="abcDEF123")
    script = [Reply(calls=(call,), reasoning="Sam it is."), "Done.", "Well."]
    with (
        Loopback(script, family="mistral") as server,
        agent_on(tmp_path, server, name="mistral/test") as agent,
    ):
        assert agent.send(ASKED).text == "Done."
        assert agent.send("And now?").text == "Well."
        assert "Sam it is" not in json.dumps(server.requests)
        assert server.illegal == illegal(agent) == []


def test_one_history_of_all_oddities_is_legal_for_every_provider(tmp_path: Path) -> None:
    """An agent that met every case in one life can go on with Anthropic or Gemini: what litellm
    sends them, in their own wire formats, is what they accept."""
    script: list[Reply | str] = []

    def reply(body: dict[str, object]) -> Reply | str:
        return script.pop(0) if script else "Well."

    with (
        Loopback(reply, window=200_000) as server,
        NativeServer(anthropic_faults, ANTHROPIC_REPLY) as anthropic,
        NativeServer(gemini_faults, GEMINI_REPLY) as gemini,
        agent_on(tmp_path, server, small(200_000, limit=100_000)) as agent,
    ):
        elsewhere = [
            LitellmModel("anthropic/claude-x", api_base=anthropic.url, api_key="k"),
            LitellmModel("gemini/gemini-x", api_base=gemini.url, api_key="k"),
        ]
        for case in CASES.values():
            if len(case.replies) <= 20:  # more of the same says nothing new
                script[:] = case.replies
                assert agent.send(ASKED).stop_reason == case.stop
        whole = agent.context.render(256)
        messages = whole.messages
        # As the model was asked on the way: after a message, and after the last of some results.
        ends = [
            at
            for at in range(1, len(messages) + 1)
            if messages[at - 1].role != "assistant"
            and (at == len(messages) or messages[at].role != "tool")
        ]
        for at in {*ends[:: len(ends) // 10], ends[-1], len(messages)}:
            for model in elsewhere:
                assert model.complete(replace(whole, messages=messages[:at])).text == "Yes."
        assert anthropic.faults == gemini.faults == server.illegal == []
        assert len(anthropic.bodies) == len(gemini.bodies) > 10
