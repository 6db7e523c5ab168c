"""The limits of documents: how long one may be, and how many tokens may be analysed."""

from collections.abc import Sequence

import numpy as np

from service.api.schemas import Document
from service.api.selection import Selection
from service.config import Settings
from service.errors import InputError, LimitExceeded
from service.text.tokens import Documents


def characters(document: Document) -> int:
    """Code points of its text, or of its words together."""
    if document.tokens is None:
        return len(document.text or "")
    return sum(len(word) for sentence in document.tokens for word in sentence)


def check_document(document: Document, settings: Settings) -> None:
    """Hold a document to `max_text_chars`, and its words, if it came as such, to be some.

    Raises
    ------
    LimitExceeded
        Where it is too long.
    InputError
        Where it has a blank word.
    """
    limit = settings.max_text_chars
    if document.tokens is None:
        _check_length(characters(document), limit, "/text")
        return
    # Empty sentences have no characters, so their number is held to the limit as well.
    _check_length(max(characters(document), len(document.tokens)), limit, "/tokens")
    _check_words(document.tokens)


def check_analysed(
    documents: Documents, selection: Selection, settings: Settings, *, together: bool
) -> None:
    """Hold what is asked of a request, or of each document, to the number of its tokens.

    Parameters
    ----------
    documents : the documents.
    selection : what is asked of all of them.
    settings : `max_explained_tokens` and `max_analysed_tokens`.
    together : whether a limit is one of all; else each document has its own.

    Raises
    ------
    LimitExceeded
        Where there are more tokens.
    """
    wanted = selection.inference
    if not (selection.explain or wanted.marginals or wanted.n_best):
        return
    # Each sentence is analysed by itself, so that empty ones are held to the limits as well.
    sizes = np.maximum(np.diff(documents.token_firsts), np.diff(documents.sentence_firsts))
    tokens = int(sizes.sum() if together else sizes.max(initial=0))
    limit = settings.max_explained_tokens
    if selection.explain and tokens > limit:
        setting = "TRELLIS_MAX_EXPLAINED_TOKENS"
        raise LimitExceeded("the request", limit, "tokens", setting, "/explain")
    limit = settings.max_analysed_tokens
    if tokens > limit and (wanted.marginals or wanted.n_best):
        pointer = "/marginals" if wanted.marginals else "/n_best"
        raise LimitExceeded("the request", limit, "tokens", "TRELLIS_MAX_ANALYSED_TOKENS", pointer)


def _check_length(chars: int, limit: int, pointer: str) -> None:
    if chars > limit:
        raise LimitExceeded("the text", limit, "characters", "TRELLIS_MAX_TEXT_CHARS", pointer)


def _check_words(sentences: Sequence[Sequence[str]]) -> None:
    for row, sentence in enumerate(sentences):
        for column, word in enumerate(sentence):
            if not word or word.isspace():
                raise InputError("A word must not be blank", f"/tokens/{row}/{column}")
