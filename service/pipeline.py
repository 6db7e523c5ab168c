"""Text in, annotated document out: the path of a request, a line a step."""

from collections.abc import Callable, Iterator, Sequence

from service.annotation import Annotated, Annotation
from service.decoding import (
    PATH_ALONE,
    ChainScores,
    Dictionary,
    Evidence,
    Inference,
    Inferred,
    SpanConstraint,
    best_paths,
    constraint_evidence,
    infer,
    with_evidence,
)
from service.errors import InputError, NoValidPath
from service.taggers.base import Tagger
from service.taggers.explanation import Explanation, explanation_of
from service.text.packing import parts_of, split_long_sentences
from service.text.spans import spans_of_path
from service.text.tokens import Documents, Offsets, Tokens

BATCH_TOKENS = 20_500
"""Sentences are scored together until a batch is this large: bounds the memory. It has room for
two sentences of the greatest length, since the steps of the decoder are shared by a batch."""


def _no_lap(stage: str) -> None:
    """Take no time."""


def annotate(
    tagger: Tagger,
    documents: Sequence[Tokens],
    *,
    spans: bool,
    max_sentence_tokens: int,
    inference: Inference = PATH_ALONE,
    temperature: float = 1.0,
    explain: bool = False,
    constraints: Sequence[Sequence[SpanConstraint]] = (),
    dictionary: Dictionary | None = None,
    check: Callable[[], None] | None = None,
    lap: Callable[[str], None] = _no_lap,
) -> list[Annotation]:
    """Tag documents, in order; all their sentences share the batches.

    Parameters
    ----------
    tagger : any tagger; if `spans`, its labels are BIO tags.
    documents : tokenized documents.
    spans : whether to read spans off the tags.
    max_sentence_tokens : a longer sentence is split into pieces of at most this length.
    inference : what is wanted beside the best paths.
    temperature : what scores are divided by before they are made probabilities.
    explain : whether to explain the best paths; takes memory a token, so for few alone.
    constraints : of each document, what is known of its spans; or none at all.
    dictionary : what is known of phrases; None for nothing.
    check : is called before each batch; what it raises ends the work.
    lap : is called at the end of each step with its name, ``score`` or ``decode``.

    Raises
    ------
    InputError
        Where constraints cannot be met.
    ScoresError
        Where the model's scores cannot be decoded.
    """
    bounded, pieces = split_long_sentences(Documents.of(documents), max_sentence_tokens)
    known = _evidence_of(constraints, bounded, tagger.labels)
    inferred = Inferred.joined(
        [
            infer(
                scores,
                tagger.labels,
                inference,
                spans=spans,
                temperature=temperature if tagger.probabilistic else None,
            )
            for scores in _scores(tagger, bounded, known, dictionary, check, lap)
        ]
    )
    explanations = (
        list(_explanations(tagger, bounded, known, dictionary, temperature)) if explain else []
    )
    found = spans_of_path(inferred.tag_ids, tagger.labels) if spans else []
    annotations = Annotated(bounded, pieces, tagger.labels, inferred, explanations, found).each()
    lap("decode")
    return annotations


def _explanations(
    tagger: Tagger,
    documents: Documents,
    known: Sequence[Evidence],
    dictionary: Dictionary | None,
    temperature: float,
) -> Iterator[Explanation]:
    """Explain each document by itself."""
    for tokens, first in zip(documents, documents.token_firsts, strict=False):
        own = _within(known, first, first + len(tokens.words))
        scores = _score(tagger, tokens.words, tokens.sentence_offsets, own, dictionary)
        yield explanation_of(tagger, tokens.words, scores, temperature)


def _evidence_of(
    constraints: Sequence[Sequence[SpanConstraint]], documents: Documents, labels: tuple[str, ...]
) -> list[Evidence]:
    """The constraints on all documents, by the tokens of all."""
    return [
        piece.shifted(documents.token_firsts[index])
        for index, mine in enumerate(constraints)
        if mine
        for piece in constraint_evidence(mine, labels, documents[index].sentence_offsets)
    ]


def _scores(
    tagger: Tagger,
    documents: Documents,
    known: Sequence[Evidence],
    dictionary: Dictionary | None,
    check: Callable[[], None] | None,
    lap: Callable[[str], None],
) -> Iterator[ChainScores]:
    """The scores of the sentences, batch by batch, with all that is known beside the model."""
    for start, words, offsets in parts_of(
        documents.words, documents.sentence_offsets, BATCH_TOKENS
    ):
        if check is not None:
            check()
        lap("decode")  # of the batch before
        own = _within(known, start, start + len(words))
        scores = _score(tagger, words, offsets, own, dictionary)
        lap("score")
        yield scores


def _within(known: Sequence[Evidence], first: int, end: int) -> list[Evidence]:
    """What is known of the tokens from `first` to `end`, counted from `first`."""
    return [piece.within(first, end) for piece in known if piece.overlaps(first, end)]


def _score(
    tagger: Tagger,
    words: Sequence[str],
    sentence_offsets: Offsets,
    known: Sequence[Evidence],
    dictionary: Dictionary | None,
) -> ChainScores:
    """The scores of one batch, with all that is known beside the model."""
    scores = tagger.score(words, sentence_offsets)
    if dictionary is not None:
        scores = with_evidence(scores, list(dictionary.evidence(words, scores.offsets)))
    return _constrained(scores, known) if known else scores


def _constrained(scores: ChainScores, constraints: Sequence[Evidence]) -> ChainScores:
    constrained = with_evidence(scores, constraints)
    try:
        best_paths(constrained)
    except NoValidPath as error:
        best_paths(scores)  # raises where it is not the constraints that leave none
        detail = "no tag sequence that the model allows meets the constraints"
        raise InputError(detail, "/constraints") from error
    return constrained
