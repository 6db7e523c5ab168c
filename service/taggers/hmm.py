"""The hidden Markov model: a bigram of tags, and words emitted by tags.

A word that training did not see is taken for the same word in other case, where that is known.
Else it is guessed from its ending, after Brants (2000), "TnT": the longest known suffix decides,
apart for each word class.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.decoding import ChainScores, Constraints, Transitions
from service.taggers.base import Parameters
from service.taggers.word_rows import UnseenWords, WordRows
from service.text.tokens import Offsets

MAX_SUFFIX_CHARS = 6


class HmmTagger:
    """A bigram HMM with a suffix model for unseen words.

    Parameters
    ----------
    parameters : of K tags, V words and N suffixes:

        - ``transitions`` (K, K), ``start`` (K,), ``end`` (K,) floating log-probabilities
        - ``words`` vocabulary (V), ``emissions`` (V, K): log P(word | tag)
        - ``suffixes`` vocabulary (N) of `suffix_keys`, the empty one among them,
          ``suffix_emissions`` (N, K): log P(word | tag), up to a constant of the word
    constraints : added to the scores.
    max_unseen_words : how many rows of unseen words are kept.

    Raises
    ------
    ValueError
        Where an array or a vocabulary is missing or does not fit.
    """

    probabilistic = True

    def __init__(
        self, parameters: Parameters, constraints: Constraints, max_unseen_words: int
    ) -> None:
        tags = len(parameters.labels)
        words = parameters.vocabulary("words")
        suffixes = parameters.vocabulary("suffixes")
        if not words:
            raise ValueError("the vocabulary words is empty")
        if "" not in suffixes:
            raise ValueError("the vocabulary suffixes lacks the empty suffix")
        self.labels = parameters.labels
        self._transitions = Transitions(
            parameters.array("transitions", (tags, tags)) + constraints.transitions,
            parameters.array("start", (tags,)) + constraints.start,
            parameters.array("end", (tags,)) + constraints.end,
        )
        self._suffixes = {suffix: i for i, suffix in enumerate(suffixes)}
        self._suffix_emissions = parameters.array("suffix_emissions", (len(suffixes), tags))
        self._words = {word: i for i, word in enumerate(words)}
        self._emissions = parameters.array("emissions", (len(words), tags))
        self._rows = WordRows(words, self._emissions, self._guess_rows, max_unseen_words)

    @property
    def unseen_words(self) -> UnseenWords:
        """See `service.taggers.base.CachingTagger.unseen_words`."""
        return self._rows.unseen_words

    def score(self, words: Sequence[str], sentence_offsets: Offsets) -> ChainScores:
        """Score a packed batch; see `service.taggers.base.Tagger.score`."""
        return ChainScores(self._rows.gather(words), self._transitions, sentence_offsets)

    def _guess_rows(self, words: Sequence[str]) -> NDArray[np.floating[Any]]:
        """Rows of N unseen words, (N, K)."""
        return np.array([self._guess_row(word) for word in words])

    def _guess_row(self, word: str) -> NDArray[np.floating[Any]]:
        """The row (K,) of the word in other case, or of its longest known suffix."""
        row: NDArray[np.floating[Any]]
        for other in (word.lower(), word.capitalize()):
            if other in self._words:
                row = self._emissions[self._words[other]]
                return row
        known = self._suffixes
        row = self._suffix_emissions[next(known[key] for key in suffix_keys(word) if key in known)]
        return row


def suffix_keys(word: str) -> list[str]:
    """Suffixes of a word as the suffix model names them, the longest first, the empty one last.

    All but the last begin with the word's class, since endings mean different things in names,
    in numbers and in other words: ``Xing``, ``Xng``, ``Xg``, ``X`` and the empty string.
    """
    kind = _word_class(word)
    ending = word[-MAX_SUFFIX_CHARS:].lower()
    return [kind + ending[i:] for i in range(len(ending) + 1)] + [""]


def _word_class(word: str) -> str:
    if any(map(str.isdigit, word)):
        return "d"
    if word.isupper() and len(word) > 1:
        return "U"
    if word[:1].isupper():
        return "X"
    return "-" if "-" in word else "x"
