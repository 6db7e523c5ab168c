"""The command `trellis`. What a command needs is imported when it runs, so that help is quick."""

import click

from service import __version__
from service.cli.annotation import ner, tag
from service.cli.commands import Commands
from service.cli.completion import completion
from service.cli.evaluation import evaluate
from service.cli.health import health
from service.cli.models import models
from service.cli.serving import serve
from service.cli.training import calibrate, pretrain, train

_EPILOG = """\b
Exit codes:
  0    all went well
  1    something cannot be done: one line on standard error says what and why
  2    wrong use: an unknown command or option, or a value that cannot be one
  3    the server cannot start: a setting or a model cannot be used
  130  ended by Ctrl-C
  141  nobody reads on, as in `trellis ner letter.txt | head -1`

Settings are environment variables, TRELLIS_MODELS_DIR for example; docs/settings.md has them all.
Colours are for a terminal: NO_COLOR=1 switches them off, FORCE_COLOR=1 on."""


@click.group(
    "trellis",
    cls=Commands,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},  # of all commands
)
@click.version_option(__version__, package_name="trellis-tagger", prog_name="trellis")
def main() -> None:
    """Trellis tags sequences: parts of speech and named entities.

    As a server (serve, health) or right here (tag, ner), with the models that there are (models)
    or your own (train, evaluate). `trellis COMMAND --help` shows what each takes, with examples.
    """


_TAGGING = (tag, ner, models, serve, health)
_TRAINING = (train, pretrain, evaluate, calibrate)
for _command in (*_TAGGING, *_TRAINING, completion):
    main.add_command(_command)
