"""What went wrong, as HTTP: a status, and the error of contract.md or, below /v1/, that of OpenAI.

{"schema": 1, "error": {"type": "UnknownAgent", "message": …, "hint": …, "code": 1, …}}
{"error": {"message": "… (hint)", "type": "invalid_request_error", "param": null, "code": …}}
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from pagemind.runtime.errors import (
    AgentExists,
    AgentInUse,
    AuthenticationFailed,
    BadReply,
    BadRequest,
    Cancelled,
    ContextOverflow,
    HomeUnusable,
    IdTaken,
    LimitExceeded,
    LostAgent,
    MissingExtra,
    ModelError,
    ModelNotFound,
    ModelTimeout,
    NoModel,
    NotFound,
    PagemindError,
    PromptTooLarge,
    RateLimited,
    StorageError,
    ToolError,
    UnknownAgent,
    UnknownArchive,
    UserError,
)
from pagemind.runtime.settings import JSON_SCHEMA, SERVE_RETRY_SECONDS

_log = logging.getLogger("pagemind.http")

# The first that fits; what is told beside the status is OpenAI's `code`, where it has one.
_STATUS: tuple[tuple[type[PagemindError], int, str | None], ...] = (
    (UnknownAgent, 404, "model_not_found"),
    (UnknownArchive, 404, None),
    (NotFound, 404, None),
    (AgentInUse, 409, "agent_in_use"),
    (AgentExists, 409, None),
    (LostAgent, 409, "agent_in_use"),
    (IdTaken, 422, "id_taken"),
    (NoModel, 503, "no_model"),
    (MissingExtra, 503, None),
    (HomeUnusable, 500, None),
    (UserError, 400, None),
    (ToolError, 400, None),
    (PromptTooLarge, 400, "context_length_exceeded"),
    (LimitExceeded, 429, "insufficient_quota"),
    (Cancelled, 503, "stopped"),
    (RateLimited, 429, "rate_limit_exceeded"),
    (ModelTimeout, 504, "model_timeout"),
    (AuthenticationFailed, 502, "model_error"),
    (ModelNotFound, 502, "model_error"),
    (BadRequest, 502, "model_error"),
    (BadReply, 502, "model_error"),
    (ContextOverflow, 502, "model_error"),
    (ModelError, 503, "model_error"),
    (StorageError, 500, None),
)
_KINDS = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}


class HttpFault(Exception):
    """A request that cannot be served, before any of the runtime's errors could tell so."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        hint: str = "",
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.fault = Fault(
            status, "HttpError", message, hint, code, param, dict(headers or {}), 2, status == 503
        )


@dataclass(frozen=True, slots=True)
class Fault:
    """An error on its way to a client. `exit_code` is the command line's for the same."""

    status: int
    type: str
    message: str
    hint: str = ""
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    exit_code: int = 1
    retryable: bool = False

    def as_json(self) -> dict[str, Any]:
        """As contract.md has it."""
        error = {
            "type": self.type,
            "message": self.message,
            "hint": self.hint,
            "code": self.exit_code,
            "retryable": self.retryable,
        }
        return {"schema": JSON_SCHEMA, "error": error}

    def as_openai(self) -> dict[str, Any]:
        """As OpenAI's clients read it."""
        kind = _KINDS.get(
            self.status, "invalid_request_error" if self.status < 500 else "server_error"
        )
        if self.code == "insufficient_quota":
            kind = self.code
        message = f"{self.message} ({self.hint})" if self.hint else self.message
        return {"error": {"message": message, "type": kind, "param": self.param, "code": self.code}}

    def body(self, path: str) -> dict[str, Any]:
        """In the words of the clients of that path."""
        return self.as_openai() if path.startswith("/v1/") else self.as_json()

    def response(self, path: str) -> Response:
        return json_response(self.body(path), self.status, self.headers)


def fault_of(error: BaseException) -> Fault:
    """What a client is told of an error. What nobody expected is logged, and not told."""
    if isinstance(error, HttpFault):
        return error.fault
    if isinstance(error, PagemindError):
        status, code = next((s, c) for kind, s, c in _STATUS if isinstance(error, kind))
        headers = {}
        retryable = error.retryable or isinstance(error, Cancelled)  # we stop, and come back
        if status in (409, 429, 503) and retryable:
            seconds = getattr(error, "retry_after", None) or SERVE_RETRY_SECONDS
            headers["Retry-After"] = str(max(1, round(seconds)))
        exit_code = 1 if isinstance(error, ToolError) else error.exit_code
        return Fault(
            status,
            type(error).__name__,
            error.message,
            error.hint,
            code,
            headers=headers,
            exit_code=exit_code,
            retryable=retryable,
        )
    _log.error("unexpected", exc_info=error)
    return Fault(
        500,
        type(error).__name__,
        "something unexpected happened",
        "this is a fault of pagemind's; its log has the traceback",
        exit_code=4,
    )


def json_response(
    body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """JSON that nothing in between may keep."""
    return Response(
        json.dumps(body, ensure_ascii=False),
        status,
        {"Cache-Control": "no-store", **(headers or {})},
        "application/json",
    )
