"""Documents as batches: sentences of bounded length, those of all documents one after another."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from service.text.tokens import Offsets, Tokens, offsets_of


def packed(documents: Sequence[Tokens]) -> Tokens:
    """The sentences of all documents one after another."""
    if len(documents) == 1:
        return documents[0]
    words = list(chain.from_iterable(tokens.words for tokens in documents))
    offsets = np.concatenate([[0], *(tokens.sentence_offsets for tokens in documents)])
    begins = np.cumsum([1, *(len(tokens.sentence_offsets) for tokens in documents)])[:-1]
    lengths = np.delete(np.diff(offsets), begins - 1)  # from a document to the next is no sentence
    return Tokens(words, offsets_of(lengths))


def split_long_sentences(tokens: Tokens, limit: int) -> tuple[Tokens, list[int]]:
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


def ranges_of(offsets: Offsets, limit: int) -> Iterator[tuple[int, int]]:
    """Ranges of sentences, in order, that have `limit` tokens at most, or are one that has more.

    A sentence counts as a token more than it has: also a million empty ones take memory.
    """
    first, sentences = 0, len(offsets) - 1
    if offsets[-1] + sentences <= limit:
        yield first, sentences
        return
    sizes = offsets + np.arange(len(offsets))
    while first < sentences:
        end = max(first + 1, int(np.searchsorted(sizes, sizes[first] + limit, side="right")) - 1)
        yield first, end
        first = end
