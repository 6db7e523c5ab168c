"""The group of all commands: how they fail, how they are listed, and whether in colour."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it: 128 and the number of SIGINT."""

UNREAD = 141
"""Exit code where nobody reads on, as in ``| head -1``: 128 and the number of SIGPIPE."""

_OF_TRAINING = ("pycrfsuite", "torch")
_OF_CLICK = (click.ClickException, click.Abort, click.exceptions.Exit)


class Commands(click.Group):
    """Commands that fail with one line on standard error and the exit code of its cause."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which they were added: the first are most often wanted."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the words behind `trellis`; its own help is written here."""
        with _failures_told(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        ctx.color = _colour()
        with _failures_told(ctx):
            return super().invoke(ctx)


@contextmanager
def _failures_told(context: click.Context) -> Iterator[None]:
    """Turn the exceptions that can be expected into messages and exit codes."""
    try:
        yield
    except _OF_CLICK:
        raise
    except KeyboardInterrupt:
        click.echo(err=True)  # the shell's prompt does not stand behind ^C
        context.exit(INTERRUPTED)
    except BrokenPipeError:
        # What is still buffered goes nowhere, or Python complains when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        context.exit(UNREAD)
    except Exception as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise click.ClickException(reason) from error


def _reason(error: Exception) -> str | None:
    """What to say of an exception; None of one that is a fault of this program."""
    # Here, since they are slow to import: whoever has no failure does not wait for them.
    from service.client import TrellisClientError
    from service.errors import TrellisError

    if isinstance(error, TrellisError | TrellisClientError):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and error.name in _OF_TRAINING:
        return (
            f"{error}; training needs more than serving: make dev, for a biLSTM-CRF "
            "make train-env, or the extra `train`"
        )
    if isinstance(error, OSError):
        place = f"{click.format_filename(error.filename)}: " if error.filename else ""
        return f"{place}{error.strerror}"
    return None


def _colour() -> bool | None:
    """Whether to colour what is written; None leaves it to whether a terminal reads it.

    As https://no-color.org/ and https://force-color.org/ have it.
    """
    if os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR") else None
