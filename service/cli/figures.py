"""What was measured, a line a figure."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from service.store.manifest import Score


def show(figure: "Score", detail: str = "") -> None:
    """Write a figure, and `detail` behind its value."""
    click.echo(
        f"{figure.data} {figure.split}: {figure.metric} {percent(figure.value)}{detail}; "
        f"{figure.scheme}"
    )


def percent(share: float | None) -> str:
    """A share between 0 and 1, as figures show it."""
    return "not defined" if share is None else f"{100 * share:.2f}"
