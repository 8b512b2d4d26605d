"""The server of the local page: loopback only, nothing stored, nothing asked of another host."""

import base64
import json
import os
import re
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from io import BytesIO
from typing import Any

import anyio
import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import bayescm
from bayescm._kernels import dispatch
from bayescm.app import inputs, pages
from bayescm.app.answers import Found
from bayescm.app.inputs import FieldError, TooMuch
from bayescm.app.messages import plain
from bayescm.app.questions import FIELDS, FORMS, QUESTIONS
from bayescm.results import writing

MOST_BYTES = 2_000_000
SECONDS = 60.0
THREADS = 1
"""That answer: more would wait for one another, and each keeps memory of its own."""
ASKED = 16
"""Questions at most that are computed or wait; more are refused."""
REMEMBERED = 4
"""Answers that are kept in memory, so that a picture isn't computed anew; nothing else is kept."""
KEPT_ALIVE = 75
"""Seconds that an idle connection is kept: longer than clients do, so that none asks while it is being closed."""
HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
_PICTURES = {"svg": "image/svg+xml", "png": "image/png"}
_KINDS = _PICTURES | {"nc": "application/x-netcdf"}
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
    "/common.mjs": ("common.mjs", "text/javascript"),
    "/tabs.json": ("tabs.json", "application/json"),
}
_ARGUMENT = re.compile(r"`(\w+)")
_OF_TABLE = ("counts", "data", "systems", "array", "actual", "predicted", "y_true", "y_pred", "ratings")
_FIELD_OF = dict.fromkeys(_OF_TABLE, "table") | {"claims": "claim", "levels": "ci_prob"}
_CALLS = {name: f"{name}(data)" for name in QUESTIONS} | {
    "curves": "curve_posterior(data['actual'], data['score'])", "compare": "compare_systems(data)",
    "folds": "posterior(data, model='kfold', pooling='complete')", "prevalences": "planning.at_prevalences(data)",
    "items": "sample_size(metrics)", "replicate": "planning.replicate(data)",
    "agreement": "summary(bayescm.agreement(data))", "reported": "from_reported(metrics, n_items=n_items)",
}  # fmt: skip
"""Of Python, which takes more than the page does."""
_NEEDED = f"{bayescm.__version__} {' '.join(QUESTIONS)}"
"""What is compiled: it is noted, and not compiled anew."""
_one_at_a_time = threading.Lock()  # neither matplotlib nor the catching of warnings is made for several threads


def create_app(hosts: frozenset[str] = HOSTS) -> Starlette:
    """Return the application, which answers requests to these hosts alone."""
    routes = [Route(path, partial(_file, *of), methods=["GET"]) for path, of in _FILES.items()]
    routes.append(Route("/sheet", _sheet, methods=["POST"]))
    routes.append(Route("/api/{question}", _answer, methods=["POST"]))
    routes.append(Route("/api/{question}/{kind}", _saved, methods=["POST"]))
    app = Starlette(routes=routes)
    app.state.limiter, app.state.asked = None, 0
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
            return _too_much(request, TooMuch("bytes", MOST_BYTES))
        return None


def _error(status: int, message: str, name: str = "") -> JSONResponse:
    return JSONResponse({"field": name, "message": message}, status_code=status)


def _too_much(request: Request, error: TooMuch) -> JSONResponse:
    """Refuse what is more than a page should compute, and name the call that takes it."""
    question = next((name for name in _CALLS if f"/{name}" in request.url.path), "summary")
    call = f"data = pd.read_csv('your-file.csv'); bayescm.{_CALLS[question]}"
    return _error(413, f"{error} In Python: {call}.", error.field)


async def _file(name: str, kind: str, _: Request) -> Response:
    """Return a file of the page."""
    return Response(pages.text(name), media_type=kind)


async def _answer(request: Request) -> Response:
    """Answer a question by JSON."""
    return await _respond(request, partial(_computed, request.path_params["question"], _as_json))


async def _saved(request: Request) -> Response:
    """Answer a question by a picture, or by what the library returned."""
    kind = request.path_params["kind"]
    if kind not in _KINDS:
        return _error(404, f"An answer is saved as one of {', '.join(_KINDS)}.")
    made = partial(_drawn, kind=kind) if kind in _PICTURES else _as_netcdf
    return await _respond(request, partial(_computed, request.path_params["question"], made))


async def _sheet(request: Request) -> Response:
    """Return a spreadsheet, which comes in letters of base 64, as text."""
    return await _respond(request, _as_text)


async def _respond(request: Request, made: Callable[[bytes], Response]) -> Response:
    """Read the request, let a thread answer, and say what is wrong with a field."""
    question, state = request.path_params.get("question"), request.app.state
    if question is not None and question not in QUESTIONS:
        return _error(404, f"A question is one of {', '.join(QUESTIONS)}.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            return _too_much(request, TooMuch("bytes", MOST_BYTES))
    if state.asked >= ASKED:
        return _error(429, "Too many questions at once; ask again in a moment.")
    state.asked += 1
    try:
        if state.limiter is None:
            state.limiter = anyio.CapacityLimiter(THREADS)
        with anyio.fail_after(SECONDS):
            return await anyio.to_thread.run_sync(
                partial(made, bytes(body)), abandon_on_cancel=True, limiter=state.limiter
            )
    except TooMuch as error:
        return _too_much(request, error)
    except MemoryError:
        return _error(413, "This needs more memory than there is: give fewer systems, classes or items.", "table")
    except FieldError as error:
        return _error(400, plain(str(error)), error.field)
    except (ValueError, TypeError, ArithmeticError) as error:
        return _error(400, plain(str(error)), _field_of(str(error)))
    except TimeoutError:
        return _error(503, f"Still computing after {SECONDS:g} seconds; ask again for the answer, or ask the library.")
    finally:
        state.asked -= 1


def _computed(question: str, made: Callable[[Found, list[str]], Response], body: bytes) -> Response:
    """Answer in a thread, with what the library warns of."""
    form = _form(body)
    with _one_at_a_time:
        return made(*_found(question, json.dumps(form, sort_keys=True)))


@lru_cache(maxsize=REMEMBERED)
def _found(question: str, form: str) -> tuple[Found, list[str]]:
    """Return the answer to a question, and what the library warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        found = QUESTIONS[question](json.loads(form))
    return found, list(dict.fromkeys(plain(str(one.message)) for one in caught if one.category is UserWarning))


def _as_text(body: bytes) -> Response:
    """Return the cells of a spreadsheet between tabs."""
    try:
        content = base64.b64decode(str(_object(body).get("content", "")), validate=True)
    except ValueError:
        raise FieldError("table", "This isn't a file in letters of base 64.") from None
    return JSONResponse({"table": inputs.sheet(content)})


def _object(body: bytes) -> Mapping[str, Any]:
    """Read an object of JSON."""
    try:
        form = json.loads(body)
    except (ValueError, RecursionError):
        raise FieldError("", "This isn't JSON.") from None
    if not isinstance(form, dict):
        raise FieldError("", "Send one object with a field for each entry of the form.")
    return form


def _form(body: bytes) -> Mapping[str, Any]:
    """Read the fields of a form."""
    form = _object(body)
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
        "sentence": found.sentence, "table": found.table, "records": records,
        "csv": writing.as_csv(found.records), "assumptions": found.assumptions,
        "code": found.code, "notes": notes, "words": found.words,
    })  # fmt: skip


def _plain(value: Any) -> Any:
    """Return a value that JSON knows."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _as_netcdf(found: Found, _: list[str]) -> Response:
    """Return what the library returned, as a file that xarray and ArviZ read."""
    return Response(bytes(found.data.to_netcdf(engine="h5netcdf")), media_type=_KINDS["nc"])


def _drawn(found: Found, _: list[str], kind: str) -> Response:
    """Return the picture of an answer."""
    from matplotlib.figure import Figure

    if found.draw is None:
        raise ValueError("This answer has no picture.")
    figure = Figure(figsize=found.size, layout="constrained")
    made = BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # said with the answer
        found.draw(figure.subplots(found.panels))
        if (layout := figure.get_layout_engine()) is not None:
            layout.execute(figure)  # once: saving would draw everything twice for it
        figure.set_layout_engine(None)
        figure.savefig(made, format=kind, dpi=140)
    return Response(made.getvalue(), media_type=_PICTURES[kind])


def serve(host: str = "127.0.0.1", port: int = 8765) -> None:
    """Serve the page until it is interrupted; meanwhile a process of its own compiles what isn't yet compiled."""
    hosts = HOSTS | {f"[{host}]" if ":" in host else host}
    print("bayescm: starting ...", flush=True)
    warm(next(iter(QUESTIONS)))
    print(f"bayescm: open http://{host}:{port} - Ctrl+C ends it", flush=True)
    compiler = _compiler()
    if dispatch.folder() is None and not dispatch.ready():
        print(
            "bayescm: machine code can't be kept, so first answers are slow: set BAYESCM_CACHE_DIR to a folder",
            flush=True,
        )
    else:
        threading.Thread(target=_load_compiled, args=(compiler,), daemon=True).start()
    quiet: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False}
    try:
        uvicorn.run(create_app(hosts), host=host, port=port, timeout_keep_alive=KEPT_ALIVE, **quiet)
    finally:
        if compiler is not None:
            compiler.terminate()


def _compiler() -> "subprocess.Popen[bytes] | None":
    """Start a process that compiles; none where all is compiled, or nothing could be kept."""
    if dispatch.ready() or dispatch.folder() is None or dispatch.noted("app", _NEEDED):
        return None
    command = [sys.executable, "-c", "from bayescm.app import server; server.compile_all()"]
    return subprocess.Popen(command, env=os.environ | {"BAYESCM_COMPILE": "1"})


def compile_all() -> None:
    """Compile what each question needs, into the cache folder; the first time on a machine it takes minutes."""
    for name in QUESTIONS:
        warm(name)
        print(f"bayescm: {name} is compiled", flush=True)
    dispatch.note("app", _NEEDED)


def _load_compiled(compiler: "subprocess.Popen[bytes] | None") -> None:
    """Answer every question once, when all is compiled, so that none has to load anything; others get in between."""
    if compiler is None or compiler.wait() == 0:
        for name in QUESTIONS:
            warm(name)
        print("bayescm: all questions are ready", flush=True)


def warm(name: str) -> None:
    """Answer and draw a question once."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        _drawn(QUESTIONS[name](FORMS[name]), [], "svg")
