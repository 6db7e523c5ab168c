"""Text in, annotated document out: the path of a request, a line a step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from service.decoding import best_paths
from service.taggers.base import Tagger
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
    tag_ids : (M,) indexes into `labels`.
    labels : the K tags of the model.
    spans : of a BIO tagger, its spans; else none.
    """

    tokens: Tokens
    pieces: list[int]
    tag_ids: NDArray[np.int64]
    labels: tuple[str, ...]
    spans: list[Span]


def annotate(
    tagger: Tagger, documents: Sequence[Tokens], *, spans: bool, max_sentence_tokens: int
) -> list[Annotation]:
    """Tag documents, in order; all their sentences share the batches.

    Parameters
    ----------
    tagger : any tagger; if `spans`, its labels are BIO tags.
    documents : tokenized documents.
    spans : whether to read spans off the tags.
    max_sentence_tokens : a longer sentence is split into pieces of at most this length.

    Raises
    ------
    ScoresError
        Where the model's scores cannot be decoded.
    """
    bounded = [_split_long_sentences(tokens, max_sentence_tokens) for tokens in documents]
    all_tokens = _pack([tokens for tokens, _ in bounded])
    offsets = all_tokens.sentence_offsets
    paths = [_decode(tagger, all_tokens, first, end) for first, end in _batches(offsets)]
    tag_ids = paths[0] if len(paths) == 1 else np.concatenate([np.empty(0, np.int64), *paths])
    starts = offsets_of([len(tokens.words) for tokens, _ in bounded])
    none: list[list[Span]] = [[] for _ in bounded]
    found = spans_of_documents(tag_ids, tagger.labels, starts) if spans else none
    return [
        Annotation(tokens, pieces, tag_ids[first:end], tagger.labels, mine)
        for (tokens, pieces), (first, end), mine in zip(
            bounded, pairwise(starts.tolist()), found, strict=True
        )
    ]


def _pack(documents: Sequence[Tokens]) -> Tokens:
    """The sentences of all documents one after another."""
    if len(documents) == 1:
        return documents[0]
    words = list(chain.from_iterable(tokens.words for tokens in documents))
    offsets = np.concatenate([[0], *(tokens.sentence_offsets for tokens in documents)])
    begins = np.cumsum([1, *(len(tokens.sentence_offsets) for tokens in documents)])[:-1]
    lengths = np.delete(np.diff(offsets), begins - 1)  # from a document to the next is no sentence
    return Tokens(words, offsets_of(lengths))


def _decode(tagger: Tagger, tokens: Tokens, first: int, end: int) -> NDArray[np.int64]:
    """Best path of the sentences first to end: (tokens of these,)."""
    offsets = tokens.sentence_offsets[first : end + 1]
    words = tokens.words[offsets[0] : offsets[-1]]
    return best_paths(tagger.score(words, offsets - offsets[0]))


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
