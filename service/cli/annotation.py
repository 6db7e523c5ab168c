"""`trellis tag` and `trellis ner`: files, or standard input, with a model in this process."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import click
from click.shell_completion import CompletionItem

from service.cli.options import models_option, settings_with

if TYPE_CHECKING:
    from service.annotation import Annotation
    from service.config import Settings
    from service.store.registry import LoadedModel

Task = Literal["tag", "ner"]
_Command = TypeVar("_Command", bound=Callable[..., None])
_DEFAULT_TAGSET = "ptb"


def _model_names(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of models that the command can take, for a shell that completes them."""
    from service.errors import TrellisError
    from service.store.registry import read_manifests

    try:
        manifests = read_manifests(settings_with(context.params.get("models_dir")).models_path)
    except (TrellisError, click.ClickException):
        return []
    task = context.info_name
    return [
        CompletionItem(name, help=manifest.description)
        for name, manifest in manifests.items()
        if manifest.task == task and name.startswith(incomplete)
    ]


def _annotating(command: _Command) -> _Command:
    """What both commands take."""
    for add in (
        click.option(
            "--tokens",
            "split",
            is_flag=True,
            help="The text is split already: a sentence a line, blanks between its words.",
        ),
        click.option(
            "--format",
            "form",
            type=click.Choice(["text", "json", "conll"]),
            default="text",
            show_default=True,
            help="For reading; or as JSON, a line a document; or in two columns, word and tag.",
        ),
        models_option,
        click.option(
            "--model",
            "name",
            metavar="NAME",
            shell_complete=_model_names,
            help="The model; else the default. `trellis models` lists them.",
        ),
        click.argument(
            "files",
            nargs=-1,
            metavar="[FILE]...",
            type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
        ),
    ):
        command = add(command)
    return command


@click.command(
    epilog="""\b
Examples:
  trellis tag letter.txt
  echo "Janet will back the bill" | trellis tag
  trellis tag --tagset ud --format conll letter.txt > letter.conll
  trellis tag --model en-pos-hmm --tokens sentences.txt"""
)
@_annotating
@click.option(
    "--tagset",
    type=click.Choice(["ptb", "ud"]),
    help="Penn Treebank or Universal tags; else ptb, or that of --model.",
)
def tag(
    files: tuple[Path, ...],
    name: str | None,
    models_dir: Path | None,
    form: str,
    split: bool,
    tagset: str | None,
) -> None:
    """Tag words with their parts of speech.

    Each FILE is a document in UTF-8; without one, or for -, standard input is. As text, each
    sentence is a line of word/TAG. JSON is that of the server's /tag, with the name of the file;
    its offsets count characters of the file. `trellis train` reads the columns.
    """
    settings = settings_with(models_dir)
    model = _load(settings, "tag", name, tagset)
    _annotate_files(files, model, settings, form, split)


@click.command(
    epilog="""\b
Examples:
  trellis ner letter.txt
  echo "Jane Villanueva of United Airlines" | trellis ner
  trellis ner --format json letter.txt notes.txt > entities.jsonl
  trellis ner --model en-ner-crf --format conll letter.txt"""
)
@_annotating
def ner(
    files: tuple[Path, ...],
    name: str | None,
    models_dir: Path | None,
    form: str,
    split: bool,
) -> None:
    """Find the named entities of texts.

    Persons, locations and organisations, with the models that ship. Each FILE is a document in
    UTF-8; without one, or for -, standard input is. As text, entities stand in brackets behind
    their label, [PER Jane Villanueva], and a terminal shows them in colour. JSON is that of the
    server's /ner, with the name of the file; its offsets count characters of the file. The columns
    hold BIO tags, and `trellis train` reads them.
    """
    settings = settings_with(models_dir)
    model = _load(settings, "ner", name, None)
    _annotate_files(files, model, settings, form, split)


def _load(settings: "Settings", task: Task, name: str | None, tagset: str | None) -> "LoadedModel":
    """Load the model that is named, else the one that a server takes by default."""
    from service.errors import ModelNotFound, NoDefaultModel
    from service.store.registry import load_model, read_manifests, served_defaults

    manifests = read_manifests(settings.models_path)
    known = [each for each, manifest in manifests.items() if manifest.task == task]
    if name is None:
        wanted = None if task == "ner" else tagset or _DEFAULT_TAGSET
        name = served_defaults(settings, manifests).get((task, wanted))
        if name is None:
            raise NoDefaultModel(task, wanted, known)
    if name not in manifests:
        raise ModelNotFound(known, f"there is no model {name!r} in {settings.models_path}")
    manifest = manifests[name]
    if manifest.task != task:
        raise click.UsageError(f"{name} is a model for `trellis {manifest.task}`")
    if tagset not in (None, manifest.tagset):
        raise click.UsageError(f"the model {name} has the tagset {manifest.tagset}")
    return load_model(settings.models_path / name, settings.max_unseen_words)


def _annotate_files(
    files: tuple[Path, ...], model: "LoadedModel", settings: "Settings", form: str, split: bool
) -> None:
    """Tag document after document, and write each as soon as it is tagged."""
    from service.cli.documents import STDIN, read_document, split_lines
    from service.pipeline import annotate
    from service.text.tokenizer import Tokenizer

    tokenize = split_lines if split else Tokenizer().tokenize
    for path in files or (STDIN,):
        text = read_document(path, settings.max_text_chars)
        [annotation] = annotate(
            model.tagger,
            [tokenize(text)],
            spans=model.manifest.task == "ner",
            max_sentence_tokens=settings.max_sentence_tokens,
            temperature=model.manifest.temperature,
        )
        click.echo(_shown(annotation, text, path, model, form).encode(), nl=False)


def _shown(annotation: "Annotation", text: str, path: Path, model: "LoadedModel", form: str) -> str:
    """A tagged document in the form that is wanted."""
    from service.cli.reading import visible, with_entities, with_tags
    from service.text.columns import tab_separated

    terminal = sys.stdout is not None and sys.stdout.isatty()
    if form == "json":
        line = _json(annotation, text, path, model)
        return visible(line) if terminal else line
    if form == "conll":
        columns = tab_separated(annotation.tokens, annotation.tags)
        return visible(columns) if terminal else columns
    show = with_entities if model.manifest.task == "ner" else with_tags
    wanted = click.get_current_context().color
    colour = terminal if wanted is None else wanted
    return show(visible(text) if terminal else text, annotation, colour=colour)


def _json(annotation: "Annotation", text: str, path: Path, model: "LoadedModel") -> str:
    """A line of JSON: the answer of the server, and the name of the file."""
    import orjson

    from service.api.answers import document_answer
    from service.api.selection import DEFAULT_UNIT, Selection
    from service.decoding import PATH_ALONE

    manifest = model.manifest
    spans = manifest.task == "ner"
    selection = Selection(model, spans, DEFAULT_UNIT, PATH_ALONE, confidence=False)
    answer = {
        "file": click.format_filename(path),  # a name may be no UTF-8
        "model": {"name": manifest.name, "version": manifest.version},
        "offset_unit": selection.unit,
        **document_answer(annotation, text, selection),
    }
    return orjson.dumps(answer).decode() + "\n"
