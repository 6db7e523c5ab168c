import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.spelling import CASES, MAX_CHARACTERS, case_of, characters_of, vector_keys


@pytest.mark.parametrize(
    ("word", "case"),
    [
        ("obama", "lower"),
        ("Obama", "title"),
        ("NATO", "upper"),
        ("A", "capital"),
        ("iPhone", "mixed"),
        ("McDonald", "mixed"),
        ("北京", "caseless"),
        ("1975", "digits"),
        ("5,975.74", "digits"),
        ("B2B", "alphanumeric"),
        ("...", "other"),
        ("👍🏽", "other"),
        ("U.S.", "upper"),
        ("can't", "lower"),
        ("Jean-luc", "title"),
    ],
)
def test_the_case_of_a_word(word, case):
    assert CASES[case_of(word)] == case


@given(st.text(min_size=1))
def test_every_word_has_a_case_keys_and_characters(word):
    assert 0 <= case_of(word) < len(CASES)
    assert word.lower() in vector_keys(word)
    assert 1 <= len(characters_of(word)) <= MAX_CHARACTERS


def test_digits_fall_back_to_zeros():
    assert vector_keys("Top10") == ("top10", "top00")
    assert vector_keys("the") == ("the",)


def test_of_a_long_word_both_ends_are_read():
    assert characters_of("a" * 50 + "b" * 50) == "a" * 12 + "b" * 12
