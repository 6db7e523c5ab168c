"""A caller's dictionary as evidence: phrases that are likely spans, or unlikely ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

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
        self._matcher = PhraseMatcher([entry.phrase for entry in entries])
        self._gains = []  # of each entry (K,) to the first word, and (K,) to the others
        for entry in entries:
            gains = entry.weight * np.array([name == entry.label for name in states.names])
            self._gains.append((gains * states.begins, gains * states.continues))

    def evidence(self, words: Sequence[str], sentence_offsets: Offsets) -> Iterator[Evidence]:
        """What the matches in M words of a packed batch add to their emissions."""
        for start, end, entries in self._matcher.match(words, sentence_offsets):
            for entry in entries:
                of_first, of_others = self._gains[entry]
                yield Evidence(start, start + 1, of_first)
                if end > start + 1:
                    yield Evidence(start + 1, end, of_others)
