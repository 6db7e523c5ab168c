"""The command `trellis`: train a model, evaluate it, ask a running server for its health."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path

import click

from service import __version__
from service.client import TrellisClient, TrellisClientError
from service.config import load_settings
from service.errors import TrellisError
from service.store.manifest import Score, Split

_DIRECTORY = click.Path(exists=True, file_okay=False, path_type=Path)


@click.group()
@click.version_option(__version__, package_name="trellis-tagger", prog_name="trellis")
def main() -> None:
    """Trellis tags sequences: parts of speech and named entities."""


def _says_what_is_wrong(command: Callable[..., None]) -> Callable[..., None]:
    """Turn an exception of the domain into one line on standard error and exit code 1."""

    @wraps(command)
    def run(*args: object, **kwargs: object) -> None:
        try:
            command(*args, **kwargs)
        except (TrellisError, TrellisClientError) as error:
            raise click.ClickException(str(error)) from error
        except ModuleNotFoundError as error:  # of the extra, which serving does without
            reason = (
                f"{error}; training needs more than serving: make dev, for a biLSTM-CRF "
                "make train-env, or the extra `train`"
            )
            raise click.ClickException(reason) from error

    return run


@main.command()
@click.argument("recipe", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--data", type=_DIRECTORY, help="The folder that the recipe's files lie in.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="The model directory to write, named as the model; else the recipe's own.",
)
@click.option("--dev-only", is_flag=True, help="Leave the test files alone: for tuning.")
@click.option(
    "--checkpoint",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file for the state of a biLSTM-CRF's training: an interrupted one goes on from it.",
)
@_says_what_is_wrong
def train(
    recipe: Path, data: Path | None, out: Path | None, dev_only: bool, checkpoint: Path | None
) -> None:
    """Train the model of RECIPE, measure it and write its directory."""
    from service.training.recipe import read_recipe
    from service.training.train import train as train_model

    read = read_recipe(recipe)
    directory = (out or recipe.parent).resolve()
    if directory.name != read.name:
        raise click.UsageError(f"the model directory must be named {read.name}")
    if data is None and read.corpora:
        raise click.UsageError("the recipe names corpora: say with --data where they lie")
    settings = load_settings()
    manifest = train_model(read, data or Path(), directory, _splits(dev_only), settings, checkpoint)
    for score in manifest.scores:
        _show(score)
    click.echo(f"wrote {directory}")


@main.command()
@click.argument("recipe", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--data", type=_DIRECTORY, required=True, help="Where the recipe's files lie.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The directory to write the language model to.",
)
@click.option(
    "--checkpoint",
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder for the state: an interrupted pretraining goes on from it.",
)
@_says_what_is_wrong
def pretrain(recipe: Path, data: Path, out: Path, checkpoint: Path | None) -> None:
    """Pretrain the language model of RECIPE, which an ELMo is made from, on unlabelled text."""
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


@main.command()
@click.argument("model", type=_DIRECTORY)
@click.option("--data", type=_DIRECTORY, help="Measure on the files that the model's recipe names.")
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Measure on this file instead.",
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["columns", "upos", "xpos"]),
    default="columns",
    show_default=True,
    help="Of --file: two columns of word and tag, or the tags of that column of CoNLL-U.",
)
@click.option(
    "--raw",
    is_flag=True,
    help="From raw text, which CoNLL-U files have: words, sentences, and what is made of them.",
)
@click.option("--dev-only", is_flag=True, help="Leave the test files alone: for tuning.")
@click.option(
    "--reliability",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw how reliable the probabilities are, as an SVG, in this file.",
)
@_says_what_is_wrong
def evaluate(
    model: Path,
    data: Path | None,
    file: Path | None,
    file_format: str,
    raw: bool,
    dev_only: bool,
    reliability: Path | None,
) -> None:
    """Measure MODEL, a model directory.

    On gold words: accuracy of tags, or strict F1 of entities; as they are, in lower case and in
    upper case. And the expected calibration error of the tags and entities, as they are.
    """
    from service.store.registry import load_model
    from service.training.calibration import Calibration
    from service.training.evaluation import Evaluator
    from service.training.recipe import RECIPE_FILE, Corpus, read_recipe
    from service.training.reliability_diagram import reliability_svg

    if (data is None) == (file is None):
        raise click.UsageError("say what to measure on: either --data or --file")
    if raw and reliability:
        raise click.UsageError("reliability is measured on gold words: leave --raw out")
    settings = load_settings()
    loaded = load_model(model.resolve(), settings.max_unseen_words)
    manifest, most = loaded.manifest, settings.max_sentence_tokens
    evaluator = Evaluator(loaded.tagger, manifest.task, most)
    if file is None:
        corpora, folder = read_recipe(model / RECIPE_FILE).corpora, data or Path()
    else:
        named = {"name": file.name, "licence": "", "url": "", "format": file_format}
        corpora, folder = (Corpus.model_validate({**named, "test": (file.name,)}),), file.parent
    what = (corpora, folder, _splits(dev_only))
    measured = False
    for figure in (evaluator.raw_texts if raw else evaluator.corpora)(*what):
        measured = True
        detail = ""
        if figure.metric != "accuracy":
            detail = f" (precision {_percent(figure.precision)}, recall {_percent(figure.recall)})"
        _show(figure.score, detail)  # each when it is there
    if not measured:
        raise click.UsageError("nothing to measure on: no dev or test file, or no raw text")
    if raw:
        return
    calibration = Calibration(loaded.tagger, manifest.task, most, manifest.temperature)
    found = list(calibration.corpora(*what))
    for one in found:
        _show(one.score)
    if reliability:
        reliability.write_text(reliability_svg(found), encoding="utf-8")
        click.echo(f"wrote {reliability}")


@main.command()
@click.argument("model", type=_DIRECTORY)
@click.option(
    "--data", type=_DIRECTORY, required=True, help="The folder that the recipe's files lie in."
)
@click.option("--dev-only", is_flag=True, help="Leave the test files alone: for tuning.")
@_says_what_is_wrong
def calibrate(model: Path, data: Path, dev_only: bool) -> None:
    """Fit the temperature of MODEL, a model directory, on the dev files of its recipe.

    Writes it, and the calibration errors with it, into manifest and card, as `trellis train` does.
    """
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
        _splits(dev_only),
        settings.max_sentence_tokens,
    )
    manifest = write_model(directory, manifest, parameters, model_card(manifest))
    click.echo(f"temperature {manifest.temperature:g}")
    for score in manifest.scores:
        if score.metric in CALIBRATION_ERRORS:
            _show(score)
    click.echo(f"wrote {directory}")


@main.command()
@click.option("--url", default="http://127.0.0.1:8080", show_default=True, help="The server.")
@click.option("--timeout", "timeout_s", default=5.0, show_default=True, help="Seconds to wait.")
@_says_what_is_wrong
def health(url: str, timeout_s: float) -> None:
    """Ask a running server for its health; exit code 0 where it is ready, else 1."""
    with TrellisClient(url, timeout_s=timeout_s, retries=0) as client:
        answer = client.health()
        click.echo(f"{answer['status']}, version {answer['version']}")
        for model in answer["models"]:
            state = "" if model["loaded"] else " (not loaded)"
            click.echo(f"  {model['name']} {model['version']}{state}")


def _splits(dev_only: bool) -> tuple[Split, ...]:
    return ("dev",) if dev_only else ("dev", "test")


def _show(figure: Score, detail: str = "") -> None:
    click.echo(
        f"{figure.data} {figure.split}: {figure.metric} {_percent(figure.value)}{detail}; "
        f"{figure.scheme}"
    )


def _percent(share: float | None) -> str:
    return "not defined" if share is None else f"{100 * share:.2f}"
