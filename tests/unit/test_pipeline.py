import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service import pipeline
from service.decoding import (
    ChainScores,
    Dictionary,
    Entry,
    Inference,
    SpanConstraint,
    Transitions,
    bio_constraints,
    forward_backward,
)
from service.errors import InputError, NoValidPath
from service.pipeline import annotate
from service.text.phrases import Phrase
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


def run(documents, limit=100, spans=True, tagger=None, **wanted):
    tokens = [Tokens.from_sentences(sentences) for sentences in documents]
    tagger = tagger or WordIsTag()
    return annotate(tagger, tokens, spans=spans, max_sentence_tokens=limit, **wanted)


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


EVERYTHING = Inference(confidences=True, marginals=True, n_best=3)


@given(documents, st.integers(1, 8), st.integers(1, 8))
def test_what_is_inferred_is_the_same_alone_and_in_any_batch(docs, limit, batch_tokens):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "BATCH_TOKENS", batch_tokens)
        together = run(docs, limit, inference=EVERYTHING)
    for doc, found in zip(docs, together, strict=True):
        [expected] = run([doc], limit, inference=EVERYTHING)
        close = {"rtol": 0, "atol": 1e-12}
        one, other = found.inferred, expected.inferred
        assert np.allclose(one.confidences, other.confidences, **close)
        assert np.allclose(one.span_confidences, other.span_confidences, **close)
        assert np.allclose(one.marginals, other.marginals, **close)
        assert [[s.tag_ids.tolist() for s in each] for each in one.n_best] == [
            [s.tag_ids.tolist() for s in each] for each in other.n_best
        ]


@given(documents)
def test_inferring_more_changes_no_tag_and_no_span(docs):
    for plain, found in zip(run(docs), run(docs, inference=EVERYTHING), strict=True):
        assert found.tag_ids.tolist() == plain.tag_ids.tolist()
        assert found.spans == plain.spans
        assert len(found.inferred.span_confidences) == len(found.spans)
        best = [each[0].tag_ids for each in found.inferred.n_best]
        assert np.concatenate([np.empty(0, int), *best]).tolist() == plain.tag_ids.tolist()


@given(documents.filter(lambda docs: any(any(doc) for doc in docs)))
def test_confidences_are_the_marginals_of_the_tags(docs):
    for found in run(docs, inference=EVERYTHING):
        rows = np.arange(len(found.tag_ids))
        assert (found.inferred.confidences == found.inferred.marginals[rows, found.tag_ids]).all()


def test_what_is_not_asked_for_is_not_there():
    [plain] = run([[["B-A"]]])
    assert plain.inferred.confidences is plain.inferred.n_best is plain.inferred.marginals is None
    [found] = run([[["B-A"]]], inference=Inference(marginals=True))
    assert found.inferred.confidences is found.inferred.span_confidences is None
    assert found.inferred.marginals.shape == (1, 5)


def test_a_model_that_is_no_probability_model_gives_none():
    tagger = WordIsTag()
    tagger.probabilistic = False
    [found] = run([[["B-A", "O"]]], tagger=tagger, inference=EVERYTHING)
    inferred = found.inferred
    assert inferred.confidences is inferred.span_confidences is inferred.marginals is None
    assert [sequence.log_prob for sequence in inferred.n_best[0]] == [None] * 3


def test_the_log_prob_of_a_tag_sequence_is_its_share_of_all():
    [found] = run([[["B-A", "I-A"]]], inference=Inference(n_best=20))
    sequences = found.inferred.n_best[0]
    assert len(sequences) == 11  # all that are strict: 3 * 3 + I-A, I-B after their beginnings
    assert sum(np.exp(sequence.log_prob) for sequence in sequences) == pytest.approx(1)


@given(documents, st.integers(1, 8), st.integers(1, 8), st.data())
def test_constraints_hold_for_their_document_in_any_batch(docs, limit, batch_tokens, data):
    sizes = [sum(map(len, doc)) for doc in docs]
    constraints = [
        [SpanConstraint(data.draw(st.integers(0, size - 1)), size, "*", "forbid")] if size else []
        for size in sizes
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "BATCH_TOKENS", batch_tokens)
        together = run(docs, limit, constraints=constraints)
    for doc, found, mine in zip(docs, together, constraints, strict=True):
        [alone] = run([doc], limit, constraints=[mine])
        assert found.tag_ids.tolist() == alone.tag_ids.tolist()
        assert not any(span.token_end > each.token_start for span in found.spans for each in mine)


def test_constraints_count_tokens_from_the_first_of_their_document():
    docs = [[["O"], ["O", "O"]], [["O", "O"], ["O"]]]
    constraints = [[SpanConstraint(1, 3, "A", "span")], [SpanConstraint(1, 2, "B", "inside")]]
    first, second = run(docs, constraints=constraints)
    assert first.spans == [Span("A", 1, 3)]
    assert [span.label for span in second.spans] == ["B"]


def test_constraints_that_the_model_itself_rules_out_are_the_callers_fault():
    class Never(WordIsTag):
        def score(self, words, sentence_offsets):
            scores = super().score(words, sentence_offsets)
            scores.emissions[:, 1] = -np.inf  # B-A
            return scores

    with pytest.raises(InputError, match="no tag sequence") as caught:
        run([[["O"]]], tagger=Never(), constraints=[[SpanConstraint(0, 1, "A", "span")]])
    assert caught.value.pointer == "/constraints"


def test_a_model_that_allows_nothing_is_not_the_callers_fault():
    class Nothing(WordIsTag):
        def score(self, words, sentence_offsets):
            scores = super().score(words, sentence_offsets)
            scores.emissions[:] = -np.inf
            return scores

    with pytest.raises(NoValidPath):
        run([[["O"]]], tagger=Nothing(), constraints=[[SpanConstraint(0, 1, "A", "forbid")]])


def test_a_dictionary_adds_to_the_scores_of_its_spans():
    dictionary = Dictionary([Entry(Phrase(("O", "O"), True), "A", 1.25)], LABELS)
    [found] = run([[["O", "O", "O"], ["O"], ["O", "O"]]], dictionary=dictionary)
    assert found.spans == [Span("A", 0, 2), Span("A", 4, 6)]


def test_confidences_are_those_of_the_scores_with_all_that_is_known():
    [free] = run([[["O"]]], inference=EVERYTHING)
    [bound] = run(
        [[["O"]]],
        inference=EVERYTHING,
        constraints=[[SpanConstraint(0, 1, "A", "inside")]],
    )
    scores = WordIsTag().score(["O"], np.array([0, 1]))
    assert (free.inferred.marginals == forward_backward(scores).marginals).all()
    assert bound.inferred.marginals.tolist() == [[0, 1, 0, 0, 0]]
    assert bound.inferred.span_confidences.tolist() == [1]


def test_work_ends_between_batches(monkeypatch):
    monkeypatch.setattr(pipeline, "BATCH_TOKENS", 3)
    tagger = WordIsTag()

    def check():
        if len(tagger.batches) == 2:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        run([[["O", "O"]] * 5], tagger=tagger, check=check)
    assert len(tagger.batches) == 2
