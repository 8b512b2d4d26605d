"""``bayescm app``."""

import argparse
from typing import Any

from bayescm.cli.options import add_command
from bayescm.data.needs import need

EPILOG = """examples:
  bayescm app                          then open http://127.0.0.1:8765 in a browser
  bayescm app --port 9000
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "app", "a page in the browser that asks and answers, on this machine alone", EPILOG, _run)
    p.add_argument("--port", type=int, default=8765, metavar="N", help="where it listens (8765)")
    p.add_argument("--host", default="127.0.0.1", metavar="H", help="address (127.0.0.1: this machine alone)")


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm app``."""
    if not 0 < arguments.port < 65536:
        raise ValueError(f"--port must lie between 1 and 65535; got {arguments.port}.")
    for package in ("starlette", "uvicorn"):
        need(package, "bayescm app")
    from bayescm.app.server import serve

    serve(arguments.host, arguments.port)
