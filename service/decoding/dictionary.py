"""A caller's dictionary as evidence: phrases that are likely spans, or unlikely ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.decoding.evidence import Evidence
from service.text.phrases import Phrase, PhraseMatcher
from service.text.spans import span_states
from service.text.tokens import Offsets


@dataclass(frozen=True, slots=True)
class Entry:
    """A phrase, the label of the spans that it may be, and what a word of such a span gains."""

    phrase: Phrase
    label: str
    weight: float


class Dictionary:
    """Entries, compiled for one tagger.

    Where a phrase matches, its first word gains the entry's weight in the states that begin spans
    of the entry's label, and its other words in those that continue them, as if a feature of a
    gazetteer had fired there. So a span of n words gains n times the weight. It is no constraint:
    the span may still begin before the match, end behind it, or not be there.

    Parameters
    ----------
    entries : their labels are among those of the spans.
    labels : the BIO tags that the K states bear.
    """

    def __init__(self, entries: Sequence[Entry], labels: tuple[str, ...]) -> None:
        states = span_states(labels)
        weights: dict[Phrase, NDArray[np.float64]] = {}  # (K,), together for entries of one phrase
        for entry in entries:
            gains = entry.weight * np.array([name == entry.label for name in states.names])
            phrase = entry.phrase.folded()
            weights[phrase] = weights.get(phrase, 0.0) + gains
        self._matcher = PhraseMatcher(list(weights))
        # Of each phrase (K,) to the first word, and (K,) to the others.
        self._gains = [(each * states.begins, each * states.continues) for each in weights.values()]

    def evidence(self, words: Sequence[str], sentence_offsets: Offsets) -> Iterator[Evidence]:
        """What the matches in M words of a packed batch add to their emissions."""
        for start, end, phrases in self._matcher.match(words, sentence_offsets):
            for phrase in phrases:
                of_first, of_others = self._gains[phrase]
                yield Evidence(start, start + 1, of_first)
                if end > start + 1:
                    yield Evidence(start + 1, end, of_others)
