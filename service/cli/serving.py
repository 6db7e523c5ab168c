"""`trellis serve`: gunicorn in the place of this process."""

import os
import sys
from pathlib import Path

import click

import service
from service.cli.options import models_option

_GUNICORN = ("-m", "gunicorn", "-c", "python:service.gunicorn_settings", "service.wsgi:app")


@click.command(
    epilog="""\b
Examples:
  trellis serve
  trellis serve --port 8000 --workers 2
  TRELLIS_MODELS=en-ner-crf trellis serve --models my-models"""
)
@click.option("--host", help="The address to listen on; else TRELLIS_HOST, else 127.0.0.1.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="The port to listen on, 0 for a free one; else TRELLIS_PORT, else 8080.",
)
@models_option
@click.option(
    "--workers",
    type=click.IntRange(0, 256),
    help="Processes, 0 for one a CPU; else TRELLIS_WORKERS, else 0.",
)
def serve(host: str | None, port: int | None, models_dir: Path | None, workers: int | None) -> None:
    """Serve the models over HTTP, until Ctrl-C or SIGTERM.

    The page at / tries it out, /docs has the API. The options stand for settings of the
    environment and win over them; TRELLIS_MODELS says which models are loaded, and docs/settings.md
    has all others.
    """
    given = {"HOST": host, "PORT": port, "MODELS_DIR": models_dir, "WORKERS": workers}
    environment = os.environ | _safe_path()
    for name, value in given.items():
        if value is not None:
            environment[f"TRELLIS_{name}"] = str(value)
    os.execve(sys.executable, [sys.executable, *_GUNICORN], environment)


def _safe_path() -> dict[str, str]:
    """Have Python import this package, and none of its name in the folder where we are.

    gunicorn puts that folder first, unless it stands in the path already.
    """
    package = Path(service.__file__).resolve().parent.parent
    inherited = os.environ.get("PYTHONPATH")
    path = [str(package), os.getcwd(), *([inherited] if inherited else [])]
    return {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(path)}
