"""Estimating a biLSTM-CRF, with or without characters, in PyTorch; serving does without it."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from service.decoding import Constraints
from service.errors import RecipeError
from service.taggers.base import Parameters
from service.taggers.bilstm_crf import states_of
from service.taggers.elmo import LANGUAGE_MODEL
from service.taggers.language_model import LanguageModel
from service.text.bioes import bioes_of
from service.text.conll import TaggedSentence
from service.text.spelling import CASES
from service.training.batches import Batches, Vocabulary, frequent_characters
from service.training.bilstm_crf_options import BilstmCrfOptions
from service.training.distillation import Teacher, expectations, read_teacher
from service.training.evaluation import Evaluator
from service.training.fitting import Fitting, fit
from service.training.frequent_words import frequent_words
from service.training.kept_vectors import KeptVectors
from service.training.network import BilstmCrf, LayerMix
from service.training.network_parameters import network_of, parameters_of
from service.training.network_tagger import NetworkTagger
from service.training.word_network import WordNetwork, WordWidths
from service.training.word_vectors import choose_words, initial_vectors

_MAX_SENTENCE_TOKENS = 10_000

_UNSEEN_ROWS = 50_000
"""Of words that are read in training in another case, or on dev."""

_KEPT_WORDS = 700_000
"""Words in sentences whose contextual vectors are kept: some 5 kB each."""


def estimate(
    sentences: Sequence[TaggedSentence],
    dev: Sequence[TaggedSentence],
    labels: tuple[str, ...],
    constraints: Constraints,
    options: BilstmCrfOptions,
    pretrained: tuple[Sequence[str], NDArray[np.float32]] | None,
    seed: int,
    checkpoint: Path | None = None,
    language_model: Parameters | None = None,
    teachers: Sequence[Path] = (),
) -> Parameters:
    """Estimate a biLSTM-CRF of K tags, showing progress on standard error.

    Parameters
    ----------
    sentences : training sentences, whose tags are all in `labels`.
    dev : sentences to stop by and to choose the best epoch by; without any the last is taken.
    labels : the K tags.
    constraints : of the K tags; they hold in training too.
    options : widths and schedule.
    pretrained : words, the frequent first, and their vectors (V, D).
    seed : of all that is random.
    checkpoint : a file to keep the state of the training in; an interrupted one goes on from it.
    language_model : parameters of a language model, which stays as it is; with one it is an ELMo.
    teachers : directories of models, of the same tags, that the network learns from too.

    Returns
    -------
    The parameters that `service.taggers.bilstm_crf.BilstmCrfTagger` takes, or with a language
    model those of `service.taggers.elmo.elmo_tagger`.
    """
    bioes = options.scheme == "bioes"
    if bioes:
        sentences = [TaggedSentence(s.words, bioes_of(s.tags)) for s in sentences]
    tags = sorted({tag for sentence in sentences for tag in sentence.tags}) if bioes else labels
    states = {"states": list(tags)} if bioes else {}
    allowed = constraints
    outside, constraints = states_of(Parameters(labels, {}, states), allowed)
    torch.set_num_threads(options.threads)
    torch.manual_seed(seed)
    known, vectors = pretrained or ([], np.empty((0, options.word_width), dtype=np.float32))
    words = choose_words(sentences, known, options.words, options.min_word_count)
    vocabulary = Vocabulary(words, frequent_characters(sentences))
    rng = np.random.default_rng(seed)
    read_words = list(dict.fromkeys(word for sentence in sentences for word in sentence.words))
    source = (
        KeptVectors(LanguageModel(language_model, read_words, _UNSEEN_ROWS), _KEPT_WORDS)
        if language_model
        else None
    )
    network = BilstmCrf(
        WordNetwork(
            torch.from_numpy(initial_vectors(words, known, vectors, vectors.shape[1], rng)),
            len(CASES),
            len(vocabulary.characters),
            WordWidths(options.case_width, options.character_width, options.character_hidden),
        ),
        LayerMix(source.layers, source.width) if source else None,
        options.hidden,
        options.layers,
        options.dropout,
        constraints,
    )
    task = "ner" if (constraints.transitions < 0).any() else "tag"

    def measure(network: BilstmCrf) -> float | None:
        tagger = NetworkTagger(network, vocabulary, outside, constraints, source)
        evaluator = Evaluator(tagger, task, _MAX_SENTENCE_TOKENS)
        return evaluator.gold_words(dev, "dev", "dev").value if dev else None

    read = [read_teacher(directory, tags) for directory in teachers]
    if options.begins_as_teacher:
        _begin_as(read, network, vocabulary, allowed)
    elif options.runs > 1:
        raise RecipeError("runs: more than one needs begins_as_teacher")
    taggers = [teacher.tagger for teacher in read]
    lessons = expectations(sentences, tags, taggers, options.gold_share) if taggers else ()
    batches = Batches(
        sentences,
        vocabulary,
        {tag: i for i, tag in enumerate(tags)},
        options.sentences_at_once,
        source,
        list(lessons),
    )
    begun = partial(Fitting, network, batches, measure, options)
    fit(network, begun, options.runs, seed, checkpoint)
    parameters = parameters_of(network, vocabulary, labels, frequent_words(sentences))
    frozen = language_model.under(LANGUAGE_MODEL) if language_model else Parameters(labels, {}, {})
    return Parameters(
        labels,
        {**parameters.arrays, **frozen.arrays},
        {**parameters.vocabularies, **states, **frozen.vocabularies},
    )


def _begin_as(
    teachers: Sequence[Teacher], network: BilstmCrf, vocabulary: Vocabulary, allowed: Constraints
) -> None:
    """Give a network the weights of the first teacher, which must be like it."""
    if not teachers:
        raise RecipeError("begins_as_teacher: there is no teacher")
    other, known = network_of(teachers[0].parameters, allowed)
    alike = (list(known.words), list(known.characters)) == (vocabulary.words, vocabulary.characters)
    weights, mine = other.state_dict(), network.state_dict()
    if not alike or {n: w.shape for n, w in weights.items()} != {
        n: w.shape for n, w in mine.items()
    }:
        raise RecipeError("begins_as_teacher: the first teacher has other words, widths or layers")
    network.load_state_dict(weights)
