"""`trellis health`: ask a server that runs."""

import click


@click.command(
    epilog="""\b
Examples:
  trellis health
  trellis health --url https://tagger.example.org --timeout 1"""
)
@click.option("--url", default="http://127.0.0.1:8080", show_default=True, help="The server.")
@click.option("--timeout", "timeout_s", default=5.0, show_default=True, help="Seconds to wait.")
def health(url: str, timeout_s: float) -> None:
    """Ask a running server for its health.

    Prints its version and its models. The exit code is 0 where it is ready, else 1.
    """
    from service.client import TrellisClient

    with TrellisClient(url, timeout_s=timeout_s, retries=0) as client:
        answer = client.health()
        click.echo(f"{answer['status']}, version {answer['version']}")
        for model in answer["models"]:
            state = "" if model["loaded"] else " (not loaded)"
            click.echo(f"  {model['name']} {model['version']}{state}")
