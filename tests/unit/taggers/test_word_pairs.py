import numpy as np

from service.taggers.word_pairs import WordPairs

ROWS = {
    ("a", "b"): np.array([[1, 2], [3, 4]], dtype=np.float32),
    ("b", "a"): np.array([[10, 20], [30, 40]], dtype=np.float32),
    ("", "a"): np.array([[100, 200], [300, 400]], dtype=np.float32),
    ("b", "b"): np.array([[5, 5], [7, 7]], dtype=np.float32),
}


def added(*words):
    emissions = np.zeros((len(words), 2), dtype=np.float32)
    WordPairs(ROWS, tags=2).add(emissions, words)
    return emissions.tolist()


def test_a_pair_adds_a_row_to_each_of_its_words():
    assert added("a", "b") == [[1, 2], [3, 4]]
    assert added("", "a") == [[100, 200], [300, 400]]


def test_the_rows_of_overlapping_pairs_add_up():
    assert added("a", "b", "a") == [[1, 2], [13, 24], [30, 40]]
    assert added("b", "b", "b") == [[5, 5], [12, 12], [7, 7]]


def test_words_in_no_pair_and_pairs_that_are_not_known_add_nothing():
    assert added("x", "a", "x", "a", "a") == [[0, 0]] * 5
    assert added("a") == [[0, 0]]
    assert added() == []


def test_no_pairs_add_nothing():
    emissions = np.zeros((2, 2), dtype=np.float32)
    WordPairs({}, tags=2).add(emissions, ["a", "b"])
    assert not emissions.any()
