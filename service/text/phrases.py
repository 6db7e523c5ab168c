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


@dataclass(frozen=True, slots=True)
class _Node:
    """A beginning of phrases, in lower case: what it may go on with, and the phrases it is."""

    following: dict[str, "_Node"] = field(default_factory=dict)
    phrases: list[int] = field(default_factory=list)


class PhraseMatcher:
    """Finds phrases as gazetteers do: the longest that begins at a word, and on behind it.

    Parameters
    ----------
    phrases : N phrases of at least one word each; several may be of the same words.
    """

    def __init__(self, phrases: Sequence[Phrase]) -> None:
        self._phrases = phrases
        self._root = _Node()
        for i, phrase in enumerate(phrases):
            node = self._root
            for word in phrase.words:
                node = node.following.setdefault(word.lower(), _Node())
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
        for first, end in pairwise(sentence_offsets.tolist()):
            free = first
            for start in range(first, end):
                if start >= free and folded[start] in self._root.following:
                    stop, phrases = self._longest(words, folded, start, end)
                    if phrases:
                        yield start, stop, phrases
                        free = stop

    def _longest(
        self, words: Sequence[str], folded: Sequence[str], start: int, end: int
    ) -> tuple[int, list[int]]:
        """The end of the longest match that begins at `start`, and its phrases; maybe none."""
        longest, found, node = start, list[int](), self._root
        for stop in range(start + 1, end + 1):
            following = node.following.get(folded[stop - 1])
            if following is None:
                break
            node = following
            if matching := [i for i in node.phrases if self._fits(i, words[start:stop])]:
                longest, found = stop, matching
        return longest, found

    def _fits(self, i: int, words: Sequence[str]) -> bool:
        phrase = self._phrases[i]
        return not phrase.match_case or phrase.words == tuple(words)
