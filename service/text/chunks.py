"""Chunks of text between white space, and the pieces that each splits into: kept, by number.

How a chunk splits depends on that chunk alone, so it is worked out once. What is kept of it are
rows of numbers, so that a text becomes words by a look-up a chunk and a few array operations.
"""

from threading import Lock

import numpy as np

from service.text.growing import GrowingRows
from service.text.pieces import pieces_of
from service.text.sentences import cues_of
from service.text.tokens import consecutive
from service.text.words import Ids, Vocabulary

_COUNT_BITS = 32
_COUNT = (1 << _COUNT_BITS) - 1
"""A chunk is found by one number: its first piece, and in the lower bits how many it has."""


class Chunks(dict[str, int]):
    """Where the pieces of chunks are: `chunks[chunk]` splits one that is new.

    It grows, and never changes a number or a row. All threads may share it.

    Attributes
    ----------
    vocabulary : the words that the pieces are.
    characters : those of all chunks together.
    """

    def __init__(self) -> None:
        super().__init__()
        self.vocabulary = Vocabulary()
        self.characters = 0
        self._lock = Lock()
        self._pieces = GrowingRows((3,))  # of each piece: its word, how many characters, its cue

    def __missing__(self, chunk: str) -> int:
        """Split a chunk, and keep how."""
        pieces = pieces_of(chunk)
        cues = cues_of(pieces)
        with self._lock:
            if chunk in self:  # another thread was faster
                return self[chunk]
            words = list(map(self.vocabulary.id_of, pieces))
            first = self._pieces.add(np.array([words, list(map(len, pieces)), list(cues)]).T)
            self.characters += len(chunk)
            where = first << _COUNT_BITS | len(pieces)
            self[chunk] = where  # last, so that who finds it finds its rows
        return where

    def pieces(self, where: Ids) -> Ids:
        """The M pieces of C chunks, in order.

        Parameters
        ----------
        where : (C,) what the chunks are found by.

        Returns
        -------
        (M, 3): of each piece its number in `vocabulary`, how many characters it has, and its cue:
        see `service.text.sentences`.
        """
        rows = consecutive(where >> _COUNT_BITS, where & _COUNT)
        of_pieces: Ids = self._pieces.array.take(rows, axis=0)
        return of_pieces
