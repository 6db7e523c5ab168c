"""Documents, packed: what is taken out of them is what was put in."""

from itertools import pairwise, starmap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.packing import split_long_sentences
from service.text.tokenizer import Tokenizer
from service.text.tokens import Documents, Tokens

texts = st.sampled_from(["", " ", "He left. She didn't!", "a\n\nb", "😀 e\u0301. \ud83d Yes."])
sentences = st.lists(st.lists(st.sampled_from(["a", "b."]), max_size=5), max_size=4)
documents = st.lists(
    texts.map(Tokenizer().tokenize) | sentences.map(Tokens.from_sentences), max_size=5
)


def shown(tokens: Tokens) -> list[object]:
    places = [None if each is None else each.tolist() for each in (tokens.starts, tokens.ends)]
    return [list(tokens.words), tokens.sentence_offsets.tolist(), *places]


@given(documents)
def test_each_is_what_was_packed(parts: list[Tokens]) -> None:
    packed = Documents.of(parts)
    assert len(packed) == len(parts)
    assert list(map(shown, packed)) == list(map(shown, parts))
    assert Documents.of(packed) is packed


@given(documents, documents)
def test_packs_are_joined_and_taken_apart(one: list[Tokens], other: list[Tokens]) -> None:
    packed = Documents.joined([Documents.of(one), Documents.of(other)])
    assert list(map(shown, packed)) == list(map(shown, [*one, *other]))
    assert list(map(shown, packed[len(one) :])) == list(map(shown, other))


def test_one_that_is_not_there_is_an_error() -> None:
    packed = Tokenizer().tokenize_all(["a", "b"])
    assert packed[-1].words == ["b"]
    for index in (2, -3):
        with pytest.raises(IndexError):
            packed[index]


@given(documents)
def test_as_one_sentence_each_has_one_or_is_empty(parts: list[Tokens]) -> None:
    for whole, tokens in zip(Documents.of(parts).as_one_sentence(), parts, strict=True):
        assert whole.words == tokens.words
        size = len(tokens.words)
        assert whole.sentence_offsets.tolist() == ([0, size] if size else [0])


@given(documents, st.integers(1, 4))
def test_long_sentences_are_cut_where_they_reach_the_limit(parts: list[Tokens], limit: int) -> None:
    cut, pieces = split_long_sentences(Documents.of(parts), limit)
    assert [list(tokens.words) for tokens in cut] == [list(tokens.words) for tokens in parts]
    expected = [[_pieces(sentence, limit) for sentence in _sentences(each)] for each in parts]
    found = [_sentences(tokens) for tokens in cut]
    assert found == [[piece for of_one in each for piece in of_one] for each in expected]
    longer = [len(of_one) > 1 for each in expected for of_one in each for _ in of_one]
    assert pieces.tolist() == [index for index, is_piece in enumerate(longer) if is_piece]


def _sentences(tokens: Tokens) -> list[range]:
    return list(starmap(range, pairwise(tokens.sentence_offsets.tolist())))


def _pieces(sentence: range, limit: int) -> list[range]:
    return [sentence[i : i + limit] for i in range(0, len(sentence), limit)] or [sentence]
