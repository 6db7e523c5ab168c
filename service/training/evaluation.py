"""Measuring a tagger against gold tags: accuracy of tags, or strict F1 of entities."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from service.pipeline import annotate
from service.taggers import Tagger
from service.text.conll import TaggedSentence
from service.text.spans import spans_of_tags
from service.text.tokens import Tokens
from service.training.recipe import Corpus

Split = Literal["dev", "test"]

_SCHEMES = {"accuracy": "gold tokens", "entity_f1": "gold tokens, strict IOB2, entity level"}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was measured on a set of sentences.

    Attributes
    ----------
    data, split : which set it was.
    metric : ``accuracy``, the share of tokens with the right tag, or ``entity_f1``, the F1 of
        spans with the right boundaries and label.
    value : the figure, between 0 and 1; None where it is not defined.
    precision, recall : of spans; None for accuracy, or where not defined.
    sentences, tokens : how much was measured.
    """

    data: str
    split: Split
    metric: Literal["accuracy", "entity_f1"]
    value: float | None
    precision: float | None
    recall: float | None
    sentences: int
    tokens: int

    @property
    def scheme(self) -> str:
        """How it was counted, in words."""
        return _SCHEMES[self.metric]


def evaluate_corpora(
    corpora: Sequence[Corpus],
    tagger: Tagger,
    task: str,
    data: Path,
    splits: Sequence[Split],
    max_sentence_tokens: int,
) -> list[Evaluation]:
    """Evaluate a tagger on the dev or test files of corpora, each corpus apart.

    Raises
    ------
    CorpusError
    """
    return [
        evaluate(tagger, task, sentences, corpus.name, split, max_sentence_tokens)
        for split in splits
        for corpus in corpora
        if (sentences := corpus.read(data, split))
    ]


def evaluate(
    tagger: Tagger,
    task: str,
    sentences: Sequence[TaggedSentence],
    data: str,
    split: Split,
    max_sentence_tokens: int,
) -> Evaluation:
    """Tag gold words and compare.

    Parameters
    ----------
    tagger : the tagger.
    task : ``tag`` measures accuracy, ``ner`` entity F1.
    sentences : gold sentences.
    data, split : what they are called.
    max_sentence_tokens : as served.
    """
    gold = Tokens.from_sentences([sentence.words for sentence in sentences])
    [annotation] = annotate(
        tagger, [gold], spans=task == "ner", max_sentence_tokens=max_sentence_tokens
    )
    precision = recall = None
    if task == "ner":
        wanted = {
            span.shifted(first)
            for first, sentence in zip(gold.sentence_offsets.tolist(), sentences, strict=False)
            for span in spans_of_tags(sentence.tags)
        }
        found = set(annotation.spans)
        right = len(wanted & found)
        precision, recall = _share(right, len(found)), _share(right, len(wanted))
        value = _share(2 * right, len(wanted) + len(found))
    else:
        tags = [tagger.labels[tag_id] for tag_id in annotation.tag_ids.tolist()]
        wanted_tags = [tag for sentence in sentences for tag in sentence.tags]
        right = sum(tag == wanted for tag, wanted in zip(tags, wanted_tags, strict=True))
        value = _share(right, len(tags))
    return Evaluation(
        data=data,
        split=split,
        metric="entity_f1" if task == "ner" else "accuracy",
        value=value,
        precision=precision,
        recall=recall,
        sentences=len(sentences),
        tokens=len(gold.words),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
