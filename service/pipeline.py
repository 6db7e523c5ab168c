"""Text in, annotated document out: the path of a request, a line a step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise, starmap

import numpy as np
from numpy.typing import NDArray

from service.decoding import PATH_ALONE, ChainScores, Inference, Inferred, infer
from service.taggers.base import Tagger
from service.taggers.explanation import Explanation, explanation_of
from service.text.spans import Span, spans_of_documents
from service.text.tokens import Offsets, Tokens, offsets_of

BATCH_TOKENS = 20_500
"""Sentences are scored together until a batch is this large: bounds the memory. It has room for
two sentences of the greatest length, since the steps of the decoder are shared by a batch."""


@dataclass(frozen=True, slots=True)
class Annotation:
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

    Raises
    ------
    ScoresError
        Where the model's scores cannot be decoded.
    """
    bounded = [_split_long_sentences(tokens, max_sentence_tokens) for tokens in documents]
    packed = _pack([tokens for tokens, _ in bounded])
    inferred = Inferred.joined(
        [
            infer(
                _score(tagger, packed, first, end),
                tagger.labels,
                inference,
                spans=spans,
                temperature=temperature if tagger.probabilistic else None,
            )
            for first, end in _batches(packed.sentence_offsets)
        ]
    )
    starts = offsets_of([len(tokens.words) for tokens, _ in bounded])
    none: list[list[Span]] = [[] for _ in bounded]
    found = spans_of_documents(inferred.tag_ids, tagger.labels, starts) if spans else none
    parts = zip(
        _slices([len(tokens.words) for tokens, _ in bounded]),
        _slices([len(tokens.sentence_offsets) - 1 for tokens, _ in bounded]),
        _slices([len(mine) for mine in found]),
        strict=True,
    )
    return [
        Annotation(
            tokens,
            pieces,
            tagger.labels,
            mine,
            inferred.part(*part),
            _explanation(tagger, tokens, temperature) if explain else None,
        )
        for (tokens, pieces), mine, part in zip(bounded, found, parts, strict=True)
    ]


def _slices(lengths: Sequence[int]) -> Iterator[slice]:
    """Where things of these lengths lie, one after another."""
    return starmap(slice, pairwise(accumulate(lengths, initial=0)))


def _pack(documents: Sequence[Tokens]) -> Tokens:
    """The sentences of all documents one after another."""
    if len(documents) == 1:
        return documents[0]
    words = list(chain.from_iterable(tokens.words for tokens in documents))
    offsets = np.concatenate([[0], *(tokens.sentence_offsets for tokens in documents)])
    begins = np.cumsum([1, *(len(tokens.sentence_offsets) for tokens in documents)])[:-1]
    lengths = np.delete(np.diff(offsets), begins - 1)  # from a document to the next is no sentence
    return Tokens(words, offsets_of(lengths))


def _score(tagger: Tagger, tokens: Tokens, first: int, end: int) -> ChainScores:
    """The scores of the sentences first to end."""
    offsets = tokens.sentence_offsets[first : end + 1]
    words = tokens.words[offsets[0] : offsets[-1]]
    return tagger.score(words, offsets - offsets[0])


def _explanation(tagger: Tagger, tokens: Tokens, temperature: float) -> Explanation:
    scores = _score(tagger, tokens, 0, len(tokens.sentence_offsets) - 1)
    return explanation_of(tagger, tokens.words, scores, temperature)


def _batches(offsets: Offsets) -> Iterator[tuple[int, int]]:
    """Ranges of sentences that fill a batch, or a single sentence that is longer.

    A sentence counts as a token more than it has: also a million empty ones take memory.
    """
    first, sentences = 0, len(offsets) - 1
    if offsets[-1] + sentences <= BATCH_TOKENS:
        yield first, sentences
        return
    sizes = offsets + np.arange(len(offsets))
    while first < sentences:
        limit = sizes[first] + BATCH_TOKENS
        end = max(first + 1, int(np.searchsorted(sizes, limit, side="right")) - 1)
        yield first, end
        first = end


def _split_long_sentences(tokens: Tokens, limit: int) -> tuple[Tokens, list[int]]:
    """Cut sentences of more than `limit` tokens into pieces of at most as many; which they are."""
    if len(tokens.words) <= limit:
        return tokens, []
    lengths = np.diff(tokens.sentence_offsets)
    pieces = np.maximum(1, -(-lengths // limit))  # (S,) an empty sentence stays one piece
    within = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = np.repeat(tokens.sentence_offsets[:-1], pieces) + within * limit
    offsets = np.append(starts, tokens.sentence_offsets[-1])
    cut = np.flatnonzero(np.repeat(lengths > limit, pieces))
    return Tokens(tokens.words, offsets, tokens.starts, tokens.ends), cut.tolist()
