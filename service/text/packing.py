"""Documents as batches: sentences of bounded length, so many of them at once."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from service.text.tokens import Documents, Offsets, offsets_of


def split_long_sentences(documents: Documents, limit: int) -> tuple[Documents, Offsets]:
    """Cut sentences of more than `limit` tokens into pieces of at most as many; which they are."""
    lengths = documents.sentence_offsets[1:] - documents.sentence_offsets[:-1]
    if len(documents.words) <= limit or lengths.max() <= limit:
        return documents, lengths[:0]
    pieces = np.maximum(1, -(-lengths // limit))  # (S,) an empty sentence stays one piece
    firsts = offsets_of(pieces)  # (S + 1,) the first piece of each sentence
    within = np.arange(firsts[-1]) - np.repeat(firsts[:-1], pieces)
    starts = np.repeat(documents.sentence_offsets[:-1], pieces) + within * limit
    cut = replace(
        documents,
        sentence_offsets=np.append(starts, documents.sentence_offsets[-1]),
        sentence_firsts=firsts[documents.sentence_firsts].tolist(),
    )
    return cut, np.repeat(lengths > limit, pieces).nonzero()[0]


def parts_of(
    words: Sequence[str], sentence_offsets: Offsets, limit: int
) -> Iterator[tuple[int, Sequence[str], Offsets]]:
    """Cut a packed batch into smaller ones, between sentences.

    Yields
    ------
    start : the first token of a part.
    words : of the part.
    offsets : of the part's sentences, as in any packed batch.
    """
    if _size(sentence_offsets) <= limit:  # most often
        yield 0, words, sentence_offsets
        return
    for first, end in _ranges_of(sentence_offsets, limit):
        own = sentence_offsets[first : end + 1]
        start = int(own[0])
        yield start, words[start : int(own[-1])], own - start


def _ranges_of(offsets: Offsets, limit: int) -> Iterator[tuple[int, int]]:
    """Ranges of sentences, in order, that have `limit` tokens at most, or are one that has more."""
    first, sentences = 0, len(offsets) - 1
    sizes = offsets + np.arange(len(offsets))
    while first < sentences:
        end = max(first + 1, int(np.searchsorted(sizes, sizes[first] + limit, side="right")) - 1)
        yield first, end
        first = end


def _size(offsets: Offsets) -> int:
    """A sentence counts as a token more than it has: also a million empty ones take memory."""
    return int(offsets[-1]) + len(offsets) - 1
