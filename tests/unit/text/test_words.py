"""Words by number are the words that they stand for, however they are taken apart and joined."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.words import Vocabulary, Words, chosen, joined, spread

strings = st.lists(st.sampled_from(["a", "b", "A", "é", "e\u0301", "\ud83d", "😀"]), max_size=8)


def numbered(strings: list[str], vocabulary: Vocabulary | None = None) -> Words:
    known = Vocabulary() if vocabulary is None else vocabulary
    return Words(np.array(list(map(known.id_of, strings)), dtype=np.int64), known)


@given(strings, st.slices(8))
def test_they_are_a_sequence_of_their_strings(expected: list[str], part: slice) -> None:
    words = numbered(expected)
    assert len(words) == len(expected)
    assert list(words) == expected
    assert words == expected
    assert [words[i] for i in range(len(words))] == expected
    assert words[part] == expected[part]
    assert (words == [*expected, "a"]) is False


def test_a_word_never_changes_its_number() -> None:
    vocabulary = Vocabulary()
    before = [vocabulary.id_of(word) for word in ("", "b", "a", "b")]
    assert before == [0, 1, 2, 1]
    assert [vocabulary.id_of(word) for word in ("", "b", "a")] == [0, 1, 2]
    assert vocabulary.words == ["", "b", "a"]


@given(st.lists(strings, max_size=4))
def test_joined_they_follow_each_other(parts: list[list[str]]) -> None:
    vocabulary = Vocabulary()
    expected = [word for part in parts for word in part]
    assert joined([numbered(part, vocabulary) for part in parts]) == expected
    assert joined([numbered(part) for part in parts]) == expected
    assert joined([*parts, numbered(["a"])]) == [*expected, "a"]


@pytest.mark.parametrize("make", [list, numbered])
def test_some_are_chosen_and_spread_among_empty_ones(make: type[list[str]]) -> None:
    words = make(["a", "b", "c"])
    assert chosen(words, np.array([2, 0, 2])) == ["c", "a", "c"]
    assert spread(words, np.array([1, 2, 4]), 6) == ["", "a", "b", "", "c", ""]
    assert spread(make([]), np.array([], dtype=np.int64), 2) == ["", ""]
