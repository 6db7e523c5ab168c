"""`trellis completion`: what makes a shell complete this command."""

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

_PROGRAM = "trellis"
_VARIABLE = "_TRELLIS_COMPLETE"  # click looks for this name
_SHELLS = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command(
    epilog="""\b
Examples:
  trellis completion bash > ~/.local/share/bash-completion/completions/trellis
  trellis completion fish > ~/.config/fish/completions/trellis.fish

\b
In zsh, this line in ~/.zshrc, behind compinit:
  eval "$(trellis completion zsh)\""""
)
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what makes a shell complete.

    The script for SHELL, which completes commands, options, files and the names of models. A shell
    that is started later reads it from where the examples put it.
    """
    complete = _SHELLS[shell](context.find_root().command, {}, _PROGRAM, _VARIABLE)
    click.echo(complete.source())
