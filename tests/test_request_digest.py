"""The digest of a request: the same for the same content, another for any other."""

from dataclasses import replace

from pagemind.runtime.message import Message, Text, ToolCall
from pagemind.runtime.model import ModelRequest, ToolSchema
from pagemind.runtime.request_digest import RequestDigest


def a_request() -> ModelRequest:
    """Everything in it is made anew at each call."""
    return ModelRequest(
        system=("You are Ada.", "<core_memory/>"),
        messages=(
            Message("user", (Text("Hello."),)),
            Message("assistant", (Text("Yes?"),), (ToolCall("c1", "clock_now", "{}"),)),
        ),
        tools=(ToolSchema("clock_now", "Tell the time.", {"type": "object"}),),
    )


def test_a_request_made_again_has_the_same_digest() -> None:
    """Content counts, not the objects, and what was hashed before changes nothing."""
    used = RequestDigest()
    used.of(replace(a_request(), messages=a_request().messages[:1], tools=()))
    assert used.of(a_request()) == RequestDigest().of(a_request()) == used.of(a_request())


def test_every_part_of_a_request_counts() -> None:
    """A change of the instructions, a message, a call or a function changes the digest."""
    first = a_request()
    user, assistant = first.messages
    others = [
        replace(first, system=("You are Bob.", "<core_memory/>")),
        replace(first, messages=(assistant, user)),
        replace(first, messages=(user.with_text("Hello!"), assistant)),
        replace(first, messages=(user, replace(assistant, tool_calls=()))),
        replace(first, tools=()),
        replace(first, tools=(ToolSchema("clock_now", "Say the time.", {"type": "object"}),)),
        replace(first, tools=(ToolSchema("clock_now", "Tell the time.", {"type": "array"}),)),
    ]
    digest = RequestDigest()
    assert len({digest.of(each) for each in [first, *others]}) == len(others) + 1
