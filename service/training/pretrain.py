"""From a recipe and a data folder to a language model."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from service.store.manifest import Perplexity, Source
from service.text import tokenizer
from service.text.spelling import BOUNDARY, CASES, characters_of, vector_keys
from service.training.batches import Vocabulary
from service.training.clusters import read_vectors
from service.training.language_model import LanguageModel
from service.training.language_model_directory import (
    LanguageModelManifest,
    write_language_model,
)
from service.training.language_model_parameters import language_model_parameters_of
from service.training.pretraining import Curve, Pretraining, perplexities
from service.training.pretraining_recipe import LanguageModelOptions, LanguageModelRecipe
from service.training.text_corpus import TextCorpus, read_corpus
from service.training.text_stream import Reading, TextStreams, TypeTable, drawn, target_classes
from service.training.word_network import WordNetwork, WordWidths
from service.training.word_vectors import initial_vectors

_MIN_CHARACTER_COUNT = 100
_SENTENCES_AT_ONCE = 32
_HELD_OUT_STREAM = 1_000_000_007  # apart from the numbers of passes


def pretrain(
    recipe: LanguageModelRecipe, data: Path, out: Path, state: Path | None = None
) -> LanguageModelManifest:
    """Pretrain a language model, showing progress on standard error, and write its directory.

    Parameters
    ----------
    recipe : what to make.
    data : the folder that the recipe's files lie in.
    out : the directory to write.
    state : a folder for the text as numbers and the state of the pretraining; an interrupted one
        goes on from it, to the same bytes.

    Returns
    -------
    The manifest as written.

    Raises
    ------
    RecipeError, CorpusError
        Where the recipe or the data cannot be used.
    """
    options = recipe.options
    torch.set_num_threads(options.threads)
    torch.manual_seed(recipe.seed)
    if state is not None:
        state.mkdir(parents=True, exist_ok=True)
    texts = [(text.format, [data / file for file in text.files]) for text in recipe.texts]
    corpus = read_corpus(texts, state)
    shares = [text.share for text in recipe.texts]
    lengths = np.diff(corpus.offsets)
    weights = np.repeat(np.array(shares)[corpus.sources], lengths)
    counts = np.bincount(corpus.ids, weights, len(corpus.types)).astype(np.float64)  # (T,)

    vectors = recipe.vectors
    known, table = (
        read_vectors(data / vectors.file, vectors.most)
        if vectors
        else ([], np.empty((0, options.word_width), dtype=np.float32))
    )
    vocabulary = _vocabulary(corpus, counts, known, options)
    rng = np.random.default_rng(recipe.seed)
    words = WordNetwork(
        torch.from_numpy(initial_vectors(vocabulary.words, known, table, table.shape[1], rng)),
        len(CASES),
        len(vocabulary.characters),
        WordWidths(options.case_width, options.character_width, options.character_hidden),
    )
    classes, number = target_classes(corpus.types, counts, options.targets)
    model = LanguageModel(words, options.hidden, options.layers, number, options.cutoffs)
    reading = Reading(shares, options.recased_share, options.streams, options.steps, recipe.seed)
    held_out = _held_out(corpus, shares, options.held_out, recipe.seed)
    streams = TextStreams(corpus, TypeTable(corpus.types, vocabulary), classes, reading, held_out)
    pretraining = Pretraining(
        model,
        streams.segments,
        lambda: perplexities(model, streams.sentences(held_out, _SENTENCES_AT_ONCE)),
        options,
        state / "state.pt" if state else None,
    )
    pretraining.run()
    parameters = language_model_parameters_of(model, vocabulary)
    return write_language_model(out, _describe(recipe, pretraining.curve), parameters)


def _describe(recipe: LanguageModelRecipe, curve: Curve) -> LanguageModelManifest:
    vectors = () if recipe.vectors is None else (recipe.vectors,)
    return LanguageModelManifest(
        format=1,
        kind="language-model",
        version=recipe.version,
        description=recipe.description,
        language=recipe.language,
        tokenizer=tokenizer.VERSION,
        licence=recipe.licence,
        sources=(
            *(text.source for text in recipe.texts),
            *(Source(name=v.name, licence=v.licence, url=v.url, files=(v.file,)) for v in vectors),
        ),
        perplexities=tuple(
            Perplexity(words=words, forward=forward, backward=backward)
            for words, forward, backward in curve
        ),
        files={},
    )


def _vocabulary(
    corpus: TextCorpus,
    counts: NDArray[np.float64],
    known: Sequence[str],
    options: LanguageModelOptions,
) -> Vocabulary:
    """Frequent words of the texts, then frequent pretrained ones; and frequent characters."""
    words: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    for word, count in zip(corpus.types[1:], counts[1:].tolist(), strict=True):
        words[vector_keys(word)[-1]] += count
        for character in characters_of(word):
            characters[character] += count
    chosen = dict.fromkeys([BOUNDARY, *(w for w, _ in words.most_common(options.text_words))])
    chosen.update(dict.fromkeys(known))
    return Vocabulary(
        list(chosen)[: options.words],
        sorted(c for c, count in characters.items() if count >= _MIN_CHARACTER_COUNT),
    )


def _held_out(
    corpus: TextCorpus, shares: Sequence[float], most: int, seed: int
) -> NDArray[np.int64]:
    """The sentences that are kept to measure on, drawn as a pass draws its own."""
    rng = np.random.default_rng((seed, _HELD_OUT_STREAM))
    sentences = np.unique(drawn(np.array(shares)[corpus.sources], rng))
    return rng.permutation(sentences)[:most]
