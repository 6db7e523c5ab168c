"""What the pipeline makes of documents: arrays over all their tokens, and a view of each."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from service.decoding import Inferred
from service.taggers.explanation import Explanation
from service.text.spans import Span
from service.text.tokens import Documents, Offsets, Tokens


@dataclass(frozen=True, eq=False)
class Annotated:
    """D documents with their tags, N spans in all.

    Attributes
    ----------
    documents : the documents, in sentences of bounded length.
    pieces : those of their S sentences that are pieces of a longer one, rising.
    labels : what each of the K states of the tagger bears; several may bear the same.
    inferred : the tags as indexes into `labels`, and what was asked for beside them.
    explanations : of each document, or none at all.
    spans : the N spans of all, counted from the first token of all, in order.
    """

    documents: Documents
    pieces: Offsets
    labels: tuple[str, ...]
    inferred: Inferred
    explanations: Sequence[Explanation] = ()
    spans: Sequence[Span] = ()

    @cached_property
    def words(self) -> list[str]:
        """The M words of all."""
        return list(self.documents.words)

    @cached_property
    def tags(self) -> list[str]:
        """The M tags of all."""
        tags: list[str] = _as_array(self.labels).take(self.inferred.tag_ids).tolist()
        return tags

    @cached_property
    def places(self) -> tuple[list[int], list[int]]:
        """Where the M words of all start and end, each in its own document."""
        return self.documents.starts.tolist(), self.documents.ends.tolist()

    @cached_property
    def sentence_offsets(self) -> list[int]:
        """The S + 1 offsets of the sentences of all."""
        offsets: list[int] = self.documents.sentence_offsets.tolist()
        return offsets

    def each(self) -> list["Annotation"]:
        """A view of each document."""
        token_firsts = self.documents.token_firsts
        starts = [span.token_start for span in self.spans]
        span_firsts = [bisect_left(starts, first) for first in token_firsts]
        bounds = map(pairwise, (token_firsts, self.documents.sentence_firsts, span_firsts))
        return [
            Annotation(self, index, slice(*tokens), slice(*sentences), slice(*spans))
            for index, (tokens, sentences, spans) in enumerate(zip(*bounds, strict=True))
        ]


@lru_cache(maxsize=100)
def _as_array(labels: tuple[str, ...]) -> NDArray[np.object_]:
    """The labels as what many are taken from at once."""
    return np.array(labels, dtype=np.object_)


class Annotation:
    """A document with its M tags: its part of `Annotated`, taken out when it is asked for."""

    __slots__ = ("_all", "_index", "_sentences", "_spans", "_tokens")

    def __init__(
        self, annotated: Annotated, index: int, tokens: slice, sentences: slice, spans: slice
    ) -> None:
        self._all = annotated
        self._index = index
        self._tokens = tokens
        self._sentences = sentences
        self._spans = spans

    @property
    def labels(self) -> tuple[str, ...]:
        """What each of the K states of the tagger bears; several may bear the same."""
        return self._all.labels

    @property
    def tokens(self) -> Tokens:
        """The M tokens, in sentences of bounded length."""
        return self._all.documents[self._index]

    @property
    def words(self) -> list[str]:
        """The M words."""
        return self._all.words[self._tokens]

    @property
    def tags(self) -> list[str]:
        """The M tags."""
        return self._all.tags[self._tokens]

    @property
    def places(self) -> tuple[list[int], list[int]] | None:
        """Where the M words start and end, in code points; None where there is no text."""
        if not self._all.documents.placed[self._index]:
            return None
        own, (starts, ends) = self._tokens, self._all.places
        return starts[own], ends[own]

    @property
    def sentences(self) -> list[tuple[int, int]]:
        """The tokens of each sentence: its first, and the end."""
        own, first = self._sentences, self._tokens.start
        bounds = pairwise(self._all.sentence_offsets[own.start : own.stop + 1])
        return [(start - first, end - first) for start, end in bounds]

    @property
    def pieces(self) -> list[int]:
        """Those of its sentences that are pieces of a longer one."""
        if not len(self._all.pieces):  # most often
            return []
        own = self._sentences
        pieces = self._all.pieces
        first, end = pieces.searchsorted([own.start, own.stop])
        inside: list[int] = (pieces[first:end] - own.start).tolist()
        return inside

    @property
    def tag_ids(self) -> NDArray[np.int64]:
        """(M,) indexes into `labels`."""
        return self._all.inferred.tag_ids[self._tokens]

    @property
    def inferred(self) -> Inferred:
        """The tags, and what was asked for beside them."""
        if len(self._all.documents) == 1:  # most often
            return self._all.inferred
        return self._all.inferred.part(self._tokens, self._sentences, self._spans)

    @property
    def spans(self) -> list[Span]:
        """Of a BIO tagger, its spans; else none."""
        first = self._tokens.start
        return [span.shifted(-first) for span in self._all.spans[self._spans]]

    @property
    def explanation(self) -> Explanation | None:
        """Why the tags are so, where that was asked for."""
        return self._all.explanations[self._index] if self._all.explanations else None
