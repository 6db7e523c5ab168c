"""The words of the training data whose rows a tagger makes when it loads."""

from collections import Counter
from collections.abc import Iterable

from service.text.conll import TaggedSentence

ROWS_AT_LOAD = 1_000
"""Seven tokens in ten are among so many words; a row more is some 50 µs of every start."""


def frequent_words(sentences: Iterable[TaggedSentence]) -> list[str]:
    """The most frequent words of the sentences, in falling order, `ROWS_AT_LOAD` at most.

    What they are changes no answer: rows of other words are made when these first come.
    """
    counts = Counter(word for sentence in sentences for word in sentence.words)
    return [word for word, _ in counts.most_common(ROWS_AT_LOAD)]
