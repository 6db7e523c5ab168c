"""`trellis evaluate`: how good a model is."""

from pathlib import Path

import click

from service.cli.figures import percent, show
from service.cli.options import DIRECTORY, OUTPUT_FILE, dev_only_option, splits


@click.command(
    epilog="""\b
Examples:
  trellis evaluate models/en-ner-crf --data DATA
  trellis evaluate models/en-ner-crf --file mine.tsv
  trellis evaluate models/en-pos-crf --file mine.conllu --format xpos --raw
  trellis evaluate models/en-ner-crf --data DATA --dev-only --reliability drawing.svg"""
)
@click.argument("model", type=DIRECTORY)
@click.option("--data", type=DIRECTORY, help="Measure on the files that the model's recipe names.")
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Measure on this file instead.",
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["columns", "upos", "xpos"]),
    help="Of --file: two columns of word and tag, or the tags of that column of CoNLL-U.  "
    "[default: columns]",
)
@click.option(
    "--raw",
    is_flag=True,
    help="From raw text, which CoNLL-U files have: words, sentences, and what is made of them.",
)
@dev_only_option
@click.option(
    "--reliability",
    type=OUTPUT_FILE,
    help="Draw how reliable the probabilities are, as an SVG, in this file.",
)
def evaluate(
    model: Path,
    data: Path | None,
    file: Path | None,
    file_format: str | None,
    raw: bool,
    dev_only: bool,
    reliability: Path | None,
) -> None:
    """Measure how good a model is.

    MODEL is a model directory. On gold words: accuracy of tags, or strict F1 of entities; as they
    are, in lower case and in upper case. And the expected calibration error of the tags and
    entities, as they are.
    """
    from service.config import load_settings
    from service.store.registry import load_model
    from service.training.calibration import Calibration
    from service.training.evaluation import Evaluator
    from service.training.recipe import RECIPE_FILE, Corpus, read_recipe
    from service.training.reliability_diagram import reliability_svg

    if (data is None) == (file is None):
        raise click.UsageError("say what to measure on: either --data or --file")
    if data and file_format:
        raise click.UsageError("--format is of --file: the recipe says it of its own files")
    if file and dev_only:
        raise click.UsageError("--file is measured on whole: leave --dev-only out")
    file_format = file_format or "columns"
    if file and raw and file_format == "columns":
        raise click.UsageError("columns have no raw text: with --raw, --format is upos or xpos")
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
    what = (corpora, folder, splits(dev_only))
    measured = False
    for figure in (evaluator.raw_texts if raw else evaluator.corpora)(*what):
        measured = True
        detail = ""
        if figure.metric != "accuracy":
            detail = f" (precision {percent(figure.precision)}, recall {percent(figure.recall)})"
        show(figure.score, detail)  # each when it is there
    if not measured:
        place = click.format_filename(file or model / RECIPE_FILE)
        what_lacks = "a file with raw text" if raw else "a sentence"
        raise click.ClickException(f"{place}: nothing to measure on, it lacks {what_lacks}")
    if raw:
        return
    calibration = Calibration(loaded.tagger, manifest.task, most, manifest.temperature)
    found = list(calibration.corpora(*what))
    for one in found:
        show(one.score)
    if reliability:
        reliability.write_text(reliability_svg(found), encoding="utf-8")
        click.echo(f"wrote {reliability}")
