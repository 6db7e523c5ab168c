"""Lists of names, matched over one or several tokens, as written and without regard to case."""

from collections.abc import Sequence
from itertools import accumulate, chain, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_CASINGS = ("exact", "folded")
POSITIONS = ("single", "first", "inside", "last", "before", "after")
"""Where a token stands in a match, or beside it."""

_SINGLE, _FIRST, _INSIDE, _LAST, _BEFORE, _AFTER = range(len(POSITIONS))

SINGLE_SEEN_AT = {1: _BEFORE, 0: _SINGLE, -1: _AFTER}
"""The position of a token that sees a match of one word at an offset from itself."""

Ids = NDArray[np.integer[Any]]


class Gazetteers:
    """C classes of phrases, such as cities and surnames.

    A match gives every token that it covers, and the one before and after it, features: for each
    class that the phrase is in, whether in the phrase's own casing, and where in the match the
    token stands. The classes and the casing together are the match's set.

    What a word is by itself callers may keep by word (`single`, `first`, `second`); then `longer`
    has a look at those words alone that a longer phrase begins with.

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

    def match(self, words: Sequence[str]) -> list["Mark"]:
        """Find the phrases in the words of sentences, and what features they give.

        The longest phrase that begins at a token wins, and matching goes on behind it. It never
        leaves the sentence: the boundary word, which is empty, is in no phrase.

        Parameters
        ----------
        words : P words, a boundary word before and after each sentence.

        Returns
        -------
        The marks of all matches, some of which are at boundary words.
        """
        of_word = (self.first, self.second)
        longer = self.longer(words, *(np.array(list(map(of, words))) for of in of_word))
        covered = set(chain.from_iterable(range(match.start, match.end) for match in longer))
        single = [
            marks_of(Match(place, place + 1, which))
            for place, which in enumerate(map(self.single, words))
            if which >= 0 and place not in covered
        ]
        # This order is that of the features of the models that ship.
        return [*chain(*zip(*single, strict=True)), *chain.from_iterable(map(marks_of, longer))]

    def longer(self, words: Sequence[str], firsts: Ids, seconds: Ids) -> list["Match"]:
        """Find the phrases of several words alone, in order.

        Parameters
        ----------
        words : as of `match`.
        firsts, seconds : (P,) `first` and `second` of each.
        """
        found: list[Match] = []
        free = 0
        for first in self._places(firsts, seconds).tolist():
            if first < free:
                continue
            phrase = self._longest(words, first)
            if len(phrase) > 1:
                free = first + len(phrase)
                found.append(Match(first, free, self._set_of(" ".join(phrase))))
        return found

    def _places(self, firsts: Ids, seconds: Ids) -> Ids:
        """Where two words stand that a phrase begins with."""
        places: Ids = ((firsts[:-1] >= 0) & (seconds[1:] >= 0)).nonzero()[0]
        if not len(places):
            return places
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


class Match(NamedTuple):
    """The words from `start` to `end` (half-open) are a phrase of the set `which`."""

    start: int
    end: int
    which: int


class Mark(NamedTuple):
    """The word at `place` has the features ``features[which][position]``."""

    place: int
    which: int
    position: int


def marks_of(match: Match) -> list[Mark]:
    """What a match marks: its words, and the one before and after it."""
    inside = match.end - match.start
    within = [_FIRST, *[_INSIDE] * (inside - 2), _LAST] if inside > 1 else [_SINGLE]
    positions = enumerate([_BEFORE, *within, _AFTER], match.start - 1)
    return [Mark(place, match.which, position) for place, position in positions]


def _names_of(classes: Sequence[str], member: int) -> list[str]:
    """The names of the classes whose bits are set."""
    return [name for c, name in enumerate(classes) if member >> c & 1]
