"""overflow.judge: which errors say that the prompt is too long, by wording rather than by class."""

import pytest
from loopback import Loopback, Reply

from pagemind.runtime.errors import ContextOverflow, ModelError, OutputReserveConflict, RateLimited
from pagemind.runtime.message import Message, Text
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.models import overflow
from pagemind.runtime.models.litellm_model import LitellmModel
from pagemind.runtime.models.retry import Backoff


def error(message: str, code: object = None, kind: str = "invalid_request_error") -> dict:
    return {"error": {"message": message, "type": kind, "code": code}}


# (who says so, HTTP status, body); bodies as the servers word them, shortened where they only
# repeat themselves.
TOO_LONG = [
    ("openai", 400, error("This model's maximum context length is 8192 tokens. However, your "
     "messages resulted in 9001 tokens. Please reduce the length of the messages.",
     "context_length_exceeded")),
    ("openai-responses", 400, error("Your input exceeds the context window of this model. Please "
     "adjust your input and try again.", "context_length_exceeded")),
    ("openai-tpm", 429, error("Request too large for gpt-4o in organization org-x on tokens per "
     "min (TPM): Limit 30000, Requested 61000. The input or output tokens must be reduced.",
     "rate_limit_exceeded", "tokens")),
    ("groq-tpm", 429, error("Request too large for model `llama-3.3` on tokens per minute (TPM): "
     "Limit 6000, Requested 9000, please reduce your message size.", "rate_limit_exceeded")),
    ("groq", 400, error("Please reduce the length of the messages or completion.",
     "context_length_exceeded")),
    ("azure", 400, error("This model's maximum context length is 16385 tokens. However, your "
     "messages resulted in 20000 tokens.", "context_length_exceeded")),
    ("anthropic", 400, {"type": "error", "error": {"type": "invalid_request_error",
     "message": "prompt is too long: 215000 tokens > 200000 maximum"}}),
    ("anthropic-413", 413, {"type": "error", "error": {"type": "request_too_large",
     "message": "Request exceeds the maximum size"}}),
    ("plain-413", 413, "Payload Too Large"),
    ("bedrock", 400, error("Input is too long for requested model.")),
    ("bedrock-llama", 400, error("This model's maximum context length is 8192 tokens. Please "
     "reduce the length of the prompt")),
    ("gemini", 400, error("The input token count (1200000) exceeds the maximum number of tokens "
     "allowed (1048576).", 400, "INVALID_ARGUMENT")),
    ("vertex", 400, error("Unable to submit request because the input token count is 40000 but "
     "model only supports up to 32768: input token count exceeds the limit.")),
    ("mistral", 400, {"object": "error", "type": "invalid_request_error", "code": "3051",
     "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 "
     "maximum context length"}),
    ("cohere", 400, {"message": "too many tokens: total number of tokens in the prompt cannot "
     "exceed 128000"}),
    ("deepseek", 400, error("This model's maximum context length is 65536 tokens. However, you "
     "requested 80000 tokens (80000 in the messages, 0 in the completion).")),
    ("together", 422, error("Input validation error: `inputs` tokens + `max_new_tokens` must be "
     "<= 4097. Given: 6000 `inputs` tokens and 100 `max_new_tokens`")),
    ("tgi", 422, {"error": "Input validation error: `inputs` must have less than 4096 tokens: "
     "input is too long. Given: 5000. `max_new_tokens` is 20", "error_type": "validation"}),
    ("openrouter", 400, error("This endpoint's maximum context length is 8192 tokens. However, "
     "you requested about 12000 tokens (11000 of text input, 1000 in the output).", 400)),
    ("vllm", 400, {"object": "error", "type": "BadRequestError", "code": 400,
     "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 "
     "tokens in the messages, Please reduce the length of the messages."}),
    ("vllm-decoder", 400, {"object": "error", "code": 400, "message": "The decoder prompt (length "
     "5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is "
     "no smaller than the number of text tokens."}),
    ("sglang", 400, error("The input (5000 tokens) is longer than the model's context length "
     "(4096 tokens).")),
    ("llama.cpp", 400, error("the request exceeds the available context size. try increasing the "
     "context size or enable context shift", 400, "exceed_context_size_error")),
    ("llama.cpp-500", 500, error("Context size has been exceeded.", 500, "server_error")),
    ("llama.cpp-batch", 500, error("input is too large to process. increase the physical batch "
     "size", 500, "server_error")),
    ("llama-cpp-python", 500, error("Requested tokens (5000) exceed context window of 4096", None,
     "internal_server_error")),
    ("lm-studio", 400, {"error": "Trying to keep the first 5000 tokens when context the overflows. "
     "However, the model is loaded with context length of only 4096 tokens, which is not enough."}),
    ("lm-studio-old", 400, {"error": "The number of tokens to keep from the initial prompt is "
     "greater than the context length. Try to load the model with a larger context length."}),
    ("ollama", 400, {"error": "the input length exceeds the context length"}),
    ("ollama-500", 500, {"error": "input length exceeds maximum context length"}),
    ("gateway", 400, error("This request hit no rate limit: This model's maximum context length is "
     "8192 tokens. However, your messages resulted in 9001 tokens.", "context_length_exceeded")),
]  # fmt: skip

RESERVE = [
    ("openai", 400, error("This model's maximum context length is 8192 tokens. However, you "
     "requested 9192 tokens (1192 in the messages, 8000 in the completion). Please reduce the "
     "length of the messages or completion.", "context_length_exceeded")),
    ("openai-functions", 400, error("This model's maximum context length is 8,192 tokens. However, "
     "you requested 9,192 tokens (1,000 in the messages, 192 in the functions, and 8,000 in the "
     "completion).", "context_length_exceeded")),
    ("openai-output", 400, error("max_tokens is too large: 50000. This model supports at most "
     "16384 completion tokens, whereas you provided 50000.", "invalid_value")),
    ("openrouter", 400, error("This endpoint's maximum context length is 8192 tokens. However, "
     "you requested about 9000 tokens (5000 of text input, 4000 in the output).", 400)),
    ("vllm", 400, {"object": "error", "code": 400, "message": "'max_tokens' or "
     "'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 "
     "tokens and your request has 1000 input tokens (5000 > 4096 - 1000)."}),
    ("vllm-new", 400, {"object": "error", "code": 400, "message": "This model's maximum context "
     "length is 4096 tokens. However, you requested 2000 output tokens and your prompt contains at "
     "least 3000 input tokens, for a total of at least 5000 tokens."}),
    ("anthropic", 400, {"type": "error", "error": {"type": "invalid_request_error", "message":
     "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input "
     "length or `max_tokens` and try again"}}),
    ("anthropic-output", 400, {"type": "error", "error": {"type": "invalid_request_error",
     "message": "max_tokens: 100000 > 64000, which is the maximum allowed number of output "
     "tokens for claude"}}),
    ("tgi", 422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= "
     "4096. Given: 4000 `inputs` tokens and 200 `max_new_tokens`"}),
    ("groq", 400, error("`max_tokens` must be less than or equal to `8192`, the maximum value for "
     "`max_tokens` is less than the `context_window` for this model")),
]  # fmt: skip

OTHER = [
    (400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
     "'max_completion_tokens' instead."),
    (400, "`max_tokens` must be greater than `thinking.budget_tokens`"),
    (400, "Invalid value for 'temperature': must be between 0 and 2"),
    (400, "messages: roles must alternate between user and assistant"),
    (400, "An assistant message with 'tool_calls' must be followed by tool messages"),
    (400, "Invalid schema for function 'f': too many properties"),
    (400, "Unrecognized request argument supplied: cache_control"),
    (400, "'messages[1].tool_calls[0].id': string too long. Expected a string of at most 40"),
    (400, "Image is too large: the maximum is 5 MB"),
    (401, "Incorrect API key provided"),
    (403, "Country, region, or territory not supported"),
    (404, "The model `gpt-9` does not exist"),
    (408, "Request timed out"),
    (422, "Input validation error: `temperature` must be strictly positive"),
    (429, "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000"),
    (429, "You exceeded your current quota, please check your plan and billing details"),
    (429, "Too many requests in the last minute: concurrency limit of this context is 4"),
    (500, "The server had an error while processing your request"),
    (500, "CUDA out of memory"),
    (502, "Bad gateway"),
    (503, "Loading model"),
    (529, "Overloaded"),
]  # fmt: skip


@pytest.mark.parametrize(("who", "status", "body"), TOO_LONG, ids=[t[0] for t in TOO_LONG])
def test_each_wording_is_an_overflow(who: str, status: int, body: object) -> None:
    """31 ways to say that the prompt is too long are recognised without any exception class."""
    # litellm turns a 400 that speaks of a rate limit into a 429: both must be recognised.
    assert overflow.judge(429 if who == "gateway" else status, str(body)) == "overflow"


@pytest.mark.parametrize(("who", "status", "body"), RESERVE, ids=[t[0] for t in RESERVE])
def test_a_conflict_with_max_tokens_is_told_apart(who: str, status: int, body: object) -> None:
    """Where the prompt alone would fit, evicting is the wrong cure: max_tokens must shrink."""
    assert overflow.judge(status, str(body)) == "reserve"


@pytest.mark.parametrize(("status", "text"), OTHER)
def test_other_errors_are_neither(status: int, text: str) -> None:
    """An error about something else never triggers an eviction."""
    assert overflow.judge(status, text) is None


def test_a_short_prompt_cannot_overflow() -> None:
    """Without numbers, a prompt of less than half the window points to max_tokens."""
    text = "Context size has been exceeded."
    assert overflow.judge(500, text, prompt_share=0.3) == "reserve"
    assert overflow.judge(500, text, prompt_share=0.8) == "overflow"


def fails(status: int, body: object) -> ModelError:
    request = ModelRequest(("You are Ada.",), (Message("user", (Text("hello"),)),))
    with Loopback(Reply(status=status, error=body)) as server:
        model = LitellmModel(
            "openai/some-model", api_base=server.url, api_key="sk-x", backoff=Backoff(retries=0)
        )
        with pytest.raises(ModelError) as caught:
            model.complete(request)
    return caught.value


@pytest.mark.parametrize(("who", "status", "body"), TOO_LONG, ids=[t[0] for t in TOO_LONG])
def test_each_wording_survives_litellm(who: str, status: int, body: object) -> None:
    """Through real litellm every one of them arrives as ContextOverflow, in one line."""
    error = fails(status, body)
    assert type(error) is ContextOverflow
    assert "\n" not in error.message
    assert error.hint


@pytest.mark.parametrize(("who", "status", "body"), RESERVE, ids=[t[0] for t in RESERVE])
def test_each_conflict_survives_litellm(who: str, status: int, body: object) -> None:
    """Through real litellm a max_tokens conflict stays one."""
    assert type(fails(status, body)) is OutputReserveConflict


@pytest.mark.parametrize(("status", "text"), OTHER)
def test_other_errors_survive_litellm(status: int, text: str) -> None:
    """Through real litellm nothing else turns into an overflow."""
    result = fails(status, error(text))
    assert not isinstance(result, ContextOverflow | OutputReserveConflict)
    if status == 429 and "quota" not in text:
        assert isinstance(result, RateLimited)
