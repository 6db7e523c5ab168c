"""`trellis health`: ask a server that runs."""

from urllib.parse import urlsplit

import click

_LONGEST_WAIT_S = 3600


def _url(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """A value of --url, checked."""
    try:
        parts = urlsplit(value)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # brackets that do not match, or a port that is none
        known = False
    if not known or parts.query or parts.fragment or value.split() != [value]:
        raise click.BadParameter("expected http://HOST:PORT or https://HOST", context, parameter)
    return value


def _timeout(context: click.Context, parameter: click.Parameter, value: float) -> float:
    """A value of --timeout, checked; click's own range would let nan pass."""
    if not 0 < value <= _LONGEST_WAIT_S:
        reason = f"expected more than 0 and at most {_LONGEST_WAIT_S} seconds"
        raise click.BadParameter(reason, context, parameter)
    return value


@click.command(
    epilog="""\b
Examples:
  trellis health
  trellis health --url https://tagger.example.org --timeout 1"""
)
@click.option(
    "--url",
    default="http://127.0.0.1:8080",
    show_default=True,
    callback=_url,
    help="The server.",
)
@click.option(
    "--timeout",
    "timeout_s",
    default=5.0,
    show_default=True,
    callback=_timeout,
    help="Seconds to wait.",
)
def health(url: str, timeout_s: float) -> None:
    """Ask a running server for its health.

    Prints its version and its models. The exit code is 0 where it is ready, else 1.
    """
    from service.client import ProblemError, TrellisClient

    with TrellisClient(url, timeout_s=timeout_s, retries=0) as client:
        try:
            answer = client.health()
            lines = [f"{answer['status']}, version {answer['version']}"]
            for model in answer["models"]:
                state = "" if model["loaded"] else " (not loaded)"
                lines.append(f"  {model['name']} {model['version']}{state}")
        except ProblemError as error:
            raise click.ClickException(f"{url}: {error}") from error
        except (KeyError, TypeError) as error:  # JSON, but another's
            raise click.ClickException(f"{url}: the answer is not that of Trellis") from error
    click.echo("\n".join(lines))
