import gc

import numpy as np
import pytest

from service.taggers.word_rows import WordRows
from service.text.tokenizer import Tokenizer


class Counting:
    """Rows that say what word they are of, and a count of how often each was computed."""

    def __init__(self):
        self.computed = []

    def __call__(self, words):
        self.computed += words
        return np.array([[len(word), sum(map(ord, word))] for word in words], dtype=float)


@pytest.fixture
def compute():
    return Counting()


@pytest.fixture
def rows(compute):
    known = ["a", "bb"]
    table = compute(known)
    compute.computed.clear()
    return WordRows(known, table, compute, max_unseen=3)


def expected(words):
    return Counting()(words)


def test_rows_come_in_the_order_of_the_words(rows):
    words = ["x", "a", "yy", "bb", "x", "a"]
    assert (rows.gather(words) == expected(words)).all()


def test_known_words_are_never_computed_again(rows, compute):
    rows.gather(["a", "bb", "a"])
    assert compute.computed == []


def test_an_unseen_word_is_computed_once(rows, compute):
    rows.gather(["x", "x", "a"])
    rows.gather(["x"])
    assert compute.computed == ["x"]


def test_a_full_cache_makes_room_for_the_next_generation(rows, compute):
    for word in ["p", "q", "r", "s", "s", "p"]:
        assert (rows.gather([word]) == expected([word])).all()
    assert compute.computed == ["p", "q", "r", "s", "p"]


def test_more_unseen_words_than_the_cache_holds_are_all_right(rows):
    words = [f"w{i}" for i in range(20)]
    assert (rows.gather(words) == expected(words)).all()


def test_of_more_words_than_the_cache_holds_as_many_are_kept(rows, compute):
    rows.gather(["p"])
    words = [f"w{i}" for i in range(7)]
    rows.gather(words)
    assert rows.unseen_words.kept == 3
    compute.computed.clear()
    rows.gather(words)
    assert len(compute.computed) == 4


def test_a_very_long_word_is_not_kept(rows, compute):
    word = "x" * 1000
    rows.gather([word])
    rows.gather([word])
    assert compute.computed == [word, word]


def test_what_a_caller_got_never_changes(rows):
    got = rows.gather(["a", "x"])
    for word in ["p", "q", "r", "s"]:
        rows.gather([word])
    assert (got == expected(["a", "x"])).all()
    got[:] = 0
    assert (rows.gather(["a", "x"]) == expected(["a", "x"])).all()


def test_no_words_have_no_rows(rows):
    assert rows.gather([]).shape == (0, 2)


def test_a_cache_of_nothing_answers_the_same(compute):
    rows = WordRows(["a"], compute(["a"]), compute, max_unseen=0)
    assert (rows.gather(["x", "a", "x"]) == expected(["x", "a", "x"])).all()


def test_words_by_number_have_the_rows_of_their_strings(rows, compute):
    tokenizer = Tokenizer()
    for text in ["a x bb", "yy a", "x z z a bb " * 200]:
        words = tokenizer.tokenize(text).words
        assert (rows.gather(words) == expected(list(words))).all()
    assert compute.computed == ["x", "yy", "z"]


def test_words_by_number_are_right_when_a_generation_has_made_room(rows, compute):
    tokenizer, other = Tokenizer(), Tokenizer()
    for text in ["p q a", "q r s", "p s bb", "t u p", "q t"]:
        for words in (tokenizer.tokenize(text).words, other.tokenize(text).words):
            assert (rows.gather(words) == expected(list(words))).all()


def test_a_word_that_came_as_a_string_is_kept_for_its_number_too(rows, compute):
    words = Tokenizer().tokenize("x a").words
    rows.gather(["yy"])
    rows.gather(words)
    rows.gather(Tokenizer().tokenize("yy x").words)
    assert compute.computed == ["yy", "x"]


def test_what_the_cache_did_is_counted_by_tokens(rows):
    words = Tokenizer().tokenize("x x a y").words
    for _ in range(2):
        rows.gather(words)
    rows.gather(["y", "bb"])
    assert rows.unseen_words == (4, 3, 2)


def test_words_of_two_tokenizers_are_told_apart(rows):
    one, other = Tokenizer().tokenize("bb a x"), Tokenizer().tokenize("x bb bb a")
    for tokens in (one, other, one):
        assert (rows.gather(tokens.words) == expected(list(tokens.words))).all()


def test_a_vocabulary_that_is_dropped_is_forgotten(rows):
    for text in ("a b", "c d"):
        rows.gather(Tokenizer(0).tokenize(text).words)
    gc.collect()
    assert len(rows._places_in) == 0


def test_rows_that_are_computed_are_of_the_tables_type(compute):
    rows = WordRows(["a"], compute(["a"]).astype(np.float32), compute, max_unseen=3)
    for words in (["x", "a"], ["x"]):
        assert rows.gather(words).dtype == np.float32
        assert (rows.gather(words) == expected(words)).all()
