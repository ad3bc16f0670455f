"""Small files of other tools, of our own making, and an agent to import them into."""

import json
import zipfile
from pathlib import Path
from typing import Any

PLAIN = """
name: plain
description: For tests.
system: You are a test agent.
embedding: none
context_window: 2048
output_reserve: 128
blocks:
  human: {value: "", limit: 200, description: The person.}
  persona: {value: "I am a test.", limit: 200, description: Me.}
tools: [core_append, recall_search, archival_insert, page_in]
timezone: Europe/Lisbon
"""


def put(path: Path, value: Any) -> Path:
    """A file with a value as JSON, or with text or bytes as they are."""
    if isinstance(value, bytes):
        path.write_bytes(value)
    else:
        text = value if isinstance(value, str) else json.dumps(value)
        path.write_text(text, encoding="utf-8")
    return path


def lines(path: Path, values: list[Any]) -> Path:
    return put(path, "".join(json.dumps(value) + "\n" for value in values))


def zipped(path: Path, **members: Any) -> Path:
    """A zip; `_json` at the end of a name is `.json`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members.items():
            named = name.replace("_json", ".json").replace("_html", ".html")
            archive.writestr(named, value if isinstance(value, str) else json.dumps(value))
    return path


CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": "Where is Nomad?", "created_at": "2024-03-01T10:00:00Z"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "function": {"name": "lookup", "arguments": '{"q": "nomad"}'}},
            {"id": "c2", "function": {"name": "tide", "arguments": "high?"}},
        ],
        "created_at": "2024-03-01T10:00:05Z",
    },
    {"role": "tool", "tool_call_id": "c2", "content": "high at noon"},
    {"role": "tool", "tool_call_id": "c1", "content": "berth 42"},
    {"role": "assistant", "content": "She lies at berth 42."},
    {
        "role": "user",
        "name": "kim",
        "content": [
            {"type": "text", "text": "And this lamp?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ],
    },
    {"role": "assistant", "content": "A red one."},
]


def node(
    id: str, parent: str | None, role: str | None, text: str, at: float | None, **more: Any
) -> dict[str, Any]:
    """A node of a ChatGPT tree; `children` are filled in by conversation()."""
    message = None
    if role is not None:
        content = more.pop("content", {"content_type": "text", "parts": [text]})
        message = {
            "id": id,
            "author": {"role": role, "name": more.pop("name", None)},
            "create_time": at,
            "content": content,
            "recipient": more.pop("recipient", "all"),
            "metadata": more,
        }
    return {"id": id, "parent": parent, "children": [], "message": message}


def conversation(key: str, end: str, *nodes: dict[str, Any]) -> dict[str, Any]:
    mapping = {each["id"]: each for each in nodes}
    for each in nodes:
        if each["parent"] in mapping:
            mapping[each["parent"]]["children"].append(each["id"])
    return {
        "title": "T",
        "create_time": 1700000000.0,
        "mapping": mapping,
        "current_node": end,
        "conversation_id": key,
    }


def chatgpt() -> list[dict[str, Any]]:
    code = {"content_type": "code", "text": "6*7"}
    output = {"content_type": "execution_output", "text": "42"}
    picture = {
        "content_type": "multimodal_text",
        "parts": [
            {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
            "?",
        ],
    }
    return [
        conversation(
            "conv-1",
            "a4",
            node("r", None, None, "", None),
            node("s", "r", "system", "", None),
            node("u1", "s", "user", "Where is the tea house?", 1700000000.5),
            node("a1", "u1", "assistant", "An abandoned answer.", 1700000005),
            node("a2", "u1", "assistant", "In Uji.", 1700000009),
            node("u2", "a2", "user", "Compute 6*7", 1700000100),
            node("c", "u2", "assistant", "", 1700000101, content=code, recipient="python"),
            node("t", "c", "tool", "", 1700000102, content=output, name="python"),
            node("a3", "t", "assistant", "It is 42.", 1700000103),
            node("u3", "a3", "user", "", 1700000203, content=picture),
            node("a4", "u3", "assistant", "A cat.", 1700000210),
        )
    ]


def claude() -> list[dict[str, Any]]:
    answer = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "sails"}},
        {
            "type": "tool_result",
            "tool_use_id": "t1",
            "content": [{"type": "text", "text": "ochre"}],
        },
        {"type": "text", "text": "They are ochre."},
    ]
    return [
        {
            "uuid": "k1",
            "name": "Sails",
            "created_at": "2024-05-01T08:00:00.000000Z",
            "account": {"uuid": "z"},
            "chat_messages": [
                {
                    "uuid": "m1",
                    "text": "What colour are my sails?",
                    "sender": "human",
                    "created_at": "2024-05-01T10:00:00.5+02:00",
                    "attachments": [
                        {"file_name": "log.txt", "extracted_content": "The hull is oak."}
                    ],
                    "files": [{"file_name": "pic.png"}],
                },
                {
                    "uuid": "m2",
                    "text": "They are ochre.",
                    "sender": "assistant",
                    "created_at": "2024-05-01T08:00:09Z",
                    "content": answer,
                },
            ],
        }
    ]


def letta(**more: Any) -> dict[str, Any]:
    """The older layout."""

    def wrapped(**value: Any) -> list[dict[str, Any]]:
        return [{"type": "text", "text": json.dumps(value)}]

    speak = {
        "id": "q1",
        "function": {"name": "send_message", "arguments": '{"message": "It rings."}'},
    }
    at = "2025-01-01T00:00:0{}+00:00"
    return {
        "agent_type": "memgpt_agent",
        "core_memory": [
            {"label": "persona", "value": "I am Iris, a pilot.", "limit": 5000},
            {"label": "human", "value": "The person is Sam.", "limit": 5000},
            {"label": "ships", "value": "Nomad", "limit": 100},
        ],
        "messages": [
            {"role": "system", "content": wrapped(text="sys"), "created_at": at.format(0)},
            {
                "role": "user",
                "content": wrapped(type="user_message", message="Is the fog bell working?"),
                "created_at": at.format(1),
            },
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "a thought"}],
                "tool_calls": [speak],
                "created_at": at.format(2),
            },
            {
                "role": "tool",
                "tool_call_id": "q1",
                "name": "send_message",
                "content": wrapped(status="OK", message="None"),
                "created_at": at.format(3),
            },
            {"role": "user", "content": wrapped(type="heartbeat"), "created_at": at.format(4)},
        ],
        "system": "sys",
        "tools": [{"name": "x", "source_code": "import os"}],
        "version": "0.7.1",
        **more,
    }


def letta_new() -> dict[str, Any]:
    """The newer layout."""
    old = letta()
    blocks = [{"id": f"block-{n}", **each} for n, each in enumerate(old["core_memory"])]
    agent = {
        "name": "iris",
        "id": "agent-0",
        "block_ids": ["block-0", "block-1"],
        "in_context_message_ids": [],
        "messages": [{"id": f"message-{n}", **m} for n, m in enumerate(old["messages"])],
    }
    return {"agents": [agent], "groups": [], "blocks": blocks, "files": [], "tools": old["tools"]}


def mem0() -> dict[str, Any]:
    return {
        "results": [
            {
                "id": "m-1",
                "memory": "Sam is allergic to walnuts.",
                "hash": "h",
                "user_id": "sam",
                "created_at": "2024-07-01T10:00:00-07:00",
                "categories": ["health"],
                "metadata": {"sure": True},
            },
            {"id": "m-2", "memory": "", "hash": "h"},
        ]
    }
