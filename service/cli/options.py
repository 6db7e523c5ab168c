"""Options that several commands have."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from service.config import Settings
    from service.store.manifest import Split

DIRECTORY = click.Path(exists=True, file_okay=False, path_type=Path)


class _Output(click.Path):
    """What is written after long work, so whether it can be is seen before."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check the folder around it; that of a file has to exist, those of a folder are made."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        above = path.absolute().parents
        parents = above[:1] if self.file_okay else above
        folder = next((each for each in parents if each.exists()), None)
        if folder is None or not folder.is_dir():
            self.fail(f"there is no folder {click.format_filename(folder or above[0])}", param, ctx)
        if not os.access(folder, os.W_OK):
            self.fail(f"{click.format_filename(folder)} cannot be written to", param, ctx)
        return path


OUTPUT_FILE = _Output(dir_okay=False, writable=True)
OUTPUT_DIRECTORY = _Output(file_okay=False, writable=True)

models_option = click.option(
    "--models",
    "models_dir",
    type=DIRECTORY,
    help="The folder of the models; else that of the settings, as `trellis serve` takes it.",
)

dev_only_option = click.option(
    "--dev-only", is_flag=True, help="Leave the test files alone: for tuning."
)


def splits(dev_only: bool) -> "tuple[Split, ...]":
    """The splits that `dev_only_option` leaves."""
    return ("dev",) if dev_only else ("dev", "test")


def settings_with(models_dir: Path | None) -> "Settings":
    """The settings of the environment, with another folder of models where one is given.

    Raises
    ------
    SettingError
        Where a variable has a value that cannot be used.
    ClickException
        Where there is no such folder.
    """
    from service.config import load_settings

    settings = load_settings()
    if models_dir is not None:
        settings = settings.model_copy(update={"models_dir": models_dir})
    if not settings.models_path.is_dir():
        reason = "there is no such folder of models; --models or TRELLIS_MODELS_DIR names another"
        raise click.ClickException(f"{settings.models_path}: {reason}")
    return settings
