"""RequestDigest: SHA-256 over everything a request holds, in order, for the record of a step.

A past request that is made again from the state must have the digest that its step has kept.
"""

import hashlib
import json
from collections.abc import Sequence

from pagemind.runtime.message import Message, parts_to_json
from pagemind.runtime.model import ModelRequest, ToolSchema


class RequestDigest:
    """Each message and the functions are hashed once for as long as they stay in the requests:
    from step to step nearly all of a prompt is the same objects."""

    def __init__(self) -> None:
        # By identity; the object is kept beside its hash, so that its id is not given away.
        self._messages: dict[int, tuple[Message, bytes]] = {}
        self._tools: tuple[Sequence[ToolSchema], bytes] = ((), _of_tools(()))

    def of(self, request: ModelRequest) -> str:
        """The digest in hexadecimal."""
        known = self._messages
        self._messages = {
            id(message): known.get(id(message)) or (message, _of_message(message))
            for message in request.messages
        }
        if self._tools[0] is not request.tools:
            self._tools = (request.tools, _of_tools(request.tools))
        digest = hashlib.sha256()
        for text in request.system:
            digest.update(text.encode("utf-8") + b"\0")
        for message in request.messages:
            digest.update(self._messages[id(message)][1])
        digest.update(self._tools[1])
        return digest.hexdigest()


def _of_message(message: Message) -> bytes:
    return hashlib.sha256(f"{message.role}{parts_to_json(message)}".encode()).digest()


def _of_tools(schemas: Sequence[ToolSchema]) -> bytes:
    digest = hashlib.sha256()
    for schema in schemas:
        digest.update(f"{schema.name}\n{schema.description}\n".encode())
        digest.update(json.dumps(schema.parameters, sort_keys=True).encode() + b"\0")
    return digest.digest()
