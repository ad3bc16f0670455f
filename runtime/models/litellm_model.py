"""A chat model behind litellm: complete() with streaming, retries, fallbacks and plain errors.

on_text and on_retry run in the caller's thread, and leaving complete() in any way closes the
connection. Nothing is repeated once a piece of text was shown. The parts: litellm_request.py says
what is sent, provider_call.py sends it, stream_accumulator.py reads it, litellm_errors.py and
overflow.py understand failures, retry.py waits. Names of `local/…` never come here.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from typing import Any

from pagemind.runtime import settings
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import Clock, SystemClock
from pagemind.runtime.errors import (
    AuthenticationFailed,
    BadReply,
    ModelError,
    ModelNotFound,
)
from pagemind.runtime.legalise import rules_for
from pagemind.runtime.model import Model, ModelReply, ModelRequest, OnRetry, OnText, WindowInfo
from pagemind.runtime.models import litellm_library
from pagemind.runtime.models.litellm_errors import Call, is_policy_refusal, translate
from pagemind.runtime.models.litellm_library import preload as preload
from pagemind.runtime.models.litellm_request import Endpoint, completion_arguments
from pagemind.runtime.models.provider_call import ForeignError, Limits, call
from pagemind.runtime.models.retry import Backoff, retrying
from pagemind.runtime.models.stream_accumulator import StreamAccumulator, read_usage
from pagemind.runtime.models.window_probe import (
    api_base_of,
    is_local,
    probe_window,
    registry_window,
)

_PROBE_AGAIN_SECONDS = 60.0
_BYTES_PER_TOKEN = 4  # a rough prompt size, only to tell an overflow from a max_tokens conflict


class LitellmModel:
    """`name` is litellm's (`openai/gpt-4o-mini`), `params` go to the provider as they are; only
    `vision` among them is ours: whether the model sees images, where litellm does not know it.

    `fallbacks` are tried in order when this model cannot answer (not for a prompt that is too
    long): names, or models made elsewhere. `window` is what the definition says, if it does.
    """

    def __init__(
        self,
        name: str,
        *,
        api_base: str | None = None,
        api_key: str | None = None,
        params: Mapping[str, Any] | None = None,
        fallbacks: Sequence[str | Model] = (),
        window: int | None = None,
        deadline: float = settings.MODEL_DEADLINE_SECONDS,
        silence: float = settings.MODEL_SILENCE_SECONDS,
        backoff: Backoff | None = None,
        clock: Clock | None = None,
    ) -> None:
        if name.startswith("local/"):
            raise AssertionError(f"{name} is an embedded model; litellm cannot run it")
        self._name = name
        own = dict(params or {})
        vision = own.pop("vision", None)
        self._endpoint = Endpoint(
            name=name,
            rules=rules_for(name),
            api_base=api_base,
            api_key=api_key,
            params=own,
            local=is_local(api_base_of(name, api_base)),
            vision=None if vision is None else bool(vision),
        )
        self._window = WindowInfo(window, "definition") if window else None
        self._probed_at = -math.inf
        self._probed: WindowInfo | None = None
        self._deadline, self._silence = deadline, silence
        self._backoff = backoff or Backoff()
        self._clock = clock or SystemClock()
        self._takes_temperature = True
        self._ask_whole = False
        self._fallbacks: list[Model] = [
            LitellmModel(
                other, deadline=deadline, silence=silence, backoff=backoff, clock=self._clock
            )
            if isinstance(other, str)
            else other
            for other in fallbacks
        ]

    @property
    def name(self) -> str:
        return self._name

    def complete(
        self,
        request: ModelRequest,
        *,
        on_text: OnText | None = None,
        on_retry: OnRetry | None = None,
        cancel: CancelToken | None = None,
    ) -> ModelReply:
        """See the Model protocol. The reply's `model` says which of the fallbacks answered."""
        cancel = cancel or CancelToken()
        voice = _Voice(on_text) if on_text else None
        models: list[Model] = [self, *self._fallbacks]
        for model, following in zip(models, [*models[1:], None], strict=True):
            try:
                if isinstance(model, LitellmModel):
                    return model._complete(request, voice, on_retry, cancel)
                return model.complete(request, on_text=voice, on_retry=on_retry, cancel=cancel)
            except ModelError as error:
                hopeless = not (
                    error.retryable or isinstance(error, AuthenticationFailed | ModelNotFound)
                )
                if following is None or hopeless or (voice and voice.spoke):
                    raise
                if on_retry:
                    on_retry(f"{error.message}; trying {following.name}", 0.0)
        raise AssertionError("unreachable: the last model returns or raises")

    def window(self) -> WindowInfo | None:
        """The definition's; else the server's; else the registry's. Asks the server at most once
        a minute until it answers, and then never again.
        """
        if self._window is not None:
            return self._window
        if (
            self._probed is None
            and self._clock.monotonic() - self._probed_at > _PROBE_AGAIN_SECONDS
        ):
            self._probed_at = self._clock.monotonic()
            if tokens := probe_window(self._name, self._endpoint.api_base, self._endpoint.api_key):
                self._probed = WindowInfo(tokens, "server")
        if self._probed is not None:
            return self._probed
        tokens = registry_window(self._name)
        return WindowInfo(tokens, "registry") if tokens else None

    def prefill(self, request: ModelRequest) -> None:
        """Nothing: a provider's cache is warmed by the calls themselves."""

    def close(self) -> None:
        for model in self._fallbacks:
            model.close()

    # --- one model, several attempts ------------------------------------------------------------

    def _complete(
        self,
        request: ModelRequest,
        voice: "_Voice | None",
        on_retry: OnRetry | None,
        cancel: CancelToken,
    ) -> ModelReply:
        ends_at = self._clock.monotonic() + self._deadline

        def attempt() -> ModelReply:
            return self._attempt(request, voice, cancel, ends_at)

        def may_retry(wait: float) -> bool:
            in_time = self._clock.monotonic() + wait < ends_at
            return in_time and not (voice and voice.spoke)

        return retrying(
            attempt,
            self._backoff,
            may_retry=may_retry,
            on_retry=on_retry,
            cancel=cancel,
            local=self._endpoint.local,
        )

    def _attempt(
        self, request: ModelRequest, voice: "_Voice | None", cancel: CancelToken, ends_at: float
    ) -> ModelReply:
        left = max(1.0, ends_at - self._clock.monotonic())
        streaming = voice is not None and not self._ask_whole
        window = self.window() if self._endpoint.rules.family == "ollama" else None
        arguments = completion_arguments(
            self._endpoint,
            request,
            streaming=streaming,
            seconds=left,
            window=window.tokens if window else None,
            temperature=self._chose_temperature(request),
        )
        limits = Limits(
            ends_at=ends_at,
            first_silence=self._silence if streaming and not self._endpoint.local else math.inf,
            silence=self._silence,
        )
        accumulator = StreamAccumulator(self._endpoint.rules, self._clock.new_id)
        try:
            with closing(call(arguments, limits, cancel, self._clock)) as items:
                for streamed, item in items:
                    if not streamed:
                        accumulator.feed_whole(item)
                    elif (piece := accumulator.feed(item)) and voice:
                        voice(piece)
            if (piece := accumulator.finish()) and voice and streaming:
                voice(piece)
        except ForeignError as foreign:
            error = foreign.error
            if self._chose_temperature(request) and _refuses_temperature(error):
                # Reasoning models take no temperature, and no list of them stays complete.
                self._takes_temperature = False
                return self._attempt(request, voice, cancel, ends_at)
            if is_policy_refusal(error):
                return ModelReply(finish="refusal", model=self._name)
            raise translate(error, self._describe(request)) from None
        reply = accumulator.reply(self._name, self._price(accumulator.usage))
        if voice and not streaming and reply.text:
            voice(reply.text)
        # litellm drops a streamed `refusal`: if nothing came, the next call shows what it is.
        self._ask_whole = streaming and reply.finish == "empty"
        if reply.finish == "empty" and not accumulator.heard:
            raise BadReply(
                f"{self._name} did not answer in the OpenAI wire format",
                hint="is api_base right? For most servers it ends in /v1",
            )
        return reply

    # --- what is known about a call ---------------------------------------------------------------

    def _chose_temperature(self, request: ModelRequest) -> bool:
        """Whether the request's own wish is sent; the definition's params win over it."""
        wished = request.temperature is not None and "temperature" not in self._endpoint.params
        return wished and self._takes_temperature

    def _describe(self, request: ModelRequest) -> Call:
        window = self._window or self._probed
        tokens = window.tokens if window else registry_window(self._name)
        size = sum(len(part.encode("utf-8", "replace")) for part in request.system)
        size += sum(len(m.text.encode("utf-8", "replace")) for m in request.messages)
        share = size / _BYTES_PER_TOKEN / tokens if tokens else None
        point = self._endpoint
        return Call(self._name, point.api_base, point.api_key, share, point.params)

    def _price(self, usage: Any) -> float | None:
        """US dollars by litellm's list, cached tokens at their own price; None if unknown."""
        if self._endpoint.rules.family == "ollama":
            return 0.0
        if not read_usage(usage).prompt_tokens:
            return None
        litellm = litellm_library.load()
        with suppress(Exception):  # any failure to find a price means that it is unknown
            response = litellm.ModelResponse(model=self._name, usage=usage)
            return float(litellm.completion_cost(completion_response=response, model=self._name))
        return None


class _Voice:
    """on_text, and whether anything was said through it."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self.spoke = False

    def __call__(self, piece: str) -> None:
        self.spoke = True
        self._on_text(piece)


def _refuses_temperature(error: Exception) -> bool:
    bad_request = getattr(error, "status_code", None) == 400
    return bad_request and "temperature" in str(error) and "support" in str(error)
