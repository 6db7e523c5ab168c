"""Whether the service is about to stop: said once by gunicorn's master, seen by every worker."""

import mmap

# Anonymous and shared: mapped before the fork, so that also a worker that comes later sees it.
_has_begun = mmap.mmap(-1, 1)


def begin() -> None:
    """Say that no more requests should be sent here."""
    _has_begun[0] = 1


def has_begun() -> bool:
    """Whether that was said."""
    return bool(_has_begun[0])
