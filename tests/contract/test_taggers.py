"""What every tagger keeps, whatever it is made of. A new architecture is one entry in `MADE`."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.decoding import Inference, best_paths
from service.pipeline import annotate
from service.store.directory import constraints_of
from service.taggers import ARCHITECTURES
from service.text.tokens import Tokens
from service.training import crf, hmm
from service.training.lexicon import Lexicon
from tests.made_corpora import ner_sentences, tag_sentences
from tests.made_networks import read_network

CRF = crf.CrfOptions(l1=0.1, l2=0.1, max_iterations=20, recased_share=0.1)
LEXICON = Lexicon(
    {
        "clusters": np.array([[0, 1], [1, 0]]),
        "ambiguities": np.array([0, 1, 1]),
        "gazetteer_members": np.array([1, 2, 3]),
    },
    {
        "cluster_words": ["the", "corp"],
        "ambiguity_words": ["the", "mr", "bade"],
        "ambiguity_classes": ["DT!", "O|B-PER"],
        "gazetteer_classes": ["first", "second"],
        "gazetteer_phrases": ["Bade Corp", "bade", "the"],
    },
)


def estimate_hmm(sentences, labels):
    return hmm.estimate(sentences, labels, hmm.HmmOptions())


def estimate_crf(sentences, labels):
    return crf.estimate(sentences, labels, CRF, LEXICON, seed=0)


def stored(name):
    """Estimated beforehand, since only training needs PyTorch: see tests/train/store.py."""
    return lambda sentences, labels: read_network(name)


MADE = {
    ("hmm", "tag"): estimate_hmm,
    ("hmm", "ner"): estimate_hmm,
    ("crf", "tag"): estimate_crf,
    ("crf", "ner"): estimate_crf,
    ("bilstm-crf", "tag", "characters"): stored("tag-characters"),
    ("bilstm-crf", "tag", "layers"): stored("tag-layers"),
    ("bilstm-crf", "ner", "characters"): stored("ner-characters"),
    ("bilstm-crf", "ner", "words"): stored("ner-words"),
    ("bilstm-crf", "ner", "bioes"): stored("ner-bioes"),
    ("elmo", "ner"): stored("ner-elmo"),
}
MAKE_SENTENCES = {"tag": tag_sentences, "ner": ner_sentences}
HOSTILE = [
    "\u200b",
    "e\u0301",
    "\u00e9",
    "İ",
    "👩\u200d👩\u200d👧",
    "क्या",
    "\x00",
    "\udddd",
    "-",
    "a-b",
    "x" * 100_000,
    "B-PER",
    "\x85x",
    "US-",
]
words_seen_and_unseen = st.lists(
    st.one_of(
        st.sampled_from(["the", "a", ".", "mr", "Corp", "Bade", "bade", "badetion", *HOSTILE]),
        st.text(min_size=1, max_size=6).filter(lambda word: not word.isspace()),
    ),
    max_size=6,
)


def test_every_architecture_is_held_to_this_contract():
    assert {architecture for architecture, *_ in MADE} == set(ARCHITECTURES)


@pytest.fixture(scope="module", params=MADE, ids=" ".join)
def kind(request):
    architecture, task, *_ = request.param
    sentences = MAKE_SENTENCES[task](200)
    labels = tuple(sorted({tag for sentence in sentences for tag in sentence.tags}))
    return architecture, task, MADE[request.param](sentences, labels)


@pytest.fixture(scope="module")
def make(kind):
    """From a cache bound to a fresh tagger."""
    architecture, task, parameters = kind
    constraints = constraints_of(task, parameters.labels)
    return lambda max_unseen: ARCHITECTURES[architecture](parameters, constraints, max_unseen)


@pytest.fixture(scope="module")
def tagger(make):
    return make(1000)


def score(tagger, sentences):
    tokens = Tokens.from_sentences(sentences)
    return tagger.score(tokens.words, tokens.sentence_offsets)


def same(kind, scores, others):
    """Whether emissions are equal. A product of matrices sums in an order that the size of the
    batch decides, so those of a network are equal but for their last bits."""
    tolerance = 1e-5 if kind[0] in ("bilstm-crf", "elmo") else 0
    return np.allclose(scores, others, rtol=0, atol=tolerance)


def tags(tagger, sentences):
    return [tagger.labels[i] for i in best_paths(score(tagger, sentences))]


def test_scores_have_a_row_a_token_and_a_column_a_label(tagger):
    scores = score(tagger, [["the", "badetion"], [], ["."]])
    assert scores.emissions.shape == (3, len(tagger.labels))
    assert scores.offsets.tolist() == [0, 2, 2, 3]
    assert len(set(tagger.labels)) == len(tagger.labels)


def test_it_has_learned_what_there_was_to_learn(tagger, kind):
    sentences = MAKE_SENTENCES[kind[1]](100, seed=1)
    found = tags(tagger, [s.words for s in sentences])
    gold = [tag for s in sentences for tag in s.tags]
    assert np.mean([f == g for f, g in zip(found, gold, strict=True)]) > 0.95


@pytest.mark.parametrize("sentences", [[], [[]], [[], []]])
def test_no_words_have_no_tags(tagger, sentences):
    assert tags(tagger, sentences) == []


@given(st.lists(words_seen_and_unseen, max_size=4))
def test_a_sentence_scores_the_same_alone_and_in_any_batch(tagger, kind, sentences):
    together = score(tagger, sentences)
    alone = [score(tagger, [words]).emissions for words in sentences]
    assert same(kind, together.emissions, np.concatenate([together.emissions[:0], *alone]))


@given(words_seen_and_unseen)
def test_scoring_twice_gives_the_same(tagger, kind, words):
    assert same(kind, score(tagger, [words]).emissions, score(tagger, [words]).emissions)


@given(words_seen_and_unseen)
def test_any_words_can_be_decoded(tagger, words):
    assert len(tags(tagger, [words])) == len(words)


@given(st.lists(words_seen_and_unseen, max_size=4))
def test_entities_are_strict_iob2(tagger, kind, sentences):
    if kind[1] == "ner":
        for words in sentences:
            pairs = itertools.pairwise(["O", *tags(tagger, [words])])
            assert all(tag[0] != "I" or before[2:] == tag[2:] for before, tag in pairs)


def test_eight_threads_with_a_tiny_cache_answer_as_no_cache_does(make, kind):
    rng = np.random.default_rng(0)
    unseen = [f"Zq{i}tion" for i in range(40)]
    batches = [[list(rng.choice(unseen, 5)), ["the"]] for _ in range(400)]
    without, tiny = make(0), make(3)
    expected = [score(without, batch).emissions for batch in batches]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda batch: score(tiny, batch).emissions, batches))
    assert all(same(kind, *pair) for pair in zip(found, expected, strict=True))


def test_a_long_sentence_is_split_at_token_boundaries_and_marked(tagger, kind):
    words = ["the", "badetion"] * 6
    [annotation] = annotate(
        tagger,
        [Tokens.from_sentences([["."], words, [], ["."]])],
        spans=kind[1] == "ner",
        max_sentence_tokens=5,
    )
    assert annotation.tokens.words == [".", *words, "."]
    assert np.diff(annotation.tokens.sentence_offsets).tolist() == [1, 5, 5, 2, 0, 1]
    assert annotation.pieces == [1, 2, 3]
    assert len(annotation.tag_ids) == 14


EVERYTHING = Inference(confidences=True, marginals=True, n_best=4)


def inferred(tagger, kind, sentences):
    [annotation] = annotate(
        tagger,
        [Tokens.from_sentences(sentences)],
        spans=kind[1] == "ner",
        max_sentence_tokens=10_000,
        inference=EVERYTHING,
    )
    return annotation


@given(st.lists(words_seen_and_unseen, max_size=4))
def test_probabilities_are_probabilities_and_those_of_a_token_sum_to_one(tagger, kind, sentences):
    found = inferred(tagger, kind, sentences).inferred
    assert tagger.probabilistic
    assert found.marginals.shape[1] == len(set(tagger.labels))
    assert found.marginals.sum(axis=1) == pytest.approx(1, abs=1e-9)
    for probabilities in (found.marginals, found.confidences, found.span_confidences):
        if probabilities is not None:
            assert ((probabilities >= 0) & (probabilities <= 1)).all()
    for sequences in found.n_best:
        log_probs = [sequence.log_prob for sequence in sequences]
        assert np.logaddexp.reduce(log_probs) <= 1e-9


@given(st.lists(words_seen_and_unseen, max_size=4))
def test_a_sentence_has_the_same_probabilities_alone_and_in_any_batch(tagger, kind, sentences):
    together = inferred(tagger, kind, sentences)
    alone = [inferred(tagger, kind, [words]) for words in sentences]
    for name in ("confidences", "marginals", "span_confidences"):
        found = getattr(together.inferred, name)
        parts = [getattr(one.inferred, name) for one in alone]
        if found is not None:
            assert np.allclose(found, np.concatenate([found[:0], *parts]), rtol=0, atol=1e-5)


@given(st.lists(words_seen_and_unseen, max_size=4))
def test_the_first_of_the_n_best_is_the_answer_and_all_differ(tagger, kind, sentences):
    found = inferred(tagger, kind, sentences)
    first = [sequences[0].tag_ids for sequences in found.inferred.n_best]
    assert np.concatenate([found.tag_ids[:0], *first]).tolist() == found.tag_ids.tolist()
    assert found.tag_ids.tolist() == best_paths(score(tagger, sentences)).tolist()
    for sequences in found.inferred.n_best:
        tag_sequences = {tuple(tagger.labels[i] for i in each.tag_ids) for each in sequences}
        assert len(tag_sequences) == len(sequences)
