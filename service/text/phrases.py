"""Phrases of a caller, matched over the words of sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from service.text.tokens import Offsets


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words, and whether they match in their own case alone or in any."""

    words: tuple[str, ...]
    match_case: bool

    def folded(self) -> "Phrase":
        """A phrase that matches the same, and is equal to all others that do."""
        if self.match_case:
            return self
        return Phrase(tuple(word.lower() for word in self.words), match_case=False)


@dataclass(frozen=True, slots=True)
class _Node:
    """A beginning of phrases: what it may go on with, and the phrases it is."""

    following: dict[str, "_Node"] = field(default_factory=dict)
    phrases: list[int] = field(default_factory=list)


class PhraseMatcher:
    """Finds phrases as gazetteers do: the longest that begins at a word, and on behind it.

    Phrases that match in their own case have a tree of their own. In one with the others, a word
    would be compared with each way to write it.

    Parameters
    ----------
    phrases : N phrases of at least one word each; several may be of the same words.
    """

    def __init__(self, phrases: Sequence[Phrase]) -> None:
        self._any_case, self._own_case = _Node(), _Node()
        for i, phrase in enumerate(phrases):
            node = self._own_case if phrase.match_case else self._any_case
            for word in phrase.folded().words:
                node = node.following.setdefault(word, _Node())
            node.phrases.append(i)

    def match(
        self, words: Sequence[str], sentence_offsets: Offsets
    ) -> Iterator[tuple[int, int, list[int]]]:
        """Find the phrases in M words; no match leaves its sentence.

        Yields
        ------
        Start and end of a match, and the phrases that it is, in order. Matches do not overlap.
        """
        folded = [word.lower() for word in words]
        any_case, own_case = self._any_case.following, self._own_case.following
        for first, end in pairwise(sentence_offsets.tolist()):
            free = first
            for start in range(first, end):
                if start >= free and (folded[start] in any_case or words[start] in own_case):
                    stop, phrases = _longer(
                        _longest(self._any_case, folded, start, end),
                        _longest(self._own_case, words, start, end),
                    )
                    if phrases:
                        yield start, stop, phrases
                        free = stop


_Match = tuple[int, list[int]]
"""The end of a match, and its phrases; maybe none."""


def _longest(root: _Node, words: Sequence[str], start: int, end: int) -> _Match:
    """The longest match that begins at `start`."""
    longest, found, node = start, list[int](), root
    for stop in range(start + 1, end + 1):
        following = node.following.get(words[stop - 1])
        if following is None:
            break
        node = following
        if node.phrases:
            longest, found = stop, node.phrases
    return longest, found


def _longer(one: _Match, other: _Match) -> _Match:
    """The longer of two matches that begin at the same word; both, where they end at the same."""
    if one[0] == other[0]:
        return one[0], sorted(one[1] + other[1])
    return max(one, other)
