"""Fifty planted identifiers, each beside one that differs in a character, are found at rank 1."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from bench_kit import benchmark

corpus = benchmark("corpus")
ingest = benchmark("ingest")
words = benchmark("synth_chat_words")
weave = benchmark("synth_weave")
IDENTIFIERS = benchmark("synth_identifiers").IDENTIFIERS


@pytest.fixture(scope="module", params=["none", "hashing"])
def lived(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """Told among chatter, in a real LanceDB."""
    draw = weave.Draw("identifiers")
    texts = [text for each in IDENTIFIERS for text in (each.told, each.beside)]
    texts += [text.format(p="Ines", o="Milo", t="boat", d="Monday", m="May", n=9) for text in
              words.CHATTER]  # fmt: skip
    turns = tuple(
        corpus.Turn(str(i), 1, "user", ("Mara", "Joris")[i % 2], text, at)
        for i, text in enumerate(draw.shuffled(texts))
        for at in [weave.START + timedelta(minutes=i)]
    )
    conversation = corpus.Conversation("identifiers", turns, ())
    folder: Path = tmp_path_factory.mktemp("identifiers")
    embedder = ingest.open_embedder(request.param, None)
    with ingest.lived(conversation, request.param, embedder, folder) as there:
        yield there, {turn.id: turn.text for turn in turns}


def test_there_are_fifty_of_seven_kinds() -> None:
    """Codes, files, URLs, addresses, paths, versions and telephone numbers, none twice."""
    assert len({each.word for each in IDENTIFIERS}) == 50
    assert len({each.kind for each in IDENTIFIERS}) == 7
    assert not {each.word for each in IDENTIFIERS} & {each.near for each in IDENTIFIERS}


@pytest.mark.parametrize("identifier", IDENTIFIERS, ids=lambda each: each.word)
def test_an_identifier_is_found_at_rank_1(lived: Any, identifier: Any) -> None:
    """Alone or in a question, whatever is like it."""
    there, text = lived
    result = there.ask(identifier.query, 3)
    assert text[there.turns[result.hits[0].seq]] == identifier.told
