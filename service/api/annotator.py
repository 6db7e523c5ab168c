"""Documents of a request to answers; in a batch, each to its own answer or its own error."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

import orjson

from service.annotation import Annotation
from service.api.admission import Admission, DeadlineExceeded, check_deadline
from service.api.answers import Json, document_answer
from service.api.constraints import constraints_of
from service.api.limits import characters, check_analysed, check_document
from service.api.monitoring.record import current
from service.api.problems import Problem, problem_of
from service.api.schemas import ConstrainedDocument, Document, validated
from service.api.selection import Selection
from service.config import Settings
from service.decoding import SpanConstraint
from service.errors import LimitExceeded
from service.pipeline import annotate
from service.text.tokenizer import Tokenizer
from service.text.tokens import Documents, Tokens

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Annotator:
    """Tags documents, each request in its place. Holds no state of one, so threads share it."""

    settings: Settings
    tokenizer: Tokenizer
    admission: Admission

    def answer(self, document: Document, selection: Selection) -> Json:
        """The answer of one document.

        Raises
        ------
        InputError
            Where the document is too long, has a blank word, or its constraints cannot be met.
        LimitExceeded
            Where it has too many tokens for what is asked.
        Problem
            Where its time is over (504).
        """
        with self.admission.place():
            return document_answer(self._annotation(document, selection), document.text, selection)

    def annotation(self, document: Document, selection: Selection) -> Annotation:
        """One document with its tags; raises as `answer` does."""
        with self.admission.place():
            return self._annotation(document, selection)

    def _annotation(self, document: Document, selection: Selection) -> Annotation:
        check_document(document, self.settings)
        documents = self._tokenize([document], selection)
        constraints = constraints_of(document, documents, 0, selection)
        return self._annotate_one(documents, constraints, selection)

    def batch_answers(
        self, documents: Sequence[object], selection: Selection
    ) -> list[orjson.Fragment]:
        """The answers of many documents, in order, each as JSON.

        Raises
        ------
        LimitExceeded
            Where there are too many, or too many tokens for what is asked.
        Problem
            Where its time is over (504).
        """
        limit = self.settings.max_documents
        if len(documents) > limit:
            setting = "TRELLIS_MAX_DOCUMENTS"
            raise LimitExceeded("the batch", limit, "documents", setting, "/documents")
        with self.admission.place():
            return [
                _failed(answer, index) if isinstance(answer, Problem) else orjson.Fragment(answer)
                for index, answer in enumerate(self._answers(documents, selection, together=True))
            ]

    def stream_answers(
        self, documents: Iterable[object], selection: Selection
    ) -> list[bytes | Problem]:
        """The answers of some documents of a stream, in order.

        Raises
        ------
        Problem
            Where their time is over (504).
        """
        with self.admission.turn():
            answers = list(self._answers(documents, selection, together=False))
            current().end_laps("serialise")
            return answers

    def _answers(
        self, documents: Iterable[object], selection: Selection, *, together: bool
    ) -> Iterator[bytes | Problem]:
        """Answer documents in order, each with its own JSON or its own problem.

        Parameters
        ----------
        documents : parsed JSON; what is a problem already stays one.
        selection : what is asked of all of them.
        together : whether the limit of tokens is one of all; else each has its own.

        Raises
        ------
        LimitExceeded
            Where there are too many tokens together for what is asked.
        """
        checked = [
            value if isinstance(value, Problem) else _attempt(self._validated, value, selection)
            for value in documents
        ]
        good = [document for document in checked if isinstance(document, Document)]
        check_deadline()
        tokenized = self._tokenize(good, selection)
        if together:
            check_analysed(tokenized, selection, self.settings, together=True)
        constraints = [
            _attempt(constraints_of, document, tokenized, index, selection)
            for index, document in enumerate(good)
        ]
        known = [each for each in constraints if not isinstance(each, Problem)]
        if len(known) < len(constraints):
            met = (i for i, each in enumerate(constraints) if not isinstance(each, Problem))
            tokenized = tokenized.only(met)
        annotated = iter(self._annotate_each(tokenized, known, selection))
        outcomes = (e if isinstance(e, Problem) else next(annotated) for e in constraints)
        for document in checked:
            if isinstance(document, Problem):
                yield document
            elif isinstance(outcome := next(outcomes), Problem):
                yield outcome
            else:
                yield _attempt(_json, outcome, document.text, selection)

    def _validated(self, value: object, selection: Selection) -> Document:
        document = validated(ConstrainedDocument if selection.spans else Document, value)
        check_document(document, self.settings)
        return document

    def _tokenize(self, documents: Sequence[Document], selection: Selection) -> Documents:
        record = current()
        record.begin_lap()
        texts = [document.text or "" for document in documents if document.tokens is None]
        tokenized = self.tokenizer.tokenize_all(texts)
        if len(texts) < len(documents):
            of_texts = iter(tokenized)
            tokenized = Documents.of(
                [
                    next(of_texts) if each.tokens is None else Tokens.from_sentences(each.tokens)
                    for each in documents
                ]
            )
        if not selection.sentences:
            tokenized = tokenized.as_one_sentence()
        record.lap("tokenize")
        record.documents += len(documents)
        record.tokens += len(tokenized.words)
        record.characters += sum(map(characters, documents))
        return tokenized

    def _annotate(
        self,
        documents: Documents,
        constraints: Sequence[Sequence[SpanConstraint]],
        selection: Selection,
    ) -> list[Annotation]:
        check_analysed(documents, selection, self.settings, together=False)
        return annotate(
            selection.model.tagger,
            documents,
            spans=selection.spans,
            max_sentence_tokens=self.settings.max_sentence_tokens,
            inference=selection.inference,
            temperature=selection.model.manifest.temperature,
            explain=selection.explain,
            constraints=constraints,
            dictionary=selection.dictionary,
            check=check_deadline,
            lap=current().lap,
        )

    def _annotate_one(
        self, document: Documents, constraints: Sequence[SpanConstraint], selection: Selection
    ) -> Annotation:
        [annotation] = self._annotate(document, [constraints], selection)
        return annotation

    def _annotate_each(
        self,
        documents: Documents,
        constraints: Sequence[Sequence[SpanConstraint]],
        selection: Selection,
    ) -> Sequence[Annotation | Problem]:
        """All at once, which is fast; where that fails, alone, so that only the bad one fails."""
        try:
            return self._annotate(documents, constraints, selection)
        except DeadlineExceeded:
            raise
        except Exception:
            return [
                _attempt(self._annotate_one, documents.only([index]), each, selection)
                for index, each in enumerate(constraints)
            ]


def _attempt(step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | Problem:
    try:
        return step(*args, **kwargs)
    except DeadlineExceeded:
        raise
    except Exception as error:
        return problem_of(error)


def _json(annotation: Annotation, text: str | None, selection: Selection) -> bytes:
    """A document of a batch as JSON at once: its objects would take far more memory."""
    return orjson.dumps(document_answer(annotation, text, selection))


def _failed(problem: Problem, index: int) -> orjson.Fragment:
    pointer = f"/documents/{index}{problem.document.get('pointer', '')}"
    return orjson.Fragment(orjson.dumps({"error": problem.document | {"pointer": pointer}}))
