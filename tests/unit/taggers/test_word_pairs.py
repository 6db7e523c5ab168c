from itertools import pairwise

import numpy as np

from service.taggers.word_pairs import WordPairs

ROWS = {
    ("a", "b"): [[1, 2], [3, 4]],
    ("b", "a"): [[10, 20], [30, 40]],
    ("", "a"): [[100, 200], [300, 400]],
    ("b", "b"): [[5, 5], [7, 7]],
}
PAIRS = WordPairs(list(ROWS), np.array(list(ROWS.values()), dtype=np.float32))


def added(*words, pairs=PAIRS):
    emissions = np.zeros((len(words), 2), dtype=np.float32)
    pairs.add(emissions, np.array([pairs.id_of(word) for word in words], dtype=np.int64))
    return emissions.tolist()


def test_a_pair_adds_a_row_to_each_of_its_words():
    assert added("a", "b") == [[1, 2], [3, 4]]
    assert added("", "a") == [[100, 200], [300, 400]]


def test_the_rows_of_overlapping_pairs_add_up():
    assert added("a", "b", "a") == [[1, 2], [13, 24], [30, 40]]
    assert added("b", "b", "b") == [[5, 5], [12, 12], [7, 7]]


def test_words_in_no_pair_and_pairs_that_are_not_known_add_nothing():
    assert added("x", "a", "x", "a", "a") == [[0, 0]] * 5
    assert added("a", "", "x", "b", "", "b") == [[0, 0]] * 6
    assert added("a") == [[0, 0]]
    assert added() == []


def test_no_pairs_add_nothing():
    assert added("a", "b", pairs=WordPairs([], np.zeros((0, 2, 2), np.float32))) == [[0, 0]] * 2


def test_it_says_which_pairs_it_knows():
    words = ["", "a", "b", "x"]
    known = {(a, b) for a in words for b in words if PAIRS.knows((a, b))}
    assert known == set(ROWS)


def test_of_many_pairs_those_that_are_known_are_found():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(200)]
    known = {(words[a], words[b]) for a, b in rng.integers(0, 200, (5000, 2))}
    pairs = WordPairs(sorted(known), np.ones((len(known), 2, 1), dtype=np.float32))
    text = rng.choice(words, 20_000).tolist()
    emissions = np.zeros((len(text), 1), dtype=np.float32)
    pairs.add(emissions, np.array(list(map(pairs.id_of, text)), dtype=np.int64))
    is_known = [0, *((pair in known) for pair in pairwise(text)), 0]
    assert emissions[:, 0].tolist() == [before + after for before, after in pairwise(is_known)]
