"""`Words`: words by number, so that what is known of each is found without reading its letters."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import overload

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


class Vocabulary:
    """Different words, numbered as they come: 0 is the empty one, which is no word of a text.

    It grows; a word never changes its number.
    """

    def __init__(self) -> None:
        self.words = [""]
        self._ids = {"": 0}

    def __len__(self) -> int:
        return len(self.words)

    def id_of(self, word: str) -> int:
        """The number of a word, which is added if it is new. For one thread at a time."""
        number = self._ids.setdefault(word, len(self.words))
        if number == len(self.words):
            self.words.append(word)
        return number


class Words(Sequence[str]):
    """M words of a text, strings that are looked up when they are asked for.

    Attributes
    ----------
    ids : (M,) their numbers in `vocabulary`.
    vocabulary : that of the tokenizer which found them.
    """

    __slots__ = ("ids", "vocabulary")

    def __init__(self, ids: Ids, vocabulary: Vocabulary) -> None:
        self.ids = ids
        self.vocabulary = vocabulary

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> "Words": ...

    def __getitem__(self, index: int | slice) -> "str | Words":
        if isinstance(index, slice):
            return Words(self.ids[index], self.vocabulary)
        return self.vocabulary.words[int(self.ids[index])]

    def __iter__(self) -> Iterator[str]:
        return map(self.vocabulary.words.__getitem__, self.ids.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Words({list(self)!r})"


def joined(parts: Sequence[Sequence[str]]) -> Sequence[str]:
    """The words of all parts, one after another."""
    if len(parts) == 1:
        return parts[0]
    typed = [part for part in parts if isinstance(part, Words)]
    if len(typed) == len(parts) and len({id(part.vocabulary) for part in typed}) == 1:
        return Words(np.concatenate([part.ids for part in typed]), typed[0].vocabulary)
    return list(chain.from_iterable(parts))


def chosen(words: Sequence[str], indices: Ids) -> Sequence[str]:
    """The words at N indices, in their order."""
    if isinstance(words, Words):
        return Words(words.ids[indices], words.vocabulary)
    return [words[i] for i in indices.tolist()]


def spread(words: Sequence[str], places: Ids, size: int) -> Sequence[str]:
    """`size` words: M at as many different places, and the empty one at all others."""
    if isinstance(words, Words):
        ids = np.zeros(size, dtype=np.int64)
        ids[places] = words.ids
        return Words(ids, words.vocabulary)
    all_words = [""] * size
    for place, word in zip(places.tolist(), words, strict=True):
        all_words[place] = word
    return all_words
