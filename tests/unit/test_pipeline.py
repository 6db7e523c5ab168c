import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service import pipeline
from service.decoding import ChainScores, Transitions, bio_constraints
from service.pipeline import annotate
from service.text.spans import Span
from service.text.tokens import Tokens

LABELS = ("O", "B-A", "I-A", "B-B", "I-B")
CONSTRAINTS = bio_constraints(LABELS)
TRANSITIONS = Transitions(CONSTRAINTS.transitions, CONSTRAINTS.start, CONSTRAINTS.end)


class WordIsTag:
    """Tags every word with the label that the word is, where BIO allows it."""

    labels = LABELS
    probabilistic = True

    def __init__(self):
        self.batches = []

    def score(self, words, sentence_offsets):
        self.batches.append(len(words))
        emissions = np.array([[word == label for label in LABELS] for word in words], dtype=float)
        return ChainScores(emissions.reshape(-1, len(LABELS)), TRANSITIONS, sentence_offsets)


def run(documents, limit=100, spans=True):
    tokens = [Tokens.from_sentences(sentences) for sentences in documents]
    return annotate(WordIsTag(), tokens, spans=spans, max_sentence_tokens=limit)


documents = st.lists(
    st.lists(st.lists(st.sampled_from(LABELS), max_size=6), max_size=4), max_size=4
)


@given(documents, st.integers(1, 8))
def test_a_document_is_annotated_alike_alone_and_among_others(docs, limit):
    together = run(docs, limit)
    alone = [run([doc], limit)[0] for doc in docs]
    assert [a.tag_ids.tolist() for a in together] == [a.tag_ids.tolist() for a in alone]
    assert [a.spans for a in together] == [a.spans for a in alone]
    assert [a.pieces for a in together] == [a.pieces for a in alone]


@given(documents, st.integers(1, 8), st.integers(1, 8))
def test_the_size_of_the_batches_changes_nothing(docs, limit, batch_tokens):
    expected = run(docs, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "BATCH_TOKENS", batch_tokens)
        found = run(docs, limit)
    assert [a.tag_ids.tolist() for a in found] == [a.tag_ids.tolist() for a in expected]
    assert [a.spans for a in found] == [a.spans for a in expected]


@given(documents, st.integers(1, 8))
def test_no_token_is_lost_and_no_sentence_is_longer_than_the_limit(docs, limit):
    for doc, annotation in zip(docs, run(docs, limit), strict=True):
        offsets = annotation.tokens.sentence_offsets
        assert annotation.tokens.words == [word for sentence in doc for word in sentence]
        assert len(annotation.tag_ids) == len(annotation.tokens.words) == offsets[-1]
        assert (np.diff(offsets) <= limit).all()
        assert bool(annotation.pieces) == any(len(sentence) > limit for sentence in doc)
        assert len(offsets) - 1 - len(annotation.pieces) == sum(len(s) <= limit for s in doc)
        assert {0, *np.cumsum([len(s) for s in doc])} <= set(offsets.tolist())


def test_spans_count_from_the_first_token_of_their_document():
    first, second = run([[["O", "B-A", "I-A"]], [["B-B"], ["O", "B-A"]]])
    assert first.spans == [Span("A", 1, 3)]
    assert second.spans == [Span("B", 0, 1), Span("A", 2, 3)]


def test_a_span_never_crosses_the_border_of_a_sentence_or_of_a_piece():
    [annotation] = run([[["B-A"], ["I-A", "O"]]])
    assert annotation.spans[0] == Span("A", 0, 1)
    [annotation] = run([[["B-A", "I-A", "I-A"]]], limit=2)
    assert annotation.spans[0] == Span("A", 0, 2)
    assert annotation.pieces == [0, 1]


def test_without_spans_none_are_read():
    assert run([[["B-A"]]], spans=False)[0].spans == []


def test_memory_is_bounded_by_batches_of_whole_sentences():
    tagger = WordIsTag()
    tokens = Tokens.from_sentences([["O"] * 1000] * 10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "BATCH_TOKENS", 4100)
        annotate(tagger, [tokens], spans=True, max_sentence_tokens=10_000)
    assert tagger.batches == [4000, 4000, 2000]


def test_empty_sentences_fill_a_batch_too():
    tagger = WordIsTag()
    annotate(tagger, [Tokens.from_sentences([[]] * 100_000)], spans=True, max_sentence_tokens=9)
    assert len(tagger.batches) > 4


def test_the_pieces_of_a_long_sentence_share_batches():
    tagger = WordIsTag()
    tokens = Tokens.from_sentences([["O"] * 40_000])
    annotate(tagger, [tokens], spans=True, max_sentence_tokens=10_000)
    assert tagger.batches == [20_000, 20_000]
