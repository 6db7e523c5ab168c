"""`trellis train`, `pretrain` and `calibrate`: make a model from its recipe."""

from pathlib import Path

import click

from service.cli.figures import show
from service.cli.options import (
    DIRECTORY,
    OUTPUT_DIRECTORY,
    OUTPUT_FILE,
    dev_only_option,
    splits,
)


@click.command(
    epilog="""\b
Examples:
  trellis train models/en-ner-crf/recipe.toml --data DATA
  trellis train recipe.toml --data DATA --out my-models/xx-ner-mine --dev-only
  trellis train recipe.toml --data DATA --checkpoint state"""
)
@click.argument("recipe", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--data", type=DIRECTORY, help="The folder that the recipe's files lie in.")
@click.option(
    "--out",
    type=OUTPUT_DIRECTORY,
    help="The model directory to write, named as the model; else the recipe's own.",
)
@dev_only_option
@click.option(
    "--checkpoint",
    type=OUTPUT_FILE,
    help="A file for the state of a biLSTM-CRF's training: an interrupted one goes on from it.",
)
def train(
    recipe: Path, data: Path | None, out: Path | None, dev_only: bool, checkpoint: Path | None
) -> None:
    """Train a model and measure it.

    RECIPE says what it is made from: data files, architecture and options; models/README.md has
    every key. The model directory is written last, and holds weights, vocabularies, manifest and
    card.
    """
    from service.config import load_settings
    from service.training.recipe import read_recipe
    from service.training.train import train as train_model

    read = read_recipe(recipe)
    directory = (out or recipe.parent).resolve()
    if directory.name != read.name:
        raise click.UsageError(f"the model directory must be named {read.name}")
    if data is None and read.corpora:
        raise click.UsageError("the recipe names corpora: say with --data where they lie")
    settings = load_settings()
    manifest = train_model(read, data or Path(), directory, splits(dev_only), settings, checkpoint)
    for score in manifest.scores:
        show(score)
    click.echo(f"wrote {directory}")


@click.command(
    epilog="""\b
Examples:
  trellis pretrain language_model.toml --data DATA --out LM
  trellis pretrain language_model.toml --data DATA --out LM --checkpoint STATE"""
)
@click.argument("recipe", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--data", type=DIRECTORY, required=True, help="Where the recipe's files lie.")
@click.option(
    "--out",
    type=OUTPUT_DIRECTORY,
    required=True,
    help="The directory to write the language model to.",
)
@click.option(
    "--checkpoint",
    type=OUTPUT_DIRECTORY,
    help="A folder for the state: an interrupted pretraining goes on from it.",
)
def pretrain(recipe: Path, data: Path, out: Path, checkpoint: Path | None) -> None:
    """Pretrain a language model on text.

    An ELMo reads it. RECIPE says which text, which needs no labels, and how long; models/README.md
    has every key. This needs PyTorch.
    """
    from service.training.pretraining_recipe import read_language_model_recipe

    read = read_language_model_recipe(recipe)
    from service.training.pretrain import pretrain as pretrain_model  # needs PyTorch

    manifest = pretrain_model(read, data, out.resolve(), checkpoint)
    last = manifest.perplexities[-1]
    click.echo(
        f"held-out perplexity {last.forward:.1f} forward, {last.backward:.1f} backward, "
        f"after {last.words} words"
    )
    click.echo(f"wrote {out}")


@click.command(
    epilog="""\b
Examples:
  trellis calibrate models/en-ner-crf --data DATA --dev-only"""
)
@click.argument("model", type=DIRECTORY)
@click.option(
    "--data", type=DIRECTORY, required=True, help="The folder that the recipe's files lie in."
)
@dev_only_option
def calibrate(model: Path, data: Path, dev_only: bool) -> None:
    """Fit the temperature of a model.

    On the dev files that the recipe in MODEL, a model directory, names. Writes it, and the
    calibration errors with it, into manifest and card, as `trellis train` does.
    """
    from service.config import load_settings
    from service.store.directory import make_tagger, read_manifest, read_parameters, write_model
    from service.training.calibration import CALIBRATION_ERRORS
    from service.training.card import model_card
    from service.training.recipe import RECIPE_FILE, read_recipe
    from service.training.temperature import calibrated

    directory, settings = model.resolve(), load_settings()
    manifest = read_manifest(directory)
    parameters = read_parameters(directory, manifest)
    manifest = calibrated(
        manifest,
        make_tagger(directory, manifest, parameters, settings.max_unseen_words),
        read_recipe(model / RECIPE_FILE).corpora,
        data,
        splits(dev_only),
        settings.max_sentence_tokens,
    )
    manifest = write_model(directory, manifest, parameters, model_card(manifest))
    click.echo(f"temperature {manifest.temperature:g}")
    for score in manifest.scores:
        if score.metric in CALIBRATION_ERRORS:
            show(score)
    click.echo(f"wrote {directory}")
