"""A text corpus as streams that a language model of two directions reads, a segment at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from service.text.spelling import CASES, case_of
from service.training.batches import Vocabulary
from service.training.language_model import Segment
from service.training.text_corpus import TextCorpus
from service.training.word_network import WordTypes

Ids = NDArray[np.int64]


class TypeTable:
    """What the network reads of each type of a corpus, and of the same in lower and upper case.

    Parameters
    ----------
    types : T different words.
    vocabulary : what they are looked up in.

    Attributes
    ----------
    forms : (3, T) the row of each type as it is, in lower case and in upper case.
    """

    def __init__(self, types: Sequence[str], vocabulary: Vocabulary) -> None:
        rows = {word: row for row, word in enumerate(types)}
        changed = [
            [rows.setdefault(f(t), len(rows)) for t in types] for f in (str.lower, str.upper)
        ]
        self.forms: Ids = np.array([range(len(types)), *changed])
        spellings = [vocabulary.spelling(word) for word in rows]
        self._vectors = torch.tensor([spelling.vector for spelling in spellings])
        self._cases = torch.tensor([spelling.case for spelling in spellings])
        self._counts = torch.tensor([len(spelling.characters) for spelling in spellings])
        counts = self._counts.numpy()
        characters = np.zeros((len(rows), counts.max()), dtype=np.int16)
        flat = chain.from_iterable(spelling.characters for spelling in spellings)
        real = np.arange(characters.shape[1]) < counts[:, None]
        characters[real] = np.fromiter(flat, np.int16, counts.sum())
        self._characters = torch.from_numpy(characters)

    def take(self, rows: Ids) -> WordTypes:
        """What is read of N types."""
        index = torch.from_numpy(rows)
        counts = self._counts[index]
        characters = self._characters[index, : int(counts.max())]
        return WordTypes(self._vectors[index], self._cases[index], characters.T.int(), counts)


def target_classes(
    types: Sequence[str], counts: NDArray[np.float64], most: int
) -> tuple[NDArray[np.int64], int]:
    """What a language model foretells of each type: the word, or of a rare one its case.

    Parameters
    ----------
    types : T different words.
    counts : (T,) how often they come.
    most : how many words have a class of their own.

    Returns
    -------
    classes : (T,) the frequent first.
    number : of classes.
    """
    frequent = np.argsort(-counts, kind="stable")[:most]
    group = np.array([case_of(word) for word in types])  # (T,)
    group[frequent] = len(CASES) + np.arange(len(frequent))
    number = len(CASES) + len(frequent)
    weight = np.bincount(group, weights=counts, minlength=number)
    rank = np.empty(number, dtype=np.int64)
    rank[np.argsort(-weight, kind="stable")] = np.arange(number)
    return rank[group], number


def drawn(shares: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Sentences, each as often as its share says on the average."""
    whole = np.floor(shares).astype(np.int64)
    return np.repeat(np.arange(len(shares)), whole + (rng.random(len(shares)) < shares - whole))


@dataclass(frozen=True, slots=True)
class Reading:
    """How a corpus is read.

    Attributes
    ----------
    shares : of each source, how often a sentence is read in a pass, on the average.
    recased_share : share of the sentences that are read in lower or upper case, half each; what
        is foretold keeps its case.
    streams, steps : B and T of a segment.
    seed : of all that is random.
    """

    shares: Sequence[float]
    recased_share: float
    streams: int
    steps: int
    seed: int


class TextStreams:
    """Reads a corpus in passes, its sentences in another order each time.

    A sentence is read on its own when the model is used. Streams of sentences that have nothing
    to do with each other teach it to forget at a boundary all that was before.

    Parameters
    ----------
    corpus : the sentences.
    table : of its types.
    classes : (types,) what is foretold of each type.
    reading : how.
    held_out : the sentences that are not read.
    """

    def __init__(
        self,
        corpus: TextCorpus,
        table: TypeTable,
        classes: NDArray[np.int64],
        reading: Reading,
        held_out: NDArray[np.int64],
    ) -> None:
        self._corpus = corpus
        self._table = table
        self._classes = classes
        self._reading = reading
        self._shares = np.array(reading.shares)[corpus.sources]  # (S,)
        self._shares[held_out] = 0

    def segments(self, passes: int) -> Iterator[Segment]:
        """The segments of a pass, which its number alone decides."""
        reading = self._reading
        rng = np.random.default_rng((reading.seed, passes))
        order = rng.permutation(drawn(self._shares, rng))
        recased = rng.random(len(order)) < reading.recased_share
        form = np.where(recased, rng.integers(1, 3, len(order)), 0)
        words, targets = self._in_both_ways(order, form)  # (2, N)
        length = (words.shape[1] - 1) // reading.streams
        shape = (2, reading.streams, length)
        words = words[:, : reading.streams * length].reshape(shape)
        targets = targets[:, 1 : reading.streams * length + 1].reshape(shape)
        for first in range(0, length - reading.steps + 1, reading.steps):
            part = slice(first, first + reading.steps)
            yield self._segment(words[:, :, part], targets[:, :, part])

    def sentences(
        self, chosen: NDArray[np.int64], at_once: int
    ) -> Iterator[tuple[Segment, Tensor]]:
        """Sentences from a boundary to the next, each from a state of zero.

        Yields
        ------
        segment : T steps of B sentences, padded.
        real : (T, B) where there is something.
        """
        lengths = np.diff(self._corpus.offsets)
        ranked = chosen[np.argsort(lengths[chosen], kind="stable")]
        for first in range(0, len(ranked), at_once):
            part = ranked[first : first + at_once]
            words, targets = self._in_both_ways(part, np.zeros(len(part), dtype=np.int64))
            ends = np.cumsum(lengths[part])
            step = np.arange(lengths[part].max())
            real = step < lengths[part][:, None]  # (B, T)
            place = np.where(real, (ends - lengths[part])[:, None] + step, 0)
            following = np.where(step + 1 < lengths[part][:, None], place + 1, 0)
            yield (
                self._segment(words[:, place], targets[:, following]),
                torch.from_numpy(real.T.copy()),
            )

    def _in_both_ways(self, order: NDArray[np.int64], form: NDArray[np.int64]) -> tuple[Ids, Ids]:
        """Words and classes of sentences one after another, forward and backward: (2, N) each."""
        starts = self._corpus.offsets[order]
        lengths = self._corpus.offsets[order + 1] - starts
        step = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        back = np.where(step, np.repeat(lengths, lengths) - step, 0)  # the boundary stays first
        places = np.repeat(starts, lengths) + np.stack([step, back])  # (2, N)
        ids = self._corpus.ids[places]
        return self._table.forms[np.repeat(form, lengths), ids], self._classes[ids]

    def _segment(self, words: Ids, targets: Ids) -> Segment:
        """From (2, B, T) each."""
        rows, place = np.unique(words, return_inverse=True)
        return Segment(
            self._table.take(rows),
            torch.from_numpy(place.reshape(words.shape)).transpose(1, 2),
            torch.from_numpy(targets).transpose(1, 2),
        )
