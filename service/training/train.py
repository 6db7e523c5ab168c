"""From a recipe and a data folder to a model directory."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from service.config import Settings
from service.errors import RecipeError, first_fault
from service.store.directory import constraints_of, make_tagger, read_manifest, write_model
from service.store.manifest import Manifest, Source, Split, joined_sources
from service.taggers import ARCHITECTURES, Parameters
from service.text import tokenizer
from service.text.conll import TaggedSentence
from service.training import crf, hmm
from service.training.bilstm_crf_options import BilstmCrfOptions
from service.training.card import model_card
from service.training.clusters import read_vectors
from service.training.evaluation import Evaluator, strict_bio
from service.training.language_model_directory import read_language_model, with_language_model
from service.training.lexicon import compile_lexicon
from service.training.recipe import Recipe
from service.training.tables import tabulate
from service.training.tagged_texts import tag_texts
from service.training.temperature import calibrated


@dataclass(frozen=True, slots=True)
class Assignment:
    """What parameters are estimated from.

    Attributes
    ----------
    recipe, data : what to make, and the folder that the recipe's files lie in.
    sentences, dev : training and dev sentences.
    labels : the K tags of the training sentences.
    checkpoint : a file for the state of a long training.
    """

    recipe: Recipe
    data: Path
    sentences: Sequence[TaggedSentence]
    dev: Sequence[TaggedSentence]
    labels: tuple[str, ...]
    checkpoint: Path | None


@dataclass(frozen=True, slots=True)
class Estimator:
    """How the parameters of an architecture are estimated.

    Attributes
    ----------
    options : the class of the recipe's options.
    estimate : from an assignment and such options to the parameters.
    uses : the parts of a recipe, beside corpora and options, that it has a use for.
    """

    options: type[BaseModel]
    estimate: Callable[[Assignment, Any], Parameters]
    uses: frozenset[str]


def _estimate_hmm(assignment: Assignment, options: hmm.HmmOptions) -> Parameters:
    return hmm.estimate(assignment.sentences, assignment.labels, options)


def _estimate_crf(assignment: Assignment, options: crf.CrfOptions) -> Parameters:
    recipe, sentences = assignment.recipe, assignment.sentences
    if recipe.vectors is not None and not recipe.vectors.grains:
        raise RecipeError("vectors: a CRF needs grains")
    held_out = _held_out(recipe, assignment.data)
    tagged = tag_texts(recipe, assignment.data, assignment.labels, held_out)
    lexicon = compile_lexicon(recipe, assignment.data, sentences, tagged.counts)
    sentences = [*sentences, *tagged.sentences]
    return crf.estimate(sentences, assignment.labels, options, lexicon, recipe.seed)


def _estimate_elmo(assignment: Assignment, options: BilstmCrfOptions) -> Parameters:
    given = assignment.recipe.language_model
    if given is None:
        raise RecipeError("an elmo needs a language_model")
    _, language_model = read_language_model(assignment.data / given.directory)
    return _estimate_bilstm_crf(assignment, options, language_model)


def _estimate_bilstm_crf(
    assignment: Assignment, options: BilstmCrfOptions, language_model: Parameters | None = None
) -> Parameters:
    from service.training import bilstm_crf  # needs PyTorch, which the others do without

    recipe, vectors = assignment.recipe, assignment.recipe.vectors
    return bilstm_crf.estimate(
        assignment.sentences,
        assignment.dev,
        assignment.labels,
        constraints_of(recipe.task, assignment.labels),
        options,
        read_vectors(assignment.data / vectors.file, vectors.most) if vectors else None,
        recipe.seed,
        assignment.checkpoint,
        language_model,
        [assignment.data / directory for directory in recipe.teachers],
    )


ESTIMATORS: Mapping[str, Estimator] = {
    "hmm": Estimator(hmm.HmmOptions, _estimate_hmm, frozenset()),
    "crf": Estimator(
        crf.CrfOptions, _estimate_crf, frozenset({"vectors", "gazetteers", "teachers", "texts"})
    ),
    "bilstm-crf": Estimator(
        BilstmCrfOptions, _estimate_bilstm_crf, frozenset({"vectors", "teachers"})
    ),
    "elmo": Estimator(
        BilstmCrfOptions, _estimate_elmo, frozenset({"vectors", "language_model", "teachers"})
    ),
}


def train(
    recipe: Recipe,
    data: Path,
    out: Path,
    splits: Sequence[Split],
    settings: Settings,
    checkpoint: Path | None = None,
) -> Manifest:
    """Estimate a model, calibrate and measure it, and write its directory.

    Sentences that stand in a dev or test file of the recipe are left out of the training. The
    same recipe and data give the same bytes.

    Parameters
    ----------
    recipe : what to make.
    data : the folder that the recipe's files lie in.
    out : the model directory to write.
    splits : what to measure: ("dev",) while tuning, ("dev", "test") to report.
    settings : the bounds that the model is served with.
    checkpoint : a file to keep the state of a long training in; an interrupted one goes on from it.

    Raises
    ------
    RecipeError, CorpusError
        Where the recipe or the data cannot be used; nothing is written then.
    """
    if recipe.architecture not in ARCHITECTURES:
        raise RecipeError(
            f"unknown architecture {recipe.architecture}; known: {', '.join(ARCHITECTURES)}"
        )
    parameters = (
        tabulate(recipe.tables)
        if recipe.tables is not None
        else _estimate(recipe, data, checkpoint)
    )
    manifest = _describe(recipe, parameters.labels)
    if recipe.language_model is not None:
        pretrained, _ = read_language_model(data / recipe.language_model.directory)
        manifest = with_language_model(manifest, pretrained, parameters)
    teachers = [read_manifest(data / directory) for directory in recipe.teachers]
    sources = joined_sources([*manifest.sources, *(s for t in teachers for s in t.sources)])
    manifest = manifest.model_copy(update={"sources": sources})
    tagger = make_tagger(out, manifest, parameters, settings.max_unseen_words)
    evaluator = Evaluator(tagger, recipe.task, settings.max_sentence_tokens)
    found = [
        *evaluator.corpora(recipe.corpora, data, splits),
        *evaluator.raw_texts(recipe.corpora, data, splits),
    ]
    manifest = manifest.model_copy(update={"scores": tuple(figure.score for figure in found)})
    manifest = calibrated(
        manifest, tagger, recipe.corpora, data, splits, settings.max_sentence_tokens
    )
    return write_model(out, manifest, parameters, model_card(manifest))


def _estimate(recipe: Recipe, data: Path, checkpoint: Path | None) -> Parameters:
    estimator = ESTIMATORS[recipe.architecture]
    try:
        options = estimator.options.model_validate(recipe.options)
    except ValidationError as error:
        raise RecipeError(f"options: {first_fault(error)}") from error
    for part in ("vectors", "gazetteers", "language_model", "teachers", "texts"):
        if getattr(recipe, part) and part not in estimator.uses:
            raise RecipeError(f"the architecture {recipe.architecture} uses no {part}")
    sentences = training_sentences(recipe, data)
    labels = tuple(sorted({tag for sentence in sentences for tag in sentence.tags}))
    dev = _read(recipe, data, "dev")
    assignment = Assignment(recipe, data, sentences, dev, labels, checkpoint)
    return estimator.estimate(assignment, options)


def training_sentences(recipe: Recipe, data: Path) -> list[TaggedSentence]:
    """The training sentences of all corpora, without those that dev and test files hold.

    BIO tags are repaired to strict IOB2.
    """
    found = _read(recipe, data, "train")
    held_out = _held_out(recipe, data)
    kept = [sentence for sentence in found if sentence.words not in held_out]
    print(
        f"{recipe.name}: {len(kept)} training sentences; {len(found) - len(kept)} left out, "
        "since a dev or test file holds them",
        file=sys.stderr,
    )
    if not kept:
        raise RecipeError("no training sentence is left")
    return kept


def _held_out(recipe: Recipe, data: Path) -> frozenset[tuple[str, ...]]:
    """The sentences of dev and test files."""
    return frozenset(s.words for split in ("dev", "test") for s in _read(recipe, data, split))


def _read(
    recipe: Recipe, data: Path, split: Literal["train", "dev", "test"]
) -> list[TaggedSentence]:
    """The sentences of a split of all corpora."""
    sentences = [s for corpus in recipe.corpora for s in corpus.read(data, split)]
    return strict_bio(sentences, f"{recipe.name}, {split}") if recipe.task == "ner" else sentences


def _describe(recipe: Recipe, labels: tuple[str, ...]) -> Manifest:
    return Manifest(
        format=1,
        name=recipe.name,
        version=recipe.version,
        description=recipe.description,
        language=recipe.language,
        task=recipe.task,
        tagset=recipe.tagset,
        architecture=recipe.architecture,
        labels=labels,
        tokenizer=tokenizer.VERSION,
        default=recipe.default,
        licence=recipe.licence,
        sources=tuple(
            Source(name=c.name, licence=c.licence, url=c.url, files=c.train)
            for c in recipe.corpora
            if c.train
        )
        + tuple(
            Source(name=known.name, licence=known.licence, url=known.url, files=(known.file,))
            for known in recipe.lexicon_files
        )
        + tuple(text.source for text in recipe.texts),
        scores=(),
        files={},
    )
