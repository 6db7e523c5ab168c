"""The group of all commands: how they fail, how they are listed, and whether in colour."""

import errno
import os
from typing import Any

import click

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it: 128 and the number of SIGINT."""

_OF_TRAINING = ("pycrfsuite", "torch")


class Commands(click.Group):
    """Commands that fail with one line on standard error and the exit code of its cause."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which they were added: the first are most often wanted."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for; exceptions of the domain become messages."""
        from service.client import TrellisClientError
        from service.errors import TrellisError

        ctx.color = _colour()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo(err=True)  # the shell's prompt does not stand behind ^C
            ctx.exit(INTERRUPTED)
        except (TrellisError, TrellisClientError) as error:
            raise click.ClickException(str(error)) from error
        except ModuleNotFoundError as error:
            if error.name not in _OF_TRAINING:
                raise
            reason = (
                f"{error}; training needs more than serving: make dev, for a biLSTM-CRF "
                "make train-env, or the extra `train`"
            )
            raise click.ClickException(reason) from error
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # click ends quietly where nobody reads
            place = f"{error.filename}: " if error.filename else ""
            raise click.ClickException(f"{place}{error.strerror}") from error


def _colour() -> bool | None:
    """Whether to colour what is written; None leaves it to whether a terminal reads it.

    As https://no-color.org/ and https://force-color.org/ have it.
    """
    if os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR") else None
