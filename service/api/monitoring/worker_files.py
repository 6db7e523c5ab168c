"""The files in which worker processes count, and the archive of those that have ended.

prometheus-client adds up what each process has written to files of its own; see `counts`. A process
that ends leaves them behind, and they have to stay counted: the master folds them into one archive
of each kind, so that their number is bounded by that of the workers.

Readers are in the workers. One that looks while the master folds would count twice or not at all,
so the master says when it does, in memory that all share, and they look again. A lock would do as
well, until a worker is stopped while it holds it.
"""

import atexit
import logging
import mmap
import os
import shutil
import struct
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from prometheus_client.mmap_dict import MmapedDict

from service.errors import SettingError

T = TypeVar("T")

_ARCHIVE = "archive"  # in place of the process
_SUMMED = ("counter", "histogram")
_RETRY_S = 0.001
_log = logging.getLogger(__name__)
# Anonymous and shared: mapped before the fork. Odd while the master folds.
_generation = mmap.mmap(-1, mmap.PAGESIZE)


_folder: Path | None = None


def open_folder(folder: Path | None = None) -> Path:
    """The folder in which this process, and those it forks, count: the first call chooses it.

    gunicorn reads its settings again on SIGHUP, and the counts go on.

    Parameters
    ----------
    folder : is made, or emptied of such files; None makes one in memory, where there is such, and
        removes it at the end.

    Raises
    ------
    SettingError
        Where it can be neither made nor emptied.
    """
    global _folder
    if _folder is None:
        _folder = folder or Path(tempfile.mkdtemp(prefix="trellis-metrics-", dir=_memory()))
        if folder is None:
            atexit.register(_remove, _folder, os.getpid())
        try:
            _folder.mkdir(parents=True, exist_ok=True)
            for file in _folder.glob("*.db"):
                file.unlink()
        except OSError as error:
            reason = f"{folder} cannot be used: {type(error).__name__}"
            raise SettingError("TRELLIS_METRICS_DIR", reason) from error
    return _folder


def _memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # workers leave by the same door
        shutil.rmtree(folder, ignore_errors=True)


def fold(folder: Path, pid: int) -> None:
    """Add what a process that has ended counted to the archive, and remove its files.

    Only the master may call it, before it forks again: the next process could have the same number.
    """
    _set_generation(_get_generation() + 1)
    try:
        for kind in _SUMMED:
            file = folder / f"{kind}_{pid}.db"
            if file.exists():
                _add(file, folder / f"{kind}_{_ARCHIVE}.db")
        for file in folder.glob(f"*_{pid}.*"):  # also gauges, which end with their process
            file.unlink()
    finally:
        _set_generation(_get_generation() + 1)


def _add(file: Path, archive: Path) -> None:
    total = MmapedDict(str(archive))
    try:
        for key, value, _, _ in MmapedDict.read_all_values_from_file(str(file)):
            if value:
                total.write_value(key, total.read_value(key)[0] + value, 0.0)
    except (RuntimeError, ValueError, struct.error) as error:
        # It ended while the file grew: what can be read is counted.
        _log.error("%s is cut: %s", file.name, type(error).__name__)
    finally:
        total.close()


def read_consistently(read: Callable[[], T]) -> T:
    """What `read` finds in the folder at a time when nothing is being folded."""
    while True:
        before = _get_generation()
        if before % 2 == 0:
            try:
                found = read()
            except Exception:
                if _get_generation() == before:
                    raise
                # A file was folded after it was listed, or the archive is being made.
            else:
                if _get_generation() == before:
                    return found
        time.sleep(_RETRY_S)


def _get_generation() -> int:
    return int.from_bytes(_generation[:8], "little")


def _set_generation(generation: int) -> None:
    _generation[:8] = generation.to_bytes(8, "little")
