"""Text in, annotated document out: the path of a request, a line a step."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.decoding import (
    PATH_ALONE,
    ChainScores,
    Dictionary,
    Evidence,
    Inference,
    Inferred,
    SpanConstraint,
    best_paths,
    constraint_evidence,
    infer,
    with_evidence,
)
from service.errors import InputError, NoValidPath
from service.taggers.base import Tagger
from service.taggers.explanation import Explanation, explanation_of
from service.text.packing import packed, ranges_of, split_long_sentences
from service.text.spans import Span, spans_of_documents
from service.text.tokens import Tokens

BATCH_TOKENS = 20_500
"""Sentences are scored together until a batch is this large: bounds the memory. It has room for
two sentences of the greatest length, since the steps of the decoder are shared by a batch."""


def _no_lap(stage: str) -> None:
    """Take no time."""


class Annotation(NamedTuple):
    """A document with its tags.

    Attributes
    ----------
    tokens : the M tokens, in sentences of bounded length.
    pieces : those of the S sentences that are pieces of a longer one.
    labels : what each of the K states of the tagger bears; several may bear the same.
    spans : of a BIO tagger, its spans; else none.
    inferred : the tags as indexes into `labels`, and what was asked for beside them.
    explanation : why they are so, where that was asked for.
    """

    tokens: Tokens
    pieces: list[int]
    labels: tuple[str, ...]
    spans: list[Span]
    inferred: Inferred
    explanation: Explanation | None = None

    @property
    def tag_ids(self) -> NDArray[np.int64]:
        """(M,) indexes into `labels`."""
        return self.inferred.tag_ids


def annotate(
    tagger: Tagger,
    documents: Sequence[Tokens],
    *,
    spans: bool,
    max_sentence_tokens: int,
    inference: Inference = PATH_ALONE,
    temperature: float = 1.0,
    explain: bool = False,
    constraints: Sequence[Sequence[SpanConstraint]] = (),
    dictionary: Dictionary | None = None,
    check: Callable[[], None] | None = None,
    lap: Callable[[str], None] = _no_lap,
) -> list[Annotation]:
    """Tag documents, in order; all their sentences share the batches.

    Parameters
    ----------
    tagger : any tagger; if `spans`, its labels are BIO tags.
    documents : tokenized documents.
    spans : whether to read spans off the tags.
    max_sentence_tokens : a longer sentence is split into pieces of at most this length.
    inference : what is wanted beside the best paths.
    temperature : what scores are divided by before they are made probabilities.
    explain : whether to explain the best paths; takes memory a token, so for few alone.
    constraints : of each document, what is known of its spans; or none at all.
    dictionary : what is known of phrases; None for nothing.
    check : is called before each batch; what it raises ends the work.
    lap : is called at the end of each step with its name, ``score`` or ``decode``.

    Raises
    ------
    InputError
        Where constraints cannot be met.
    ScoresError
        Where the model's scores cannot be decoded.
    """
    bounded = [split_long_sentences(tokens, max_sentence_tokens) for tokens in documents]
    sentences = [tokens for tokens, _ in bounded]
    starts = list(accumulate([len(tokens.words) for tokens in sentences], initial=0))
    known = _evidence_of(constraints, sentences, starts, tagger.labels)
    inferred = Inferred.joined(
        [
            infer(
                scores,
                tagger.labels,
                inference,
                spans=spans,
                temperature=temperature if tagger.probabilistic else None,
            )
            for scores in _scores(tagger, packed(sentences), known, dictionary, check, lap)
        ]
    )
    none: list[list[Span]] = [[] for _ in bounded]
    found = spans_of_documents(inferred.tag_ids, tagger.labels, starts) if spans else none
    explanations: list[Explanation | None] = [None for _ in bounded]
    if explain:
        bounds = pairwise(starts)
        scored = (
            _score(tagger, tokens, _within(known, *bound), dictionary)
            for tokens, bound in zip(sentences, bounds, strict=True)
        )
        explanations = [
            explanation_of(tagger, tokens.words, scores, temperature)
            for tokens, scores in zip(sentences, scored, strict=True)
        ]
    parts = inferred.parts(
        [len(tokens.words) for tokens in sentences],
        [len(tokens.sentence_offsets) - 1 for tokens in sentences],
        [len(mine) for mine in found],
    )
    lap("decode")
    return [
        Annotation(tokens, pieces, tagger.labels, mine, part, why)
        for (tokens, pieces), mine, part, why in zip(
            bounded, found, parts, explanations, strict=True
        )
    ]


def _evidence_of(
    constraints: Sequence[Sequence[SpanConstraint]],
    documents: Sequence[Tokens],
    starts: Sequence[int],
    labels: tuple[str, ...],
) -> list[Evidence]:
    """The constraints on all documents, by the tokens of all."""
    return [
        piece.shifted(start)
        for mine, tokens, start in zip(constraints, documents, starts, strict=False)
        if mine
        for piece in constraint_evidence(mine, labels, tokens.sentence_offsets)
    ]


def _scores(
    tagger: Tagger,
    tokens: Tokens,
    known: Sequence[Evidence],
    dictionary: Dictionary | None,
    check: Callable[[], None] | None,
    lap: Callable[[str], None],
) -> Iterator[ChainScores]:
    """The scores of the sentences, batch by batch, with all that is known beside the model."""
    for first, end in ranges_of(tokens.sentence_offsets, BATCH_TOKENS):
        if check is not None:
            check()
        lap("decode")  # of the batch before
        if end - first == len(tokens.sentence_offsets) - 1:  # most often
            scores = _score(tagger, tokens, known, dictionary)
            lap("score")
            yield scores
            return
        offsets = tokens.sentence_offsets[first : end + 1]
        token_start, token_end = int(offsets[0]), int(offsets[-1])
        part = Tokens(tokens.words[token_start:token_end], offsets - token_start)
        scores = _score(tagger, part, _within(known, token_start, token_end), dictionary)
        lap("score")
        yield scores


def _within(known: Sequence[Evidence], first: int, end: int) -> list[Evidence]:
    """What is known of the tokens from `first` to `end`, counted from `first`."""
    return [piece.within(first, end) for piece in known if piece.overlaps(first, end)]


def _score(
    tagger: Tagger, tokens: Tokens, known: Sequence[Evidence], dictionary: Dictionary | None
) -> ChainScores:
    """The scores of one batch, with all that is known beside the model."""
    words = tokens.words
    scores = tagger.score(words, tokens.sentence_offsets)
    if dictionary is not None:
        scores = with_evidence(scores, list(dictionary.evidence(words, scores.offsets)))
    return _constrained(scores, known) if known else scores


def _constrained(scores: ChainScores, constraints: Sequence[Evidence]) -> ChainScores:
    constrained = with_evidence(scores, constraints)
    try:
        best_paths(constrained)
    except NoValidPath as error:
        best_paths(scores)  # raises where it is not the constraints that leave none
        detail = "no tag sequence that the model allows meets the constraints"
        raise InputError(detail, "/constraints") from error
    return constrained
