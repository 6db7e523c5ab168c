"""Lists of names, matched over one or several tokens, as written and without regard to case."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

_CASINGS = ("exact", "folded")
_POSITIONS = ("single", "first", "inside", "last", "before", "after")
_SINGLE, _FIRST, _INSIDE, _LAST, _BEFORE, _AFTER = range(len(_POSITIONS))

Ids = NDArray[np.int64]


class Gazetteers:
    """C classes of phrases, such as cities and surnames.

    A match gives every token that it covers, and the one before and after it, a feature: which
    class, whether in the phrase's own casing, and where in the match the token stands.

    Parameters
    ----------
    classes : the C names of the classes, at most 31.
    phrases : N phrases, tokens joined by one blank.
    members : (N,) integers: bit c is set where the phrase is in class c.
    """

    def __init__(
        self, classes: Sequence[str], phrases: Sequence[str], members: NDArray[np.integer]
    ) -> None:
        self.names = tuple(map(":".join, product(classes, _CASINGS, _POSITIONS)))
        """The F names of the features, by feature id."""
        self._exact = dict(zip(phrases, members.tolist(), strict=True))
        # In lower case every beginning of a phrase is a key; one that is no phrase is in no class.
        self._folded: dict[str, int] = {}
        for phrase, member in self._exact.items():
            folded = phrase.lower()
            self._folded[folded] = self._folded.get(folded, 0) | member
            while " " in folded:
                folded = folded.rpartition(" ")[0]
                self._folded.setdefault(folded, 0)
        self._bases = {  # the first feature id of each class and casing, by member and casing
            (member, casing): [
                (c * len(_CASINGS) + casing) * len(_POSITIONS)
                for c in range(len(classes))
                if member >> c & 1
            ]
            for member in {*self._exact.values(), *self._folded.values()}
            for casing in range(len(_CASINGS))
        }

    def match(self, words: Sequence[str], lowered: Sequence[str]) -> tuple[Ids, Ids]:
        """Find the features of words.

        The longest phrase that begins at a token wins, and matching goes on behind it. It never
        leaves the sentence: the boundary word, which is empty, is in no phrase.

        Parameters
        ----------
        words : the words of sentences, a boundary word before and after each.
        lowered : the same in lower case.

        Returns
        -------
        tokens, features : (N,) each: token ``tokens[n]`` has feature ``features[n]``. Boundary
            words may have features of what stands beside them.
        """
        tokens: list[int] = []
        features: list[int] = []
        free = 0
        for i in [i for i, word in enumerate(lowered) if word in self._folded]:
            stop = self._longest(lowered, i) if i >= free else i
            if stop == i:
                continue
            free = stop
            member = self._exact.get(" ".join(words[i:stop]))
            if member is not None:
                bases = self._bases[member, 0]
            else:
                bases = self._bases[self._folded[" ".join(lowered[i:stop])], 1]
            positions = (_BEFORE, *_covered(stop - i), _AFTER)
            for token, position in zip(range(i - 1, stop + 1), positions, strict=True):
                tokens += [token] * len(bases)
                features += [base + position for base in bases]
        return np.array(tokens, dtype=np.int64), np.array(features, dtype=np.int64)

    def _longest(self, lowered: Sequence[str], i: int) -> int:
        """Where the longest phrase that begins at token i ends; i where none does."""
        stop = after = i
        beginning = lowered[i]
        while (member := self._folded.get(beginning)) is not None:
            after += 1
            if member:
                stop = after
            beginning = f"{beginning} {lowered[after]}"
        return stop


def _covered(length: int) -> tuple[int, ...]:
    """The positions of the tokens of a match."""
    if length == 1:
        return (_SINGLE,)
    return (_FIRST, *(_INSIDE,) * (length - 2), _LAST)
