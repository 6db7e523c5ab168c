"""The forms that one document has beside JSON: columns, as they come in and as they go out."""

from collections.abc import Callable

from flask import Request, Response

from service.annotation import Annotation
from service.api.answers import Json
from service.api.body import MEDIA_TYPE as JSON
from service.api.body import check_headers, read_body
from service.api.problems import MALFORMED_COLUMNS, NOT_ACCEPTABLE, Problem
from service.api.query import query_values
from service.api.selection import Selection
from service.errors import CorpusError, InputError
from service.text.columns import TagColumn, conllu, tab_separated
from service.text.conll import words_of_columns, words_of_conllu

COLUMNS = "text/tab-separated-values"
CONLLU = "application/x-conllu"
FORMS = (JSON, COLUMNS, CONLLU)

_WORDS_OF: dict[str, Callable[[bytes], list[tuple[str, ...]]]] = {
    COLUMNS: words_of_columns,
    CONLLU: words_of_conllu,
}
_UNFIT = ("\t", "\n", "\r")


def read_columns(request: Request, limit: int) -> Json:
    """What columns hold, and the query string beside them, as a body of JSON would hold it.

    Raises
    ------
    Problem
        Media type or encoding is another (415), the body ends early or is malformed (400).
    InputError
        The body is larger than `limit`, or an option cannot be read.
    """
    check_headers(request, FORMS)
    for name in ("text", "tokens"):
        if name in request.args:
            raise InputError("The body holds the tokens", f"/{name}")
    options = query_values(request.args)
    body = read_body(request, limit)
    try:
        sentences = _WORDS_OF[request.mimetype](body)
    except CorpusError as error:
        detail = f"line {error.line}: {error.reason}"
        raise Problem(MALFORMED_COLUMNS, detail) from None
    return {"tokens": [list(words) for words in sentences]} | options


def columns_response(
    form: str, annotation: Annotation, text: str | None, selection: Selection
) -> Response:
    """An annotation in columns.

    Raises
    ------
    Problem
        A word holds a tab or a line break (406).
    """
    tokens = annotation.tokens
    if any(unfit in word for word in tokens.words for unfit in _UNFIT):
        detail = "a token holds a tab or a line break, which cannot stand in columns; ask for JSON"
        raise Problem(NOT_ACCEPTABLE, detail, allowed=[JSON])
    tags = annotation.tags
    if form == COLUMNS:
        body = tab_separated(tokens, tags)
    else:
        body = conllu(tokens, tags, text, _tag_column(selection))
    return Response(body.encode(), content_type=f"{form}; charset=utf-8")


def check_columns(selection: Selection) -> None:
    """Say that columns have no place for what is asked beside the tags.

    Raises
    ------
    Problem
        They have not (406).
    """
    inference = selection.inference
    if selection.confidence or inference.marginals or inference.n_best or selection.explain:
        detail = "columns hold words and tags alone; ask for JSON, or leave out what is beside them"
        raise Problem(NOT_ACCEPTABLE, detail, allowed=[JSON])


def _tag_column(selection: Selection) -> TagColumn:
    if selection.spans:
        return "misc"
    return "upos" if selection.model.manifest.tagset == "ud" else "xpos"
