"""Progress of a long computation on standard error: how far, how long, how long yet."""

import sys
import time


class Progress:
    """Counts steps and says so on standard error.

    Parameters
    ----------
    name : what is counted.
    total : steps at most.
    every_s : seconds between two lines at least.
    begun : steps that were done before.
    """

    def __init__(self, name: str, total: int, every_s: float = 5.0, begun: int = 0) -> None:
        self._name = name
        self._total = total
        self._every_s = every_s
        self._begun = begun
        self._begin_s = self._shown_s = time.monotonic()

    def step(self, done: int, detail: str = "") -> None:
        """Say that `done` steps are done, unless a line was shown just before."""
        now_s = time.monotonic()
        if now_s - self._shown_s < self._every_s and done < self._total:
            return
        self._shown_s = now_s
        gone_s = now_s - self._begin_s
        left_s = gone_s / max(done - self._begun, 1) * (self._total - done)
        print(
            f"{self._name} {done}/{self._total} {detail}  "
            f"{gone_s:.0f} s gone, at most {left_s:.0f} s left",
            file=sys.stderr,
            flush=True,
        )

    def say(self, message: str) -> None:
        """Show a message of its own."""
        print(f"{self._name}: {message}", file=sys.stderr, flush=True)
