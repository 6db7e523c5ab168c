"""gunicorn's master process: what a SIGTERM and a SIGHUP do. Part of `worker` in what it knows.

- *SIGTERM* closes the listeners at once in gunicorn, while balancers still send requests. Here
  `/readyz` says 503 first, and requests are taken for `drain_s`; then gunicorn stops as ever. A
  second SIGTERM ends the wait.
- *SIGHUP* keeps the old application in gunicorn where it is preloaded. Here the master loads
  settings, models and app again, and replaces its workers when that has worked; what is in flight
  is answered by the old ones.
"""

import gc
import importlib
import logging
import signal
import sys
from functools import partial
from typing import Any

from service.api import draining

_log = logging.getLogger(__name__)


def keep_out_of_collections() -> None:
    """Begin to collect garbage, and leave what is loaded now out of it.

    Before the fork: they would write into every page, and so unshare the memory.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


def take_signals(server: Any, drain_s: float) -> None:
    """Have an arbiter of gunicorn act on SIGTERM and SIGHUP as said above.

    Parameters
    ----------
    server : the arbiter, which looks its handlers up by name.
    drain_s : seconds between saying that the service stops and stopping; 0 for none.
    """
    server.handle_term = partial(_drain, drain_s)
    server.handle_alrm = _stop
    server.handle_hup = partial(_reload, server)
    signal.signal(signal.SIGALRM, server.signal)


def _drain(drain_s: float) -> None:
    if not drain_s or draining.has_begun():
        _stop()
    draining.begin()
    signal.setitimer(signal.ITIMER_REAL, drain_s)


def _stop() -> None:
    raise StopIteration  # as gunicorn's own handler of SIGTERM


def _reload(server: Any) -> None:
    if draining.has_begun():
        return
    module = server.app.app_uri.partition(":")[0]
    gc.unfreeze()  # else what is replaced would never be freed
    try:
        importlib.reload(sys.modules[module])
    except (Exception, SystemExit) as error:
        _log.error("not reloaded (%s); the old models keep serving", type(error).__name__)
    else:
        server.app.callable = None  # gunicorn takes it from the module again
        server.reload()
    finally:
        keep_out_of_collections()  # also where nothing was loaded
