"""Text in, annotated document out: the path of a request, a line a step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.decoding import best_paths
from service.taggers.base import Tagger
from service.text.spans import Span, spans_of_path
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
    split : (S,) bool, whether a sentence is a piece of a longer one.
    tag_ids : (M,) indexes into `labels`.
    labels : the K tags of the model.
    spans : of a BIO tagger, its spans; else none.
    """

    tokens: Tokens
    split: NDArray[np.bool_]
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
    words = [word for tokens, _ in bounded for word in tokens.words]
    lengths = [np.diff(tokens.sentence_offsets) for tokens, _ in bounded]
    offsets = offsets_of(np.concatenate(lengths) if lengths else [])
    tag_ids = np.concatenate(
        [
            np.empty(0, np.int64),
            *(_decode(tagger, words, offsets, s, e) for s, e in _batches(offsets)),
        ]
    )
    found = spans_of_path(tag_ids, tagger.labels) if spans else []

    annotations = []
    first, next_span = 0, 0
    for tokens, split in bounded:
        end = first + len(tokens.words)
        mine = []
        while next_span < len(found) and found[next_span].token_end <= end:
            mine.append(found[next_span].shifted(-first))
            next_span += 1
        annotations.append(Annotation(tokens, split, tag_ids[first:end], tagger.labels, mine))
        first = end
    return annotations


def _decode(
    tagger: Tagger, words: list[str], offsets: Offsets, first: int, end: int
) -> NDArray[np.int64]:
    """Best path of the sentences first to end: (tokens of these,)."""
    start_token, end_token = offsets[first], offsets[end]
    scores = tagger.score(words[start_token:end_token], offsets[first : end + 1] - start_token)
    return best_paths(scores)


def _batches(offsets: Offsets) -> Iterator[tuple[int, int]]:
    """Ranges of sentences that fill a batch, or a single sentence that is longer.

    A sentence counts as a token more than it has: also a million empty ones take memory.
    """
    sizes = offsets + np.arange(len(offsets))
    first, sentences = 0, len(offsets) - 1
    while first < sentences:
        limit = sizes[first] + BATCH_TOKENS
        end = max(first + 1, int(np.searchsorted(sizes, limit, side="right")) - 1)
        yield first, end
        first = end


def _split_long_sentences(tokens: Tokens, limit: int) -> tuple[Tokens, NDArray[np.bool_]]:
    """Cut sentences of more than `limit` tokens into pieces; (S,) bool marks the pieces."""
    lengths = np.diff(tokens.sentence_offsets)
    if not (lengths > limit).any():
        return tokens, np.zeros(len(lengths), dtype=np.bool_)
    pieces = np.maximum(1, -(-lengths // limit))  # (S,) an empty sentence stays one piece
    split = np.repeat(lengths > limit, pieces)
    within = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = np.repeat(tokens.sentence_offsets[:-1], pieces) + within * limit
    offsets = np.append(starts, tokens.sentence_offsets[-1])
    return Tokens(tokens.words, offsets, tokens.starts, tokens.ends), split
