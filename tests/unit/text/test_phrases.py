import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.text.phrases import Phrase, PhraseMatcher

words = st.sampled_from(["new", "New", "york", "York", "times"])
phrases = st.lists(
    st.builds(Phrase, st.lists(words, min_size=1, max_size=3).map(tuple), st.booleans()),
    max_size=5,
)


def match(phrases, *sentences):
    offsets = np.array([0, *itertools.accumulate(map(len, sentences))])
    return list(PhraseMatcher(phrases).match(list(itertools.chain(*sentences)), offsets))


def fits(phrase, words):
    if phrase.match_case:
        return phrase.words == tuple(words)
    return [word.lower() for word in phrase.words] == [word.lower() for word in words]


@given(phrases, st.lists(st.lists(words, max_size=5), max_size=3))
def test_the_longest_phrase_that_begins_at_a_word_wins(phrases, sentences):
    expected, first = [], 0
    for sentence in sentences:
        free = 0
        for start in range(len(sentence)):
            for end in range(len(sentence), start, -1):
                found = [i for i, p in enumerate(phrases) if fits(p, sentence[start:end])]
                if start >= free and found:
                    expected.append((first + start, first + end, found))
                    free = end
        first += len(sentence)
    assert match(phrases, *sentences) == expected


def test_case_matters_where_it_is_asked_for():
    both = [Phrase(("Apple",), True), Phrase(("apple",), False)]
    assert match(both, ["Apple", "apple", "APPLE"]) == [(0, 1, [0, 1]), (1, 2, [1]), (2, 3, [1])]


def test_a_long_phrase_that_does_not_match_hides_no_shorter_one():
    assert match(
        [Phrase(("new", "york", "Times"), True), Phrase(("new", "york"), False)],
        ["New", "York", "times"],
    ) == [(0, 2, [1])]
