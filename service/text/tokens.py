"""`Tokens`: the words of a document, packed flat, with the offsets of its sentences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from service.text.words import joined

Offsets = NDArray[np.int64]


class Tokens(NamedTuple):
    """The M words of a document in S sentences.

    Attributes
    ----------
    words : M strings, in text order; those of a tokenizer are `Words`.
    sentence_offsets : (S + 1,) int64; sentence s is ``words[offsets[s]:offsets[s + 1]]``.
    starts, ends : (M,) int64 half-open code-point ranges, ``text[start:end] == word``;
        None where the words came without a text.
    """

    words: Sequence[str]
    sentence_offsets: Offsets
    starts: Offsets | None = None
    ends: Offsets | None = None

    @classmethod
    def from_sentences(cls, sentences: Sequence[Sequence[str]]) -> "Tokens":
        """Pack sentences of words that came without a text. An empty sentence is kept."""
        words = [word for sentence in sentences for word in sentence]
        return cls(words, offsets_of([len(sentence) for sentence in sentences]))


@dataclass(frozen=True, slots=True, eq=False)
class Documents(Sequence[Tokens]):
    """D documents, packed: the tokens of all, one document after another.

    The `Tokens` of one are made when they are asked for.

    Attributes
    ----------
    words : M strings.
    sentence_offsets : (S + 1,) of the sentences of all; none reaches across documents.
    token_firsts, sentence_firsts : D + 1 offsets; document d has the tokens ``token_firsts[d]`` to
        ``token_firsts[d + 1]``, and its sentences likewise.
    starts, ends : (M,) see `Tokens`; 0 where a document came without a text.
    placed : D, whether it came with a text.
    """

    words: Sequence[str]
    sentence_offsets: Offsets
    token_firsts: list[int]
    sentence_firsts: list[int]
    starts: Offsets
    ends: Offsets
    placed: list[bool]

    @classmethod
    def of(cls, documents: Sequence[Tokens]) -> "Documents":
        """Pack documents; what is packed stays as it is."""
        if isinstance(documents, Documents):
            return documents
        return cls.joined(list(map(_alone, documents)))

    @classmethod
    def joined(cls, parts: Sequence["Documents"]) -> "Documents":
        """The documents of all parts."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            joined([part.words for part in parts]),
            _laid_out([part.sentence_offsets for part in parts]),
            _laid_out([part.token_firsts for part in parts]).tolist(),
            _laid_out([part.sentence_firsts for part in parts]).tolist(),
            np.concatenate([_NOWHERE, *(part.starts for part in parts)]),
            np.concatenate([_NOWHERE, *(part.ends for part in parts)]),
            list(chain.from_iterable(part.placed for part in parts)),
        )

    def __len__(self) -> int:
        return len(self.placed)

    @overload
    def __getitem__(self, index: int) -> Tokens: ...

    @overload
    def __getitem__(self, index: slice) -> "Documents": ...

    def __getitem__(self, index: int | slice) -> "Tokens | Documents":
        if isinstance(index, slice):
            return self.only(range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        if len(self) == 1:
            tokens = Tokens(self.words, self.sentence_offsets, self.starts, self.ends)
        else:
            own = slice(*self.token_firsts[index : index + 2])
            first, end = self.sentence_firsts[index : index + 2]
            offsets = self.sentence_offsets[first : end + 1] - own.start
            tokens = Tokens(self.words[own], offsets, self.starts[own], self.ends[own])
        return tokens if self.placed[index] else tokens._replace(starts=None, ends=None)

    def only(self, indices: Iterable[int]) -> "Documents":
        """Those of the documents."""
        return Documents.of([self[i] for i in indices])

    def as_one_sentence(self) -> "Documents":
        """The same words, those of a document in one sentence; in none where there are none."""
        offsets = np.unique(self.token_firsts)
        firsts = offsets.searchsorted(self.token_firsts).tolist()
        return replace(self, sentence_offsets=offsets, sentence_firsts=firsts)


_NOWHERE: Offsets = np.zeros(0, dtype=np.int64)


def _alone(tokens: Tokens) -> Documents:
    """One document, packed."""
    words, offsets, starts, ends = tokens
    nowhere = np.zeros(len(words), dtype=np.int64)
    return Documents(
        words,
        offsets,
        [0, len(words)],
        [0, len(offsets) - 1],
        nowhere if starts is None else starts,
        nowhere if ends is None else ends,
        [starts is not None],
    )


def _laid_out(offsets: Sequence[Offsets | list[int]]) -> Offsets:
    """The offsets of all parts, each laid out behind the one before."""
    return offsets_of(np.concatenate([_NOWHERE, *map(np.diff, offsets)]))


def offsets_of(lengths: Sequence[int] | Offsets) -> Offsets:
    """Turn S lengths into (S + 1,) offsets: ``[0, l0, l0 + l1, ...]``."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def consecutive(starts: Offsets, counts: Offsets) -> Offsets:
    """``starts[0], starts[0] + 1, ...``: as many as `counts` says from each start."""
    numbers: Offsets = np.repeat(starts + counts - counts.cumsum(), counts)
    numbers += np.arange(len(numbers))
    return numbers


def by_step(offsets: Offsets) -> tuple[Offsets, Offsets, list[int]]:
    """Order the M tokens of a packed batch by time step, and within a step by rank.

    Sentences are ranked by falling length, so those that still have a token at step t are the
    first ``active[t]``.

    Parameters
    ----------
    offsets : (S + 1,) of the sentences, one of which has a token.

    Returns
    -------
    sentence_of : (M,) the sentence of each token; the first step has all that have tokens.
    step : (M,) where in its sentence it stands.
    active : T counts, how many sentences have a token at each step.
    """
    lengths = np.diff(offsets)
    ranked = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
    lengths = lengths[ranked]
    active = np.searchsorted(-lengths, -np.arange(lengths[0]), side="left")  # (T,) lengths > t
    step = np.repeat(np.arange(len(active)), active)  # (M,)
    rank = np.arange(len(step)) - (np.cumsum(active) - active)[step]  # (M,)
    return ranked[rank], step, active.tolist()


def last_rows(active: list[int]) -> Offsets:
    """Where in that order the last token of each of S sentences is, by rank: (S,)."""
    counts = np.array(active, dtype=np.int64)
    ranks = np.arange(active[0])
    steps = np.searchsorted(-counts, -ranks, side="left") - 1  # the last that has this rank
    rows: Offsets = (np.cumsum(counts) - counts)[steps] + ranks
    return rows
