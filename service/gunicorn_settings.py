"""gunicorn's settings, as ``gunicorn -c python:service.gunicorn_settings`` reads them.

The service's own are in `service/config.py`.
"""

import gc
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

# Ctrl-C ends a start at once, without a traceback and wherever it is, until gunicorn takes it. The
# signal's own default would not do so in a container, whose first process it spares.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))

# Modules and models are no garbage: to look through them again and again takes 0.1 s of a start.
# `when_ready` ends that, and `on_reload`: gunicorn may read this again before.
gc.disable()

# One BLAS thread a request: else each makes one for every core of the host, not of the container.
# NumPy reads these when it is first imported, so before anything else.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from service.api import balance  # noqa: E402
from service.api.master import keep_out_of_collections, take_signals  # noqa: E402
from service.api.monitoring.logs import GUNICORN_LOGGING  # noqa: E402
from service.api.monitoring.metrics import count_worker_exit  # noqa: E402
from service.api.monitoring.worker_files import fold, open_folder  # noqa: E402
from service.config import load_settings  # noqa: E402
from service.errors import SettingError  # noqa: E402

_CGROUP = Path("/sys/fs/cgroup")
# Version 2 has quota and period in one file, version 1 in two.
_CPU_LIMITS = (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"))

# By systemd, and by a master of gunicorn to the one that follows it.
_LISTENERS_HANDED_ON = {"LISTEN_FDS", "GUNICORN_FD"}


def available_cpus() -> int:
    """CPUs that this container may use: those it may run on, up to its cgroup's quota."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for names in _CPU_LIMITS:
        if (_CGROUP / names[0]).exists():
            quota, period = " ".join((_CGROUP / name).read_text() for name in names).split()
            if quota not in ("max", "-1"):
                cpus = min(cpus, int(quota) // int(period))
    return max(1, cpus)


try:
    _settings = load_settings()
    _metrics = open_folder(_settings.metrics_dir)  # before the app is loaded, which counts there
except SettingError as error:
    print(error, file=sys.stderr)
    raise SystemExit(3) from None

_host = f"[{_settings.host}]" if ":" in _settings.host else _settings.host  # IPv6
bind = f"{_host}:{_settings.port}"
workers = _settings.workers or available_cpus()
worker_class = "service.api.worker.ProblemWorker"  # its threads are those of the settings
preload_app = True  # models load once, and workers share their memory
timeout = 60  # of silence: the worker's main thread beats also while requests run, however long
graceful_timeout = int(25 - _settings.drain_s)  # together below the 30 s that Kubernetes grants
keepalive = 65  # longer than the 60 s of most proxies, so that it is they who close
control_socket_disable = True  # nothing here needs it, and the image's user has no home
if os.access("/dev/shm", os.W_OK):
    worker_tmp_dir = "/dev/shm"  # a heartbeat on a slow disk can block a worker
logconfig_dict = GUNICORN_LOGGING


def on_starting(server: object) -> None:
    """The address is free, and the master has its own way to stop and to reload."""
    if not _LISTENERS_HANDED_ON & os.environ.keys():
        _check_address()
    take_signals(server, _settings.drain_s)


def _check_address() -> None:
    """End the start where the address cannot be listened on.

    gunicorn itself tries for five seconds, tells it in a dozen lines, and not by exit code 3.
    """
    family = socket.AF_INET6 if ":" in _settings.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as gunicorn does
        try:
            probe.bind((_settings.host, _settings.port))
        except OSError as error:
            reason = f"{error.strerror}; TRELLIS_HOST and TRELLIS_PORT name another address"
            print(f"{bind}: {reason}", file=sys.stderr)
            raise SystemExit(3) from None


def when_ready(server: object) -> None:
    """Models are loaded and no worker is forked."""
    keep_out_of_collections()


def on_reload(server: object) -> None:
    """Models are loaded again, and no new worker is forked."""
    keep_out_of_collections()


def child_exit(server: object, worker: Any) -> None:
    """A worker has ended, in whatever way; what it has counted stays counted."""
    balance.leave(worker.age)
    fold(_metrics, worker.pid)
    count_worker_exit()
