"""Small chains of scores, and their paths by enumeration: what decoders are held against."""

import itertools

import numpy as np
from hypothesis import strategies as st

from service.decoding import ChainScores, Transitions

BIO = ("O", "B-A", "I-A", "B-B", "I-B")
BIOES = ("O", "B-A", "I-A", "E-A", "S-A", "S-B")


def chain(emissions, transitions, start=None, end=None, offsets=None):
    """Scores with zeros where nothing is said; one sentence where no offsets are given."""
    emissions = np.array(emissions, dtype=float)
    tags = emissions.shape[1]
    return ChainScores(
        emissions=emissions,
        transitions=Transitions(
            between=np.array(transitions, dtype=float),
            start=np.zeros(tags) if start is None else np.array(start, dtype=float),
            end=np.zeros(tags) if end is None else np.array(end, dtype=float),
        ),
        offsets=np.array([0, len(emissions)] if offsets is None else offsets, dtype=np.int64),
    )


def path_score(scores, sentence, path):
    if not len(path):
        return 0.0
    first = scores.offsets[sentence]
    around = scores.transitions
    total = around.start[path[0]] + around.end[path[-1]]
    total += sum(scores.emissions[first + t, tag] for t, tag in enumerate(path))
    return total + sum(around.between[i, j] for i, j in itertools.pairwise(path))


def scored_paths(scores, sentence):
    """Every path of a sentence with its score; of one without tokens, the empty path."""
    length = scores.offsets[sentence + 1] - scores.offsets[sentence]
    paths = list(itertools.product(range(scores.emissions.shape[1]), repeat=int(length)))
    return [(path, path_score(scores, sentence, path)) for path in paths]


@st.composite
def random_scores(draw, values):
    """Up to four sentences of up to four tokens, over up to four tags."""
    tags = draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(0, 4), max_size=4))
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(int)

    def array(*shape):
        size = int(np.prod(shape))
        numbers = draw(st.lists(values, min_size=size, max_size=size))
        return np.array(numbers, dtype=float).reshape(shape)

    return chain(
        array(int(offsets[-1]), tags), array(tags, tags), array(tags), array(tags), offsets
    )


# Quarters add up exactly, so that equal scores are equal and every tie is a real one.
quarters = st.integers(-12, 12).map(lambda n: n / 4)
quarters_or_forbidden = st.one_of(quarters, st.just(-np.inf))
