"""Which media type on offer a client takes: the header Accept (RFC 9110, section 12.5.1)."""

from collections.abc import Sequence

from flask import Request
from werkzeug.datastructures import MIMEAccept

from service.api.problems import NOT_ACCEPTABLE, Problem


def accepted(request: Request, offered: Sequence[str]) -> str:
    """The offered media type that a client likes best; of equals the first.

    Parameters are left out of the comparison: ``application/json; charset=utf-8`` is JSON. A
    header that is missing or means nothing accepts everything.

    Raises
    ------
    Problem
        None is accepted (406).
    """
    wanted = MIMEAccept(
        [(name.partition(";")[0].strip(), quality) for name, quality in request.accept_mimetypes]
    )
    if not wanted:
        return offered[0]
    best: str | None = wanted.best_match(offered)
    if best is None:
        detail = f"this can be answered as {' or '.join(offered)}"
        raise Problem(NOT_ACCEPTABLE, detail, allowed=list(offered))
    return best
