"""`trellis models`: what lies in the folder of the models."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from service.cli.options import models_option, settings_with

if TYPE_CHECKING:
    from service.store.manifest import Manifest

_HEAD = ("NAME", "VERSION", "COMMAND", "TAGSET", "ARCHITECTURE", "DEFAULT", "SIZE", "TEST")
_SHOWN_METRICS = {"accuracy": "accuracy", "entity_f1": "F1"}


@click.command(
    epilog="""\b
Examples:
  trellis models
  trellis models --models my-models"""
)
@models_option
def models(models_dir: Path | None) -> None:
    """List the models that there are.

    COMMAND is what a model is for, `trellis tag` or `trellis ner`. DEFAULT is the one that these,
    and a server, take where none is named. TEST is measured on the test data that the model's card
    names first: the accuracy of tags, or the strict F1 of entities.
    """
    from service.store.registry import read_manifests, served_defaults

    settings = settings_with(models_dir)
    manifests = read_manifests(settings.models_path)
    defaults = set(served_defaults(settings, manifests).values())
    rows = [
        _row(manifest, name in defaults, size_bytes(settings.models_path / name))
        for name, manifest in manifests.items()
    ]
    head, *lines = _table([_HEAD, *rows])
    click.secho(head, bold=True)
    for line in lines:
        click.echo(line)


def size_bytes(directory: Path) -> int:
    """The size of a model: of all files of its directory."""
    return sum(file.stat().st_size for file in directory.iterdir() if file.is_file())


def _row(manifest: "Manifest", default: bool, size_bytes: int) -> tuple[str, ...]:
    return (
        manifest.name,
        manifest.version,
        manifest.task,
        manifest.tagset or "",
        manifest.architecture,
        "default" if default else "",
        f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 50_000 else f"{size_bytes / 1e3:.0f} kB",
        _main_score(manifest),
    )


def _main_score(manifest: "Manifest") -> str:
    """The first figure of the tests: on gold words, as they are."""
    for score in manifest.scores:
        if score.split == "test" and score.metric in _SHOWN_METRICS and score.value is not None:
            return f"{_SHOWN_METRICS[score.metric]} {100 * score.value:.1f} ({score.data})"
    return ""


def _table(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Lines whose columns stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        yield "  ".join(cell.ljust(width) for cell, width in cells).rstrip()
