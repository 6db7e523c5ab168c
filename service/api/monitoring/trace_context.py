"""Who asks, as headers say it: a request's id, and the trace that it is part of."""

import os
import re
from typing import NamedTuple

REQUEST_ID = "X-Request-ID"
SERVER_TIMING = "Server-Timing"
# Also longer ones would fit a log, but this is what other services take.
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+=@~-]{0,127}")
_TRACEPARENT = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace_id>[0-9a-f]{32})-(?P<parent_id>[0-9a-f]{16})"
    r"-(?P<flags>[0-9a-f]{2})(?P<rest>-.*)?"
)


class TraceContext(NamedTuple):
    """A place in a trace of W3C Trace Context.

    Attributes
    ----------
    trace_id : 32 hexadecimal digits, of the whole trace.
    span_id : 16 of them, of this service's part of it.
    flags : 2 of them; the lowest bit says whether the trace is recorded.
    """

    trace_id: str
    span_id: str
    flags: str

    @property
    def header(self) -> str:
        """It as `traceparent`."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"


def request_id(given: str | None) -> str:
    """The id that the client gave, where it is well-formed; else a new one."""
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given
    return os.urandom(16).hex()


def parsed(traceparent: str | None) -> TraceContext | None:
    """What the header `traceparent` says: the caller's place; None where it says nothing valid.

    Of a version that is not known yet the parts of the first are read, as the standard wants it.
    """
    match = _TRACEPARENT.fullmatch(traceparent or "")
    if match is None or match["version"] == "ff":
        return None
    if match["version"] == "00" and match["rest"]:
        return None
    if not int(match["trace_id"], 16) or not int(match["parent_id"], 16):
        return None
    return TraceContext(match["trace_id"], match["parent_id"], match["flags"])


def continued(caller: TraceContext) -> TraceContext:
    """This service's own place in the trace of its caller."""
    return caller._replace(span_id=os.urandom(8).hex())
