"""Contextual vectors that are kept are those that the source gives, and are asked for once."""

import numpy as np

from service.text.tokens import Tokens
from service.training.kept_vectors import KeptVectors

SENTENCES = [["a", "b"], [], ["c"], ["a", "b"], ["d", "e", "f"]]


class Source:
    """Numbers the words that it is asked about, those of a sentence anew."""

    layers = 2
    width = 3

    def __init__(self):
        self.asked = []

    def encode(self, words, sentence_offsets):
        self.asked += words
        lengths = np.diff(sentence_offsets)
        places = np.concatenate([np.arange(n) for n in lengths] or [[]])
        numbers = [ord(word) + place for word, place in zip(words, places, strict=True)]
        shape = (len(words), self.layers, self.width)
        return np.broadcast_to(np.reshape(numbers, (-1, 1, 1)), shape).astype(np.float32)


def encode(source, sentences):
    tokens = Tokens.from_sentences(sentences)
    return source.encode(tokens.words, tokens.sentence_offsets)


def test_they_are_those_of_the_source_in_order():
    kept = KeptVectors(Source(), most_words=4)
    for sentences in (SENTENCES, SENTENCES[::-1], [], [[]]):
        found = encode(kept, sentences)
        assert found.dtype == np.float32
        assert np.array_equal(found, encode(Source(), sentences))


def test_a_sentence_is_asked_for_once_as_long_as_there_is_room():
    source = Source()
    kept = KeptVectors(source, most_words=4)
    encode(kept, SENTENCES)
    assert source.asked == list("abcdef")
    encode(kept, SENTENCES)
    assert source.asked == list("abcdefdef")
