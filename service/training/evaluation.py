"""Measuring a tagger against gold: on gold words, on these in other case, and from raw text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from service.annotation import Annotation
from service.errors import CorpusError
from service.pipeline import annotate
from service.store.manifest import Metric, Score, Split
from service.taggers import Tagger
from service.text.conll import TaggedSentence
from service.text.spans import Span, repair, spans_of_tags
from service.text.tokenizer import Tokenizer
from service.text.tokens import Tokens
from service.training.raw_text import RawText
from service.training.recipe import Corpus

_CASES: dict[str, Callable[[str], str]] = {
    "": lambda word: word,
    ", lower-cased": str.lower,
    ", upper-cased": str.upper,
}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One figure.

    Attributes
    ----------
    data, split : what was measured on.
    metric : ``accuracy``, the share of gold words with the right tag; else the F1 of what the
        name says, where all boundaries, and the tag or label if there is one, must be right.
    scheme : how it was counted, in words.
    value : the figure, between 0 and 1; None where it is not defined.
    precision, recall : of an F1; None where not defined.
    """

    data: str
    split: Split
    metric: Metric
    scheme: str
    value: float | None
    precision: float | None = None
    recall: float | None = None

    @property
    def score(self) -> Score:
        """The figure as a manifest has it."""
        return score_of(self.data, self.split, self.metric, self.scheme, self.value)


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Measures one tagger.

    Attributes
    ----------
    tagger : the tagger.
    task : ``tag`` or ``ner``.
    max_sentence_tokens : as served.
    """

    tagger: Tagger
    task: str
    max_sentence_tokens: int

    def corpora(
        self, corpora: Sequence[Corpus], data: Path, splits: Sequence[Split]
    ) -> Iterator[Evaluation]:
        """Measure on gold words of the dev or test files of corpora, as they are and in other case.

        Raises
        ------
        CorpusError
            Where they cannot be read, or have no tag of the model's.
        """
        for name, split, sentences in read_gold(self.task, corpora, data, splits):
            tags = {tag for sentence in sentences for tag in sentence.tags}
            if tags.isdisjoint(self.tagger.labels):
                some, known = (", ".join(sorted(each)[:5]) for each in (tags, self.tagger.labels))
                reason = f"none of its tags ({some} ...) is one of the model's ({known} ...)"
                raise CorpusError(f"{name}, {split}", None, reason)
            for case in _CASES:
                yield self.gold_words(sentences, name, split, case)

    def gold_words(
        self, sentences: Sequence[TaggedSentence], data: str, split: Split, case: str = ""
    ) -> Evaluation:
        """Measure on gold words: accuracy of tags, or F1 of entities."""
        words = [tuple(map(_CASES[case], sentence.words)) for sentence in sentences]
        tokens = Tokens.from_sentences(words)
        annotation = self._annotate(tokens)
        if self.task == "ner":
            gold = gold_spans(tokens, sentences)
            scheme = f"gold words{case}, strict IOB2, entity level"
            return _f1(data, split, "entity_f1", scheme, gold, annotation.spans)
        tags = annotation.tags
        gold_tags = [tag for sentence in sentences for tag in sentence.tags]
        right = sum(tag == gold_tag for tag, gold_tag in zip(tags, gold_tags, strict=True))
        value = _share(right, len(tags))
        return Evaluation(data, split, "accuracy", f"gold words{case}", value)

    def raw_text(self, raw: RawText, data: str, split: Split) -> list[Evaluation]:
        """Measure from raw text: words, sentences, and what the tagger makes of them.

        All are compared as ranges of characters, so that an error of the tokenizer counts against
        the tagger too.
        """
        found = self._annotate(Tokenizer().tokenize(raw.text))
        gold_tokens = Tokens([], raw.sentence_offsets, raw.starts, raw.ends)
        words, gold_words = _ranges(found.tokens), _ranges(gold_tokens)
        scheme = "raw text, character ranges"
        figures = [
            _f1(data, split, "word_f1", scheme, gold_words, words),
            _f1(
                data,
                split,
                "sentence_f1",
                scheme,
                _sentence_ranges(gold_tokens, gold_words),
                _sentence_ranges(found.tokens, words),
            ),
        ]
        if self.task == "ner":
            bounds = pairwise(raw.sentence_offsets.tolist())
            sentences = [TaggedSentence((), tuple(raw.tags[a:b])) for a, b in bounds]
            gold = _labelled(gold_spans(gold_tokens, sentences), gold_words)
            figures.append(
                _f1(data, split, "entity_f1", scheme, gold, _labelled(found.spans, words))
            )
        else:
            tagged = zip(words, found.tags, strict=True)
            gold_tagged = zip(gold_words, raw.tags, strict=True)
            figures.append(_f1(data, split, "tagged_word_f1", scheme, gold_tagged, tagged))
        return figures

    def raw_texts(
        self, corpora: Sequence[Corpus], data: Path, splits: Sequence[Split]
    ) -> Iterator[Evaluation]:
        """Measure from the raw text of those dev or test files of corpora that have one.

        Raises
        ------
        CorpusError
        """
        for split in splits:
            for corpus in corpora:
                for raw in corpus.read_raw(data, split):
                    yield from self.raw_text(raw, corpus.name, split)

    def _annotate(self, tokens: Tokens) -> Annotation:
        spans = self.task == "ner"
        [annotation] = annotate(
            self.tagger, [tokens], spans=spans, max_sentence_tokens=self.max_sentence_tokens
        )
        return annotation


def score_of(data: str, split: Split, metric: Metric, scheme: str, value: float | None) -> Score:
    """A figure as a manifest has it: with four digits."""
    rounded = None if value is None else round(value, 4)
    return Score(data=data, split=split, metric=metric, scheme=scheme, value=rounded)


def read_gold(
    task: str, corpora: Sequence[Corpus], data: Path, splits: Sequence[Split]
) -> Iterator[tuple[str, Split, list[TaggedSentence]]]:
    """The sentences of those dev or test files of corpora that there are, with their names.

    BIO tags are repaired to strict IOB2.

    Raises
    ------
    CorpusError
    """
    for split in splits:
        for corpus in corpora:
            sentences = corpus.read(data, split)
            if task == "ner":
                sentences = strict_bio(sentences, f"{corpus.name}, {split}")
            if sentences:
                yield corpus.name, split, sentences


def strict_bio(sentences: Sequence[TaggedSentence], where: str) -> list[TaggedSentence]:
    """The sentences with their tags repaired to strict IOB2.

    Raises
    ------
    CorpusError
        Where a tag is no BIO tag; `where` names the data.
    """
    try:
        return [TaggedSentence(s.words, tuple(repair(s.tags))) for s in sentences]
    except ValueError as error:
        raise CorpusError(where, None, str(error)) from error


def gold_spans(tokens: Tokens, sentences: Sequence[TaggedSentence]) -> list[Span]:
    """The gold spans of sentences, counted from the first token of all."""
    firsts = tokens.sentence_offsets.tolist()
    return [
        span.shifted(first)
        for first, sentence in zip(firsts, sentences, strict=False)
        for span in spans_of_tags(sentence.tags)
    ]


def _ranges(tokens: Tokens) -> list[tuple[int, int]]:
    if tokens.starts is None or tokens.ends is None:
        raise ValueError("these words came without a text")
    return list(zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True))


def _sentence_ranges(tokens: Tokens, words: list[tuple[int, int]]) -> list[tuple[int, int]]:
    bounds = pairwise(tokens.sentence_offsets.tolist())
    return [(words[a][0], words[b - 1][1]) for a, b in bounds if a < b]


def _labelled(spans: Iterable[Span], words: list[tuple[int, int]]) -> list[tuple[str, int, int]]:
    return [(s.label, words[s.token_start][0], words[s.token_end - 1][1]) for s in spans]


def _f1(
    data: str,
    split: Split,
    metric: Metric,
    scheme: str,
    gold: Iterable[object],
    found: Iterable[object],
) -> Evaluation:
    wanted, got = set(gold), set(found)
    right = len(wanted & got)
    return Evaluation(
        data,
        split,
        metric,
        scheme,
        value=_share(2 * right, len(wanted) + len(got)),
        precision=_share(right, len(got)),
        recall=_share(right, len(wanted)),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
