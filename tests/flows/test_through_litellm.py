"""A whole walk through real litellm against a server that judges every request.

The server checks legality and counts tokens itself; its "model" saves what matters when it is
warned, answers shortly, and looks things up when it is asked.
"""

import json
import re
from typing import Any

import pytest
from loopback import Call, Loopback, Reply

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.models.litellm_model import LitellmModel
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import FrozenClock, HashingEmbedder

WINDOW = 2048
DEFINITION = parse_definition(
    f"""
name: walker
context_window: {WINDOW}
system: You keep a small log for people. Save what matters when you are warned.
blocks: {{human: {{limit: 600, description: What I know about the person.}}}}
tools: [core_append, archival_insert, recall_search, page_in]
timezone: Europe/Lisbon
"""
)
SECRET = "the mooring code of the Nomad is QX-7741"


def log_keeper(body: dict[str, Any]) -> Reply:
    """What a model would do, decided from the request alone."""
    if "tools" not in body:  # a summary
        return Reply("They keep a log of the harbour; the person is called Sam.")
    recent = [(m["role"], m.get("content") or "") for m in body["messages"][-8:]]
    role, last = recent[-1]
    asked = any("What is the mooring code" in text for _, text in recent)
    pages = [text for role, text in recent if role == "tool" and re.match(r"\[p\d+ part", text)]
    if asked and pages and (code := re.search(r"QX-\d+", pages[-1])):
        # The answer is at hand; a notice that came meanwhile does not change it.
        return Reply(f"It is {code[0]}.")
    results = [text for role, text in recent if role == "tool" and " among " in text]
    if asked and results and not pages and (page := re.search(r"\b(p\d+)\b", results[-1])):
        return Reply(calls=(Call("page_in", {"id": page[1]}),))
    if role == "tool":
        return Reply("Done.")
    if "[notice from pagemind" in last:
        return Reply(calls=(Call("core_append", {"block": "human", "content": "Is called Sam."}),))
    if asked:
        return Reply(calls=(Call("recall_search", {"query": "mooring code Nomad"}),))
    return Reply("Noted.")


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """110 messages, then a question about the third one."""
    clock = FrozenClock()
    events: list[str] = []
    with (
        Loopback(log_keeper, window=WINDOW) as server,
        Runtime(
            tmp_path_factory.mktemp("home"),
            clock=clock,
            embedder=HashingEmbedder(64),
            background=False,
        ) as runtime,
    ):
        model = LitellmModel("openai/test", api_base=server.url, api_key="sk-test")
        agent = runtime.agent("ada", DEFINITION, model=model)
        results = []
        for number in range(110):
            clock.advance(minutes=3)
            text = f"Entry {number}: wind {number % 9} from the {'NESW'[number % 4]}, all boats in."
            if number == 2:
                text = f"Entry {number}: I am Sam, and {SECRET}."
            results.append(agent.send(text, observer=lambda event: events.append(event.kind)))
        question = agent.send("What is the mooring code of my boat?")
        readings = [c for c in question.tool_calls if c.name == "page_in"]
        return {
            "server": server,
            "events": events,
            "results": results,
            "question": question,
            "read": readings,
            "human": agent.context.core.get("human").value,
            "pages": agent.state.pages.count(),
            "requests": server.requests,
        }


def test_no_request_is_illegal_or_over_the_window(walk: dict[str, Any]) -> None:
    """The server's own judgement: every request was legal and fitted with its reply."""
    assert walk["server"].illegal == []
    assert walk["server"].max_prompt_tokens <= WINDOW
    assert not any(result.error for result in walk["results"])


def test_the_window_flushed_several_times(walk: dict[str, Any]) -> None:
    """A hundred messages do not fit; they were paged out, in more than one flush."""
    assert walk["events"].count("flush_started") >= 3
    assert walk["pages"] >= 6


def test_the_model_saved_a_fact_under_the_warning(walk: dict[str, Any]) -> None:
    """The notice came before the flush and the model reacted to it by editing core memory."""
    assert walk["events"].index("warned") < walk["events"].index("flush_started")
    assert "Is called Sam." in walk["human"]


def test_the_fact_is_in_core_memory_of_every_later_request(walk: dict[str, Any]) -> None:
    """What was saved stands in the head of the last request."""
    system = walk["requests"][-1]["messages"][0]
    assert "Is called Sam." in json.dumps(system)


def test_an_evicted_message_is_found_and_paged_in(walk: dict[str, Any]) -> None:
    """The code of entry 2 left the window long ago; search names its page, page_in reads it."""
    question = walk["question"]
    assert [call.name for call in question.tool_calls][:2] == ["recall_search", "page_in"]
    assert all(call.ok for call in question.tool_calls)
    assert question.text == "It is QX-7741."
    assert question.stop_reason == "answered"
