"""Constraints of a request to ranges of tokens: characters have to meet where tokens do."""

from service.api.answers import unit_offsets
from service.api.schemas import ConstrainedDocument, Constraint, Document, OffsetUnit
from service.api.selection import Selection, check_label
from service.decoding import ANY_LABEL, SpanConstraint
from service.errors import InputError
from service.text.tokens import Documents, Offsets, Tokens


def constraints_of(
    document: Document, documents: Documents, index: int, selection: Selection
) -> list[SpanConstraint]:
    """The constraints on a document, in tokens.

    Parameters
    ----------
    document : what was asked.
    documents, index : where its tokens are, which are taken out where there are constraints.
    selection : what is asked of it.

    Raises
    ------
    InputError
        Where a range is empty, reaches beyond the document or does not begin and end where tokens
        do; names the token.
    Problem
        Where the model does not have a label.
    """
    if not isinstance(document, ConstrainedDocument) or not document.constraints:
        return []
    ranges = _Ranges(document, documents[index], selection.unit)
    found = []
    for place, constraint in enumerate(document.constraints):
        pointer = f"/constraints/{place}"
        if constraint.label != ANY_LABEL:
            check_label(selection.model, constraint.label, f"{pointer}/label")
        start, end = ranges.of_tokens(constraint, pointer)
        found.append(SpanConstraint(start, end, constraint.label, constraint.mode))
    return found


class _Ranges:
    """Where the tokens of a document are, in the offset unit; nowhere, if it came as tokens."""

    def __init__(self, document: Document, tokens: Tokens, unit: OffsetUnit) -> None:
        self._tokens = len(tokens.words)
        self._starts = self._ends = None
        if document.text is not None:
            table = unit_offsets(document.text, unit)
            self._starts = _placed(tokens.starts, table)
            self._ends = _placed(tokens.ends, table)

    def of_tokens(self, constraint: Constraint, pointer: str) -> tuple[int, int]:
        """The first and the end of the tokens of a constraint."""
        first, end = constraint.token_start, constraint.token_end
        if first is None or end is None:
            return self._between(constraint.start or 0, constraint.end or 0, pointer)
        if not 0 <= first < end <= self._tokens:
            detail = f"a range of tokens is not empty and lies between 0 and {self._tokens}"
            raise InputError(detail, f"{pointer}/token_start")
        return first, end

    def _between(self, start: int, end: int, pointer: str) -> tuple[int, int]:
        """The tokens between two places in the text, where tokens have to start and end."""
        starts, ends = self._starts, self._ends
        if starts is None or ends is None:
            detail = "a document of tokens has no characters; give token_start and token_end"
            raise InputError(detail, pointer)
        if start >= end:
            raise InputError("a range of characters is not empty", f"{pointer}/start")
        first, last = int(starts.searchsorted(start)), int(ends.searchsorted(end))
        if first == len(starts) or starts[first] != start:
            after = int(ends.searchsorted(start, side="right"))  # the token there, or the next
            raise InputError(f"no token starts there; {self._place_of(after)}", f"{pointer}/start")
        if last == len(ends) or ends[last] != end:
            before = int(starts.searchsorted(end)) - 1  # the token there, or the one before
            raise InputError(f"no token ends there; {self._place_of(before)}", f"{pointer}/end")
        return first, last + 1

    def _place_of(self, token: int) -> str:
        """The place of the token, or of the last one."""
        token = min(token, self._tokens - 1)
        if self._starts is None or self._ends is None or token < 0:
            return "the document has no token"
        return f"token {token} is at {self._starts[token]} to {self._ends[token]}"


def _placed(places: Offsets | None, table: Offsets | None) -> Offsets | None:
    return places if places is None or table is None else table[places]
