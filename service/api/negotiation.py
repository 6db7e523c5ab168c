"""Which media type on offer a client takes: the header Accept (RFC 9110, section 12.5.1)."""

from functools import lru_cache

from flask import Request
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from service.api.problems import NOT_ACCEPTABLE, Problem


def accepted(request: Request, offered: tuple[str, ...]) -> str:
    """The offered media type that a client likes best; of equals the first.

    Parameters are left out of the comparison: ``application/json; charset=utf-8`` is JSON. A
    header that is missing or means nothing accepts everything.

    Raises
    ------
    Problem
        None is accepted (406).
    """
    header = request.environ.get("HTTP_ACCEPT")
    best = offered[0] if header is None else _best(header, offered)
    if best is None:
        detail = f"this can be answered as {' or '.join(offered)}"
        raise Problem(NOT_ACCEPTABLE, detail, allowed=list(offered))
    return best


@lru_cache(maxsize=64)  # a client always sends the same one, and few differ between clients
def _best(header: str, offered: tuple[str, ...]) -> str | None:
    wanted = parse_accept_header(header, MIMEAccept)
    names = MIMEAccept([(name.partition(";")[0].strip(), quality) for name, quality in wanted])
    best: str | None = names.best_match(offered) if names else offered[0]
    return best
