"""The table of routes, and the ASGI application.

Whatever a route raises becomes an answer in faults.py.
"""

from collections.abc import Awaitable, Callable, Mapping

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from pagemind.runtime.http import chat_completions, rest, rest_turns
from pagemind.runtime.http.faults import Fault, HttpFault, fault_of
from pagemind.runtime.http.guard import OPEN, Guard
from pagemind.runtime.http.running import ClientLeft, Service
from pagemind.runtime.http.token import Token

Handler = Callable[[Service, Request], Awaitable[Response]]

# (method, path, handler)
ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", OPEN, rest.health),
    ("POST", "/v1/chat/completions", chat_completions.chat_completions),
    ("GET", "/v1/models", chat_completions.models),
    ("GET", "/v1/models/{model}", chat_completions.model),
    ("GET", "/agents", rest.agents),
    ("GET", "/agents/{agent}", rest.agent),
    ("GET", "/agents/{agent}/inspect", rest.inspect),
    ("GET", "/agents/{agent}/history", rest.history),
    ("POST", "/agents/{agent}/messages", rest_turns.messages),
    ("POST", "/agents/{agent}/observations", rest_turns.observations),
    ("GET", "/agents/{agent}/pending", rest.pending),
    ("POST", "/agents/{agent}/pending/{id}/approve", rest_turns.approve),
    ("POST", "/agents/{agent}/pending/{id}/deny", rest_turns.deny),
    ("GET", "/agents/{agent}/queue", rest.queue),
    ("GET", "/agents/{agent}/schedules", rest.schedules),
    ("POST", "/agents/{agent}/schedules", rest_turns.schedule),
    ("DELETE", "/agents/{agent}/schedules/{id}", rest_turns.cancel_schedule),
    ("GET", "/agents/{agent}/search", rest.find),
    ("GET", "/agents/{agent}/blocks", rest.blocks),
    ("GET", "/agents/{agent}/blocks/{target}/history", rest.versions),
    ("GET", "/agents/{agent}/passages", rest.passages),
    ("POST", "/agents/{agent}/passages", rest_turns.insert),
    ("GET", "/agents/{agent}/passages/{target}/history", rest.versions),
    ("GET", "/agents/{agent}/pages", rest.pages),
    ("GET", "/agents/{agent}/pages/{page}", rest.page),
)


def make_app(service: Service, token: Token | None) -> ASGIApp:
    """The application, behind its guard."""
    handlers: dict[str, dict[str, Handler]] = {}
    for method, path, handler in ROUTES:
        handlers.setdefault(path, {})[method] = handler
    routes = [
        Route(path, _answering(service, by_method), methods=list(by_method))
        for path, by_method in handlers.items()
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _unrouted})
    app.router.redirect_slashes = False
    return Guard(app, token)


def _answering(
    service: Service, handlers: Mapping[str, Handler]
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            method = "GET" if request.method == "HEAD" else request.method
            return await handlers[method](service, request)
        except ClientLeft:
            return Response(status_code=499)  # nobody reads it
        except Exception as error:
            return fault_of(error).response(request.url.path)

    return endpoint


async def _unrouted(request: Request, error: Exception) -> Response:
    """No such path, or not with this method."""
    path, method = request.url.path, request.method
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        fault = HttpFault(405, f"{path} does not take {method}", headers=error.headers or {})
    else:
        fault = HttpFault(404, f"there is nothing at {path}", hint="see docs/http.md")
    told: Fault = fault.fault
    return told.response(path)
