"""Lists of names, matched over one or several tokens, as written and without regard to case."""

from collections.abc import Sequence
from itertools import accumulate, product, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CASINGS = ("exact", "folded")
POSITIONS = ("single", "first", "inside", "last", "before", "after")
"""Where a token stands in a match, or beside it."""

_SINGLE, _FIRST, _INSIDE, _LAST, _BEFORE, _AFTER = range(len(POSITIONS))

_BESIDE = np.array([[-1], [0], [1]])
_POSITIONS_OF_SINGLE = np.array([[_BEFORE], [_SINGLE], [_AFTER]])

Ids = NDArray[np.integer[Any]]


class Gazetteers:
    """C classes of phrases, such as cities and surnames.

    A match gives every token that it covers, and the one before and after it, features: for each
    class that the phrase is in, whether in the phrase's own casing, and where in the match the
    token stands. The classes and the casing together are the match's set.

    What a word is by itself callers keep by word (`single`, `first`, `second`); then `match` has a
    look at those words alone that a longer phrase begins with.

    Parameters
    ----------
    classes : the C names of the classes, at most 31.
    phrases : N phrases, tokens joined by one blank.
    members : (N,) integers: bit c is set where the phrase is in class c.
    """

    def __init__(
        self, classes: Sequence[str], phrases: Sequence[str], members: NDArray[np.integer]
    ) -> None:
        self._exact = dict(zip(phrases, members.tolist(), strict=True))
        # In lower case every beginning of a phrase is a key; one that is no phrase is in no class.
        self._folded: dict[str, int] = {}
        self._firsts: dict[str, int] = {}  # first and second words of phrases of several
        self._seconds: dict[str, int] = {}
        beginnings: set[tuple[int, int]] = set()
        for phrase, member in self._exact.items():
            folded = phrase.lower()
            self._folded[folded] = self._folded.get(folded, 0) | member
            if " " in folded:
                words = folded.split(" ")
                first = self._firsts.setdefault(words[0], len(self._firsts))
                beginnings.add((first, self._seconds.setdefault(words[1], len(self._seconds))))
                for beginning in accumulate(words[:-1], "{} {}".format):
                    self._folded.setdefault(beginning, 0)
        keys = (first * len(self._seconds) + second for first, second in beginnings)
        self._beginnings = np.array([*sorted(keys), -1], dtype=np.int64)  # the last is none's
        sets = dict.fromkeys(product((0, 1), sorted({*members.tolist(), *self._folded.values()})))
        self._sets = {which: i for i, which in enumerate(sets)}
        self.features = [
            [
                [f"{name}:{_CASINGS[casing]}:{position}" for name in _names_of(classes, member)]
                for position in POSITIONS
            ]
            for casing, member in sets
        ]
        """The names of the features of each set at each of `POSITIONS`."""

    def single(self, word: str) -> int:
        """The set of a word that is a phrase by itself; -1 where it is none."""
        return self._set_of(word)

    def first(self, word: str) -> int:
        """The number of a word that is the first of phrases of several; -1 where it is of none."""
        return self._firsts.get(word.lower(), -1)

    def second(self, word: str) -> int:
        """The number of a word that is the second of phrases; -1 where it is of none."""
        return self._seconds.get(word.lower(), -1)

    def match(
        self, words: Sequence[str], singles: Ids, firsts: Ids, seconds: Ids
    ) -> tuple[Ids, Ids, Ids]:
        """Find the phrases in the words of sentences.

        The longest phrase that begins at a token wins, and matching goes on behind it. It never
        leaves the sentence: the boundary word, which is empty, is in no phrase.

        Parameters
        ----------
        words : P words, a boundary word before and after each sentence.
        singles, firsts, seconds : (P,) `single`, `first` and `second` of each.

        Returns
        -------
        tokens, sets, positions : (N,) each: at token ``tokens[n]`` stand the features
            ``features[sets[n]][positions[n]]``. Boundary words may have features of what stands
            beside them.
        """
        alone = singles >= 0
        longer: list[tuple[int, int, int]] = []  # token, set, position
        free = 0
        for first in self._places(firsts, seconds).tolist():
            if first < free:
                continue
            phrase = self._longest(words, first)
            if len(phrase) > 1:
                free = first + len(phrase)
                alone[first:free] = False
                which = self._set_of(" ".join(phrase))
                positions = (_BEFORE, _FIRST, *[_INSIDE] * (len(phrase) - 2), _LAST, _AFTER)
                longer += zip(range(first - 1, free + 1), repeat(which), positions)
        tokens = alone.nonzero()[0]  # (n,)
        matches = np.empty((3, 3 * len(tokens) + len(longer)), dtype=np.int64)
        single = matches[:, : 3 * len(tokens)].reshape(3, 3, -1)
        single[0] = tokens + _BESIDE  # before, alone, after
        single[1] = singles[tokens]
        single[2] = _POSITIONS_OF_SINGLE
        if longer:
            matches[:, 3 * len(tokens) :] = np.array(longer).T
        return matches[0], matches[1], matches[2]

    def _places(self, firsts: Ids, seconds: Ids) -> Ids:
        """Where two words stand that a phrase begins with."""
        places: Ids = ((firsts[:-1] >= 0) & (seconds[1:] >= 0)).nonzero()[0]
        keys = firsts[places].astype(np.int64) * len(self._seconds) + seconds[places + 1]
        found: Ids = places[self._beginnings[self._beginnings[:-1].searchsorted(keys)] == keys]
        return found

    def _longest(self, words: Sequence[str], first: int) -> Sequence[str]:
        """The words of the longest phrase that begins at token `first`; none where none does."""
        stop = after = first
        beginning = words[first].lower()
        while (member := self._folded.get(beginning)) is not None:
            after += 1
            if member:
                stop = after
            beginning = f"{beginning} {words[after].lower()}"
        return words[first:stop]

    def _set_of(self, phrase: str) -> int:
        """The set of a phrase, by its own casing if it has it, else by any; -1 where it is none."""
        if phrase in self._exact:
            return self._sets[0, self._exact[phrase]]
        member = self._folded.get(phrase.lower())
        return self._sets[1, member] if member else -1


def _names_of(classes: Sequence[str], member: int) -> list[str]:
    """The names of the classes whose bits are set."""
    return [name for c, name in enumerate(classes) if member >> c & 1]
