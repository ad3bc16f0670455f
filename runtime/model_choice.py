"""Which model an agent runs on, and why: the first of these that says something.

--model › the agent's stored choice › its definition › PAGEMIND_MODEL › config.yaml in the home
› the one provider key in the environment › a server on loopback › a pulled local model
"""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pagemind.runtime import config
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.errors import NoModel, UserError
from pagemind.runtime.model import Model
from pagemind.runtime.models.pull import installed
from pagemind.runtime.models.window_probe import api_base_of, is_local

# Providers whose key alone is enough, and a small current model of each.
PROVIDERS: dict[str, str] = {
    "OPENAI_API_KEY": "openai/gpt-4o-mini",
    "ANTHROPIC_API_KEY": "anthropic/claude-haiku-4-5",
    "GEMINI_API_KEY": "gemini/gemini-2.5-flash",
    "MISTRAL_API_KEY": "mistral/mistral-small-latest",
    "GROQ_API_KEY": "groq/llama-3.3-70b-versatile",
    "DEEPSEEK_API_KEY": "deepseek/deepseek-chat",
    "OPENROUTER_API_KEY": "openrouter/openai/gpt-4o-mini",
}
# Servers that people run on their own machine: where they listen, and how litellm names them.
_SERVERS = ((11434, "ollama_chat/"), (8080, "openai/"), (1234, "openai/"), (8000, "openai/"))
_PROBE_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model and the reason for it, with how to reach it where the definition says so."""

    name: str
    why: str
    api_base: str | None = None
    api_key_env: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)  # headers may hold keys
    fallbacks: tuple["ModelChoice", ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for what can share one model in this process; not for showing."""
        own = (self.name, self.api_base or "", self.api_key_env or "", repr(self.params))
        return (*own, *(part for each in self.fallbacks for part in each.key))

    @property
    def local(self) -> bool:
        """Whether it runs in this process."""
        return self.name.startswith("local/")


def choose(
    definition: AgentDefinition | None,
    *,
    asked: str | None,
    stored: str,
    home: Path,
    environ: Mapping[str, str] | None = None,
) -> ModelChoice:
    """Raises NoModel with the three ways on."""
    environ = os.environ if environ is None else environ
    if asked:
        return ModelChoice(asked, "--model")
    if stored:
        return ModelChoice(stored, "the agent's stored choice")
    if definition is not None and definition.model is not None:
        spec = definition.model
        return ModelChoice(
            spec.name,
            f"{definition.source}",
            spec.api_base,
            spec.api_key_env,
            spec.params,
            tuple(
                ModelChoice(f.name, "fallback", f.api_base, f.api_key_env, f.params)
                for f in spec.fallbacks
            ),
        )
    if named := environ.get("PAGEMIND_MODEL", "").strip():
        return ModelChoice(named, "PAGEMIND_MODEL")
    if named := config.load(home).model:
        return ModelChoice(named, str(config.path_of(home)))
    keys = [key for key in PROVIDERS if environ.get(key)]
    if len(keys) == 1:
        return ModelChoice(PROVIDERS[keys[0]], f"{keys[0]} is set")
    if found := _loopback():
        return found
    pulled = installed(home)
    if pulled:
        return ModelChoice(f"local/{pulled[0].name}", "the local model you pulled")
    several = (
        f"several keys are set ({', '.join(keys)}): say which model you want\n" if keys else ""
    )
    raise NoModel(
        f"{several}no model is chosen",
        hint="one of:\n"
        "  pagemind models pull            a small model on this machine, no key needed\n"
        "  export OPENAI_API_KEY=…         (or another provider's key)\n"
        "  pagemind chat --model NAME      any litellm model; see docs for servers of your own",
    )


def usable_models(home: Path, environ: Mapping[str, str] | None = None) -> list[ModelChoice]:
    """All that could be used here: keys in the environment, a server on loopback, pulled models."""
    environ = os.environ if environ is None else environ
    found = [
        ModelChoice(name, f"{key} is set") for key, name in PROVIDERS.items() if environ.get(key)
    ]
    if server := _loopback():
        found.append(server)
    pulled = [f"local/{each.name}" for each in installed(home)]
    return [*found, *(ModelChoice(name, "the local model you pulled") for name in pulled)]


def _loopback() -> ModelChoice | None:
    """A server on this machine that lists its models."""
    import json
    from http.client import HTTPConnection, HTTPException

    for port, prefix in _SERVERS:
        with socket.socket() as probe:
            probe.settimeout(_PROBE_SECONDS)
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                continue
        connection = HTTPConnection("127.0.0.1", port, timeout=2.0)
        try:
            connection.request("GET", "/v1/models")
            listed = json.loads(connection.getresponse().read())["data"]
            name = listed[0]["id"]
        except (OSError, HTTPException, ValueError, LookupError, TypeError):
            continue  # something else listens there
        finally:
            connection.close()
        base = f"http://127.0.0.1:{port}" + ("" if prefix == "ollama_chat/" else "/v1")
        return ModelChoice(f"{prefix}{name}", f"a server on 127.0.0.1:{port}", base)
    return None


def protocol_of(choice: ModelChoice, definition: AgentDefinition | None) -> str:
    """How a model is spoken to: as the definition says, else narrowly if it is embedded."""
    if definition is None:
        return "default"
    if choice.local and not definition.states("protocol"):
        return "guided"
    return definition.protocol


def require_local(choice: ModelChoice, definition: str) -> None:
    """For `local_only: true`: raise UserError if a text could leave this machine."""
    for each in (choice, *choice.fallbacks):
        if not each.local and not is_local(api_base_of(each.name, each.api_base)):
            raise UserError(
                f"{definition} says local_only, and {each.name} ({each.why}) is a remote endpoint",
                hint="use local/NAME or a server on this machine, or take local_only out",
            )


def make_model(choice: ModelChoice, home: Path, window: int | None) -> Model:
    """The model of a choice; nothing is loaded or connected yet."""
    if choice.name == "scripted/echo":
        # For trying the plumbing: answers with what it was told.
        from pagemind.runtime.models.scripted_model import ScriptedModel

        return ScriptedModel(lambda r: f"You said: {r.messages[-1].text}", name=choice.name)
    if choice.local:
        from pagemind.runtime.models.local_model import LocalModel
        from pagemind.runtime.settings import LOCAL_WINDOW_TOKENS

        return LocalModel(choice.name, home=home, window=window or LOCAL_WINDOW_TOKENS)
    from pagemind.runtime.models.litellm_model import LitellmModel

    return LitellmModel(
        choice.name,
        api_base=choice.api_base,
        api_key=_key(choice),
        params=dict(choice.params),
        fallbacks=[make_model(each, home, None) for each in choice.fallbacks],
        window=window,
    )


def _key(choice: ModelChoice) -> str | None:
    if choice.api_key_env is None:
        # A server on this machine wants some key, and none in particular.
        return "none" if choice.api_base and "127.0.0.1" in choice.api_base else None
    if choice.api_key_env not in os.environ:
        raise UserError(
            f"{choice.name}: the variable {choice.api_key_env} is not set",
            hint=f"export {choice.api_key_env}=…",
        )
    return os.environ[choice.api_key_env]
