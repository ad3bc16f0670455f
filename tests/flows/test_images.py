"""Images that are sent along: models that see get them, others their caption; nothing is lost."""

import asyncio
import base64
import struct
import zlib
from pathlib import Path

import pytest
from loopback import Loopback
from provider_kit import agent_on, illegal

from pagemind.runtime.agent import Agent
from pagemind.runtime.errors import UserError
from pagemind.runtime.image_header import ImageHeader, read_header
from pagemind.runtime.legalise import rules_for, to_wire
from pagemind.runtime.message import Blob
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.settings import IMAGE_BYTES, IMAGES_PER_MESSAGE
from pagemind.runtime.testing import ScriptedModel


def png(width: int, height: int) -> bytes:
    """A whole image of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + b"\x80" * width for _ in range(height)))
    body = chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "my boat.png"
    path.write_bytes(png(32, 20))
    return path


CAPTION = "[image/png: my boat.png, 32×20]"


def test_a_model_that_sees_gets_the_image(tmp_path: Path, image: Path) -> None:
    """As a data URL after the text, again in each later request, and across a restart."""
    with Loopback(["A boat.", "Still a boat.", "Yes."]) as server:
        with agent_on(tmp_path / "home", server, params={"vision": True}) as agent:
            agent.send("What is this?", images=[image])
            image.unlink()  # it was stored
            agent.send("And now?")
        with agent_on(tmp_path / "home", server, params={"vision": True}) as agent:
            agent.send("Sure?")
        for request in server.requests:
            contents = [m["content"] for m in request["messages"] if isinstance(m["content"], list)]
            assert len(contents) == 1
            text, picture = contents[0]
            assert "What is this?" in text["text"]
            assert CAPTION in text["text"]
            kind, _, data = picture["image_url"]["url"].partition(";base64,")
            assert kind == "data:image/png"
            assert base64.b64decode(data) == png(32, 20)
        assert "vision" not in server.requests[0]


def test_a_model_without_eyes_gets_the_caption(tmp_path: Path, image: Path) -> None:
    """Nothing else is sent, and no provider would refuse it."""
    with (
        Loopback(["I see no image."]) as server,
        agent_on(tmp_path / "home", server) as agent,
    ):
        agent.send("What is this?", images=[image])
        assert illegal(agent) == []
        last = server.requests[0]["messages"][-1]["content"]
        assert isinstance(last, str)
        assert last.endswith(f"What is this?\n{CAPTION}")


def test_an_image_that_is_gone_leaves_its_caption(tmp_path: Path, image: Path) -> None:
    """A damaged file never stops a turn."""
    with (
        Loopback(["A boat.", "It was a boat."]) as server,
        agent_on(tmp_path / "home", server, params={"vision": True}) as agent,
    ):
        agent.send("What is this?", images=[image])
        for path in (agent.state.folder / "blobs").iterdir():
            path.write_bytes(b"something else")
        assert agent.send("And now?").stop_reason == "answered"
        assert CAPTION in str(server.requests[-1]["messages"])
        assert "image_url" not in str(server.requests[-1]["messages"])


@pytest.mark.parametrize("family", ["openai", "anthropic", "gemini", "mistral", "ollama_chat"])
def test_images_stand_where_cache_marks_do_too(family: str, image: Path, tmp_path: Path) -> None:
    """Messages that are merged keep all their images, and the text is as without them."""
    with Runtime(":memory:") as runtime:
        agent = runtime.agent("ada", model=ScriptedModel(["one", "two"]))
        agent.send("First.", images=[image])
        agent.observe("It rains.", source="weather")
        agent.send("Second.", images=[image])
        request = agent.context.render(256)
        rules = rules_for(f"{family}/x")
        plain = to_wire(request, rules, marked=True)
        seen = to_wire(request, rules, marked=True, images=agent.state.blobs.read)
    pictures = [part for wire in seen for part in _parts(wire) if part["type"] == "image_url"]
    assert len(pictures) == 2
    texts = [[part for part in _parts(wire) if part["type"] == "text"] for wire in seen]
    assert texts == [_parts(wire) for wire in plain]


def _parts(wire: dict[str, object]) -> list[dict[str, object]]:
    content = wire["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def scripted(home: Path) -> tuple[Runtime, Agent]:
    runtime = Runtime(home)
    return runtime, runtime.agent("ada", model=ScriptedModel())


def test_an_image_is_stored_once_and_found_by_its_caption(tmp_path: Path, image: Path) -> None:
    """The message holds a blob; the file is named by its hash and is kept once."""
    runtime, agent = scripted(tmp_path / "home")
    with runtime:
        agent.send("One.", images=[image])
        agent.send("Two.", images=[image, image])
        stored = agent.state.journal.get([1])[1]
        (blob,) = (part for part in stored.parts if isinstance(part, Blob))
        assert (blob.media_type, blob.bytes) == ("image/png", len(png(32, 20)))
        assert [path.name for path in (agent.state.folder / "blobs").iterdir()] == [blob.sha256]
        assert stored.text.endswith(CAPTION)
        found = agent.engine.search("recall", "boat.png", SearchFilters(), 5)
        assert CAPTION in found.hits[0].text


def test_every_face_takes_images(tmp_path: Path, image: Path) -> None:
    """Streaming and asynchronous code send them as plain code does."""

    async def twice(agent: Agent) -> None:
        await agent.asend("Two.", images=[image])
        async for _ in agent.astream("Three.", images=[image]):
            pass

    runtime, agent = scripted(tmp_path / "home")
    with runtime:
        for _ in agent.stream("One.", images=[image]):
            pass
        asyncio.run(twice(agent))
        said = agent.state.journal.get([1, 3, 5]).values()
        assert all(message.text.endswith(CAPTION) for message in said)


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("gone.png", None, "is not there"),
        ("text.png", b"no image at all", "is no PNG, JPEG, GIF or WebP image"),
        ("cut.png", png(9, 9)[:15], "is no PNG"),
        ("empty.png", b"", "is no PNG"),
        ("large.png", png(9, 9) + b"\0" * IMAGE_BYTES, "is larger than 5 MB"),
    ],
)
def test_what_cannot_be_sent_is_refused_before_anything_is_said(
    tmp_path: Path, name: str, data: bytes | None, why: str
) -> None:
    """One line says why, and no turn is begun."""
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    runtime, agent = scripted(tmp_path / "home")
    with runtime:
        with pytest.raises(UserError, match=why):
            agent.send("Look!", images=[path])
        with pytest.raises(UserError, match="is a folder"):
            agent.send("Look!", images=[tmp_path])
        assert agent.state.journal.count() == 0


def test_too_many_images_are_refused(tmp_path: Path, image: Path) -> None:
    """As many as fit are named."""
    runtime, agent = scripted(tmp_path / "home")
    with runtime, pytest.raises(UserError, match="too many") as refused:
        agent.send("Look!", images=[image] * (IMAGES_PER_MESSAGE + 1))
    assert str(IMAGES_PER_MESSAGE) in refused.value.hint


def test_the_same_id_with_another_image_is_another_message(tmp_path: Path, image: Path) -> None:
    """An image is part of what a client asks."""
    runtime, agent = scripted(tmp_path / "home")
    with runtime:
        agent.send("Look!", id="1", images=[image])
        assert agent.send("Look!", id="1", images=[image]).turn == 1
        with pytest.raises(UserError, match="used before"):
            agent.send("Look!", id="1")


@pytest.mark.parametrize(
    ("data", "header"),
    [
        (png(3, 7), ImageHeader("image/png", 3, 7)),
        (b"GIF89a\x05\x00\x06\x00", ImageHeader("image/gif", 5, 6)),
        (
            b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc4\x00\x03x\xff\xc2\x00\x11\x08\x00\x09\x00\x0a",
            ImageHeader("image/jpeg", 10, 9),
        ),
        (
            b"RIFF....WEBPVP8X" + b"\0" * 8 + b"\x0b\x00\x00\x0c\x00\x00",
            ImageHeader("image/webp", 12, 13),
        ),
        (b"RIFF....WEBPVP8L....\x2f\x0d\x80\x03\x00", ImageHeader("image/webp", 14, 15)),
        (b"RIFF....WEBPVP8 .......\x9d\x01\x2a\x10\x00\x11\x00", ImageHeader("image/webp", 16, 17)),
        (b"\xff\xd8\xff\xe0\xff\xff", None),
        (b"\xff\xd8", None),
        (b"RIFF....WEBPVP8Z....", None),
        (png(0, 7), None),
    ],
)
def test_headers_of_images(data: bytes, header: ImageHeader | None) -> None:
    """Kind and size are read from the first bytes; what is cut off is no image."""
    assert read_header(data) == header
