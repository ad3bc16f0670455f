"""Setting up: what is usable here, and what `pagemind init` writes: config.yaml and a first agent.

Nothing that is there is written over: a key that is set is changed in its line, a definition and
an agent of that name stay.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from shlex import quote

from pagemind.runtime import config
from pagemind.runtime.config import Config
from pagemind.runtime.definition import load_definition
from pagemind.runtime.errors import UserError
from pagemind.runtime.model_choice import ModelChoice, usable_models
from pagemind.runtime.naming import checked_name
from pagemind.runtime.runtime import Runtime

NAME = "ada"
EMBEDDING = "local/minilm"
_WORDS = ("yes", "true", "false", "null", "off")  # no texts to YAML
# The providers whose key alone is enough for embeddings, too.
_EMBEDDINGS = {
    "OPENAI_API_KEY": "openai/text-embedding-3-small",
    "GEMINI_API_KEY": "gemini/gemini-embedding-001",
    "MISTRAL_API_KEY": "mistral/mistral-embed",
    "VOYAGE_API_KEY": "voyage/voyage-3.5-lite",
    "COHERE_API_KEY": "cohere/embed-v4.0",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that can be used here, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Answers:
    """What to set up. `model` None leaves it open; `persona` "" is the shipped one."""

    model: ModelChoice | None
    embedding: str = EMBEDDING
    name: str = NAME
    persona: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """What was written, kept and made; `definition` is the file of the first agent."""

    config: Path
    definition: Path
    wrote: tuple[Path, ...]
    kept: tuple[str, ...]
    made: bool


def models(home: Path, environ: Mapping[str, str] | None = None) -> list[ModelChoice]:
    """The models that can be used here, the likeliest first."""
    return usable_models(home, environ)


def embeddings(environ: Mapping[str, str] | None = None) -> list[Choice]:
    """What can find memories by meaning here; the last finds them by their words alone."""
    environ = os.environ if environ is None else environ
    keyed = [Choice(name, f"{key} is set") for key, name in _EMBEDDINGS.items() if environ.get(key)]
    local = Choice(EMBEDDING, "on this machine, no key")
    return [local, *keyed, Choice("none", "by words only")]


def set_up(home: Path, answers: Answers) -> Done:
    """Write what the answers say. Raises UserError for a name or file that cannot be."""
    name = checked_name(answers.name)
    wrote: list[Path] = []
    kept: list[str] = []
    path = config.path_of(home)
    chosen = {"embedding": answers.embedding}
    # A server of one's own is reached by more than a name: it stands with the agent.
    own_server = answers.model is not None and needs_base(answers.model)
    if answers.model is not None and not own_server:
        chosen["model"] = answers.model.name
    if path.exists():
        now = config.values(home)
        for key, value in chosen.items():
            if now.get(key) != value:
                config.set_value(home, key, value)
                wrote.append(path)
        if path not in wrote:
            kept.append(f"{path} says so already")
    else:
        # Every value is checked as one that is set by hand.
        for key, value in chosen.items():
            config.KEYS[key].parse(value)
        config.save(path, config.fresh(Config(chosen.get("model", ""), chosen["embedding"])))
        wrote.append(path)
    definition = home / "definitions" / f"{name}.yaml"
    if definition.exists():
        kept.append(f"{definition} stays as it is")
    else:
        config.save(definition, first_definition(name, answers.persona, answers.model))
        wrote.append(definition)
    with Runtime(home) as runtime:
        made = not runtime.home.exists(name)
        if made:
            runtime.create(name, load_definition(definition))
        else:
            kept.append(f"{name} is there and keeps its memory")
    return Done(path, definition, tuple(dict.fromkeys(wrote)), tuple(kept), made)


def needs_base(model: ModelChoice) -> bool:
    """Whether its name alone would reach another server."""
    return model.api_base is not None and not model.name.startswith("ollama_chat/")


def first_definition(name: str, persona: str, model: ModelChoice | None) -> str:
    """The shipped assistant's definition under another name, with a persona of one's own."""
    text = (files("pagemind.agents") / "assistant.yaml").read_text("utf-8")
    head = (
        f"# {name}, made by `pagemind init`. After a change here:"
        f" pagemind agents update {quote(name)} -d FILE\n#\n"
    )
    _, _, rest = text.partition("#\n")
    plain = re.fullmatch(r"[A-Za-z][A-Za-z_-]{2,}", name) and name.lower() not in _WORDS
    named = f"name: {name if plain else json.dumps(name, ensure_ascii=False)}"
    if model is not None and needs_base(model):
        named += (
            f"\nmodel: {{name: {json.dumps(model.name)}, api_base: {json.dumps(model.api_base)}}}"
        )
    rest = _replaced(r"(?m)^name: assistant$", named, rest)
    if persona.strip():
        said = json.dumps(persona.strip(), ensure_ascii=False)
        rest = _replaced(r"(?m)^    value: >-\n(?:      .*\n)+", f"    value: {said}\n", rest)
    return head + rest


def _replaced(pattern: str, new: str, text: str) -> str:
    changed, count = re.subn(pattern, lambda _: new, text, count=1)
    if not count:
        raise UserError("the shipped definition assistant.yaml was changed, and has no such place")
    return changed
