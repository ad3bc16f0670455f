"""What tests of HTTP share: a home that is served on loopback, asked by a real client."""

import base64
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from awake_kit import House, echo, house
from kernel_kit import small

from pagemind.runtime.awake.keeper import Keeper
from pagemind.runtime.clock import Clock
from pagemind.runtime.http.address import parse_address
from pagemind.runtime.http.server import HttpServer
from pagemind.runtime.http.token import Token
from pagemind.runtime.message import Message
from pagemind.runtime.model import ModelRequest

SECONDS = 60.0  # that a client waits, at most
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
Turns = list[dict[str, Any]]


@dataclass(repr=False)
class Served:
    """A home with ada, its keeper, and a client of its server."""

    house: House
    keeper: Keeper
    server: HttpServer
    client: httpx.Client

    @property
    def url(self) -> str:
        return self.server.address.url

    def chat(
        self, *said: str, headers: dict[str, str] | None = None, **more: Any
    ) -> httpx.Response:
        """Messages of a user and of an assistant in turn; the last is the user's."""
        body = {"model": "ada", "messages": talk(*said), **more}
        return self.client.post("/v1/chat/completions", json=body, headers=headers)

    def stored(self, name: str = "ada") -> list[tuple[str, str]]:
        """Who said what to an agent, and what it answered."""
        with self.house.runtime.reader(name) as reader:
            rows: list[Message] = reader.state.journal.newest(10_000)
        return [(row.role, row.text) for row in reversed(rows)]


def talk(*said: str) -> Turns:
    """As a client has it: user, assistant, … user."""
    roles = ("user", "assistant")
    start = 1 - len(said) % 2
    return [{"role": roles[(at + start) % 2], "content": text} for at, text in enumerate(said)]


def answer(response: httpx.Response) -> str:
    """What the agent said."""
    assert response.status_code == 200, response.text
    return str(response.json()["choices"][0]["message"]["content"])


@contextmanager
def served(
    home: Path,
    script: Callable[[ModelRequest], Any] = echo,
    *,
    token: Token | None = None,
    clock: Clock | None = None,
    more: str = "",
    tools: str = "",
) -> Iterator[Served]:
    """ada on a scripted model, at a free port."""
    with house(home, script, clock) as home_:
        if not home_.runtime.home.exists("ada"):
            named = (tools,) if tools else ()
            home_.runtime.create("ada", small(2048, *named, more=more))
        with served_house(home_, token) as found:
            yield found


@contextmanager
def served_house(
    house: House, token: Token | None = None, only: Collection[str] | None = None
) -> Iterator[Served]:
    """The agents of a house, at a free port."""
    with house.keeper(only=only) as keeper:
        server = HttpServer(house.runtime, keeper, parse_address("127.0.0.1:0"), token, only)
        server.start()
        try:
            with httpx.Client(
                base_url=server.address.url, timeout=SECONDS, trust_env=False
            ) as client:
                yield Served(house, keeper, server, client)
        finally:
            server.stop()
