"""Which word vectors a biLSTM-CRF has, and what they are before training."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from service.text.conll import TaggedSentence
from service.text.spelling import vector_keys


def choose_words(
    sentences: Sequence[TaggedSentence], pretrained: Sequence[str], most: int, min_count: int
) -> list[str]:
    """The names of the word vectors: those of training words, then frequent pretrained ones.

    Parameters
    ----------
    sentences : training sentences.
    pretrained : names of pretrained vectors, the frequent first.
    most : how many to choose.
    min_count : a training word without a pretrained vector must come as often.
    """
    known = set(pretrained)
    counts = Counter(key for s in sentences for word in s.words for key in vector_keys(word))
    chosen = dict.fromkeys(
        key for key, count in counts.most_common() if key in known or count >= min_count
    )
    chosen.update(dict.fromkeys(pretrained))
    return list(chosen)[:most]


def initial_vectors(
    words: Sequence[str],
    pretrained: Sequence[str],
    vectors: NDArray[np.float32],
    width: int,
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """Pretrained vectors where there are some, small random ones elsewhere: (V + 1, D).

    The last row is that of unknown words.
    """
    bound = np.sqrt(3 / width)
    table = rng.uniform(-bound, bound, (len(words) + 1, width)).astype(np.float32)
    position = {word: i for i, word in enumerate(pretrained)}
    for row, word in enumerate(words):
        if word in position:
            table[row] = vectors[position[word]]
    return table
