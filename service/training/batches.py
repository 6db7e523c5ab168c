"""Sentences as padded batches of numbers: what the network reads of them."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from service.taggers.contextual import ContextualVectors
from service.text.conll import TaggedSentence
from service.text.spelling import case_of, characters_of, vector_keys
from service.text.tokens import Tokens
from service.training.distillation import Expectation
from service.training.network import Batch, Lesson
from service.training.word_network import WordTypes

_MIN_CHARACTER_COUNT = 3


@dataclass(frozen=True, slots=True)
class Spelling:
    """What a word is looked up by: rows of the tables of vectors."""

    vector: int
    case: int
    characters: tuple[int, ...]


class Vocabulary:
    """The rows of the V word vectors and of the characters.

    Parameters
    ----------
    words : names of the V vectors.
    characters : the known characters.
    """

    def __init__(self, words: Sequence[str], characters: Sequence[str]) -> None:
        self.words = words
        self.characters = characters
        self._word_ids = {word: i for i, word in enumerate(words)}
        self._character_ids = {c: i for i, c in enumerate(characters)}
        self.spelling = cache(self._spell)

    def _spell(self, word: str) -> Spelling:
        """Look a word up; what is unknown has the last row."""
        unknown = len(self._character_ids)
        return Spelling(
            self.vector_row(word),
            case_of(word),
            tuple(self._character_ids.get(c, unknown) for c in characters_of(word)),
        )

    def vector_row(self, word: str) -> int:
        """The row of a word's vector, the last one where it has none."""
        ids = self._word_ids
        return next((ids[key] for key in vector_keys(word) if key in ids), len(ids))


def frequent_characters(sentences: Sequence[TaggedSentence]) -> list[str]:
    """The characters that are read, those of training words that came a few times."""
    counts = Counter(c for s in sentences for word in s.words for c in characters_of(word))
    return sorted(c for c, count in counts.items() if count >= _MIN_CHARACTER_COUNT)


@dataclass(frozen=True, slots=True)
class _Example:
    """A sentence, and what teachers say of it as it was written, whatever its case is now."""

    sentence: TaggedSentence
    lesson: Expectation | None

    def recased(self, rng: random.Random, share: float) -> "_Example":
        if rng.random() >= share:
            return self
        words = map(rng.choice((str.lower, str.upper)), self.sentence.words)
        return _Example(TaggedSentence(tuple(words), self.sentence.tags), self.lesson)


class Batches:
    """Makes batches of sentences of about equal length.

    Parameters
    ----------
    sentences : with at least one word each.
    vocabulary : what words are looked up in.
    tag_ids : of every tag of the sentences.
    sentences_at_once : sentences of a batch.
    source : of contextual vectors, where the network reads some.
    lessons : of each sentence, where teachers say something of it.
    """

    def __init__(
        self,
        sentences: Sequence[TaggedSentence],
        vocabulary: Vocabulary,
        tag_ids: Mapping[str, int],
        sentences_at_once: int,
        source: ContextualVectors | None = None,
        lessons: Sequence[Expectation] = (),
    ) -> None:
        self._examples = [
            _Example(sentence, lesson) for sentence, lesson in zip_longest(sentences, lessons)
        ]
        self._vocabulary = vocabulary
        self._tag_ids = tag_ids
        self._at_once = sentences_at_once
        self._source = source
        counts = Counter(vocabulary.vector_row(w) for s in sentences for w in s.words)
        self._rare = {row for row, count in counts.items() if count == 1}

    def __len__(self) -> int:
        return -(-len(self._examples) // self._at_once)

    def in_order(self) -> Iterator[Batch]:
        """All sentences as they are, in order."""
        for i in range(0, len(self._examples), self._at_once):
            yield self._pack(self._examples[i : i + self._at_once], lambda vector: vector)

    def shuffled(
        self, rng: random.Random, unknown_share: float, recased_share: float
    ) -> Iterator[Batch]:
        """All sentences once, of about equal length in a batch, the batches in random order.

        Parameters
        ----------
        rng : what is random.
        unknown_share : share of the words that came once whose vector is that of unknown words.
        recased_share : share of the sentences that come in lower or in upper case, half each.
        """
        unknown = len(self._vocabulary.words)

        def hide(vector: int) -> int:
            hidden = vector in self._rare and rng.random() < unknown_share
            return unknown if hidden else vector

        ranked = sorted(
            (example.recased(rng, recased_share) for example in self._examples),
            key=lambda example: len(example.sentence.words) + rng.random(),
        )
        parts = [ranked[i : i + self._at_once] for i in range(0, len(ranked), self._at_once)]
        rng.shuffle(parts)
        for part in parts:
            yield self._pack(part, hide)

    def _pack(self, examples: Sequence[_Example], hide: Callable[[int], int]) -> Batch:
        sentences = [example.sentence for example in examples]
        lessons = [example.lesson for example in examples if example.lesson is not None]
        # The short first, for `WordNetwork` to read words of about equal length together.
        types = sorted(dict.fromkeys(word for s in sentences for word in s.words), key=len)
        position = {word: i for i, word in enumerate(types)}
        spellings = [self._vocabulary.spelling(word) for word in types]
        return Batch(
            types=WordTypes(
                vectors=torch.tensor([hide(spelling.vector) for spelling in spellings]),
                cases=torch.tensor([spelling.case for spelling in spellings]),
                characters=_padded([spelling.characters for spelling in spellings]),
                character_counts=torch.tensor([len(s.characters) for s in spellings]),
            ),
            words=_padded([[position[word] for word in s.words] for s in sentences]),
            lengths=torch.tensor([len(s.words) for s in sentences]),
            tags=_padded([[self._tag_ids.get(tag, 0) for tag in s.tags] for s in sentences]),
            layers=None if self._source is None else _layers(self._source, sentences),
            lesson=_lesson(lessons) if lessons else None,
        )


def _layers(source: ContextualVectors, sentences: Sequence[TaggedSentence]) -> Tensor:
    """Contextual vectors, padded: (T, B, L, D)."""
    tokens = Tokens.from_sentences([s.words for s in sentences])
    layers = torch.from_numpy(source.encode(tokens.words, tokens.sentence_offsets))
    return pad_sequence(layers.split(np.diff(tokens.sentence_offsets).tolist()))


def _lesson(lessons: Sequence[Expectation]) -> Lesson:
    tags = [torch.from_numpy(lesson.tags) for lesson in lessons]
    return Lesson(pad_sequence(tags), torch.from_numpy(np.stack([x.moves for x in lessons])))


def _padded(sequences: Sequence[Sequence[int]]) -> Tensor:
    """Sequences as columns, padded with zeros: (longest, N)."""
    return pad_sequence([torch.tensor(sequence) for sequence in sequences])
