"""The server of the local page: loopback only, nothing stored, nothing asked of another host."""

import json
import re
import threading
import warnings
from collections.abc import Mapping
from functools import partial
from io import BytesIO
from typing import Any

import anyio
import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bayescm.app import pages
from bayescm.app.inputs import FieldError
from bayescm.app.questions import FIELDS, QUESTIONS, Found
from bayescm.results import writing

MOST_BYTES = 2_000_000
SECONDS = 60.0
WAITING = 4
"""Threads at most; one of them computes, others wait."""
HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
_PICTURES = {"svg": "image/svg+xml", "png": "image/png"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_FILES = {
    "/": ("app.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/app.mjs": ("app.mjs", "text/javascript"),
}
_ARGUMENT = re.compile(r"`(\w+)")
_FIELD_OF = {"counts": "table", "data": "table", "systems": "table", "claims": "claim", "levels": "ci_prob"}
_one_at_a_time = threading.Lock()  # neither matplotlib nor the catching of warnings is made for several threads


def create_app(hosts: frozenset[str] = HOSTS) -> Starlette:
    """Return the application, which answers requests to these hosts alone."""
    routes = [Route(path, partial(_file, *of), methods=["GET"]) for path, of in _FILES.items()]
    routes.append(Route("/api/{question}", _answer, methods=["POST"]))
    routes.append(Route("/api/{question}/{kind}", _picture, methods=["POST"]))
    app = Starlette(routes=routes)
    app.state.limiter = None
    app.add_middleware(Guard, hosts=hosts)
    return app


class Guard:
    """Refuses requests to other hosts, from other pages, and of too many bytes; adds the headers of every answer."""

    def __init__(self, app: Any, hosts: frozenset[str]) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or hand on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = self._refusal(Request(scope))

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                more = ((name.lower().encode(), value.encode()) for name, value in _HEADERS.items())
                message["headers"] = [*message["headers"], *more]
            await send(message)

        await (refused or self.app)(scope, receive, with_headers)

    def _refusal(self, request: Request) -> Response | None:
        """Return why a request isn't answered; None if it is."""
        host = request.headers.get("host", "")
        if re.sub(r":\d+$", "", host).lower() not in self.hosts:
            return _error(403, "This page answers on this machine only: open http://127.0.0.1 with its port.")
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return _error(403, "Another page asked; this one answers itself alone.")
        if request.method == "POST" and request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return _error(415, "Send JSON.")
        length = request.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            return _too_much()
        return None


def _error(status: int, message: str, name: str = "") -> JSONResponse:
    return JSONResponse({"field": name, "message": message}, status_code=status)


def _too_much() -> JSONResponse:
    return _error(413, f"At most {MOST_BYTES:,} bytes here; the library and the command line take more.", "table")


async def _file(name: str, kind: str, _: Request) -> Response:
    """Return a file of the page."""
    return Response(pages.text(name), media_type=kind)


async def _answer(request: Request) -> Response:
    """Answer a question by JSON."""
    return await _respond(request, _as_json)


async def _picture(request: Request) -> Response:
    """Answer a question by a picture."""
    kind = request.path_params["kind"]
    if kind not in _PICTURES:
        return _error(404, f"A picture is one of {', '.join(_PICTURES)}.")
    return await _respond(request, partial(_drawn, kind=kind))


async def _respond(request: Request, made: Any) -> Response:
    """Read the form, let a thread answer, and say what is wrong with a field."""
    question = QUESTIONS.get(request.path_params["question"])
    if question is None:
        return _error(404, f"A question is one of {', '.join(QUESTIONS)}.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            return _too_much()
    try:
        form = _form(bytes(body))
        if request.app.state.limiter is None:
            request.app.state.limiter = anyio.CapacityLimiter(WAITING)
        with anyio.fail_after(SECONDS):
            answered: Response = await anyio.to_thread.run_sync(
                partial(_computed, question, form, made), abandon_on_cancel=True, limiter=request.app.state.limiter
            )
            return answered
    except FieldError as error:
        return _error(400, str(error), error.field)
    except (ValueError, TypeError, ArithmeticError) as error:
        return _error(400, " ".join(str(error).split()), _field_of(str(error)))
    except TimeoutError:
        return _error(503, f"This took more than {SECONDS:g} seconds; ask the library.")


def _computed(question: Any, form: Mapping[str, Any], made: Any) -> Response:
    """Answer in a thread, with what the library warns of."""
    with _one_at_a_time, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        found: Found = question(form)
        notes = dict.fromkeys(str(one.message) for one in caught if one.category is UserWarning)
        response: Response = made(found, list(notes))
    return response


def _form(body: bytes) -> Mapping[str, Any]:
    """Read the fields of a form."""
    try:
        form = json.loads(body)
    except (ValueError, RecursionError):
        raise FieldError("", "This isn't JSON.") from None
    if not isinstance(form, dict):
        raise FieldError("", "Send one object with a field for each entry of the form.")
    unknown = sorted(set(form) - FIELDS)
    if unknown:
        raise FieldError("", f"There is no field {unknown[0][:40]!r}.")
    return form


def _field_of(message: str) -> str:
    """Return the field of the argument that an error of the library names first."""
    found = _ARGUMENT.search(message)
    name = found[1] if found else ""
    name = _FIELD_OF.get(name, name)
    return name if name in FIELDS else ""


def _as_json(found: Found, notes: list[str]) -> Response:
    """Return an answer as JSON, which has no word for what isn't finite."""
    records = [{str(key): _plain(value) for key, value in row.items()} for row in found.records]
    return JSONResponse({
        "sentence": found.sentence, "records": records, "csv": writing.as_csv(found.records),
        "assumptions": found.assumptions, "code": found.code, "notes": notes,
    })  # fmt: skip


def _plain(value: Any) -> Any:
    """Return a value that JSON knows."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _drawn(found: Found, _: list[str], kind: str) -> Response:
    """Return the picture of an answer."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=found.size, layout="constrained")
    found.draw(figure.subplots())
    made = BytesIO()
    figure.savefig(made, format=kind, dpi=140)
    figure.clear()
    return Response(made.getvalue(), media_type=_PICTURES[kind])


def serve(host: str = "127.0.0.1", port: int = 8765) -> None:
    """Compile what is needed, and serve the page until it is interrupted."""
    hosts = HOSTS | {f"[{host}]" if ":" in host else host}
    print("bayescm: compiling, the first time on a machine for a minute ...", flush=True)
    warm()
    print(f"bayescm: open http://{host}:{port} - Ctrl+C ends it", flush=True)
    uvicorn.run(create_app(hosts), host=host, port=port, log_level="warning", access_log=False, server_header=False)


def warm() -> None:
    """Answer each question once, so that nothing is left to compile."""
    cells = {"tp": "26", "fn": "0", "fp": "2", "tn": "6"}
    systems = {"table": "system,tp,fn,fp,tn\nA,40,10,5,45\nB,35,14,9,41"}
    for name, question in QUESTIONS.items():
        with _one_at_a_time, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            question(systems if name in ("compare", "leaderboard") else cells)
