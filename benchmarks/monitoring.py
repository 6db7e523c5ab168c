"""What metrics and log cost a request: ``MODEL TEXTS SET ROUNDS`` prints its CPU us as JSON.

One text goes through the whole application, below the server, a few times in a row, with each of
them left out in turn. The log goes to a pipe, as in a container. What else a request has, such as
its id and `Server-Timing`, it always has.
"""

import gc
import json
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.stages import answered
from benchmarks.trellis import load
from service.api.app import create_app
from service.api.monitoring import metrics, monitor
from service.config import Settings
from service.store.registry import Registry

_REQUESTS = 10  # in a row: some code has left the core's caches when it is needed again
_BURSTS = 60  # of each variant in each round

NEITHER = "neither"
_LEFT_OUT = {
    "both": (),
    "metrics alone": ((monitor, "log_request"),),
    "log alone": ((metrics, "begin_request"), (metrics, "count_request")),
}
_LEFT_OUT[NEITHER] = _LEFT_OUT["metrics alone"] + _LEFT_OUT["log alone"]
VARIANTS = tuple(_LEFT_OUT)


class Requests:
    """Sends a text, again and again.

    Parameters
    ----------
    name : of the model.
    text : the document.
    """

    def __init__(self, name: str, text: str) -> None:
        model = load(name)
        registry = Registry({name: model.manifest}, {name: model})
        self._app = create_app(Settings(models=name), registry)
        self._path = f"/{model.manifest.task}"
        self._body = json.dumps({"text": text}).encode()

    def run(self, variant: str) -> float:
        """CPU microseconds of a request."""
        requests = [answered(self._app, self._path, self._body) for _ in range(_REQUESTS)]
        with _without(*_LEFT_OUT[variant]):
            started = time.process_time()
            for request in requests:
                request()
            return 1e6 * (time.process_time() - started) / _REQUESTS


@contextmanager
def _without(*functions: tuple[object, str]) -> Iterator[None]:
    """Have these functions of modules do nothing."""
    kept = [getattr(module, name) for module, name in functions]
    for module, name in functions:
        setattr(module, name, lambda *_, **__: None)
    yield
    for (module, name), function in zip(functions, kept, strict=True):
        setattr(module, name, function)


def main(name: str, texts_file: str, texts: str, rounds: str) -> None:
    """Print the medians of all bursts, after a few that warm up."""
    requests = Requests(name, json.loads(Path(texts_file).read_text(encoding="utf-8"))[texts][0])
    gc.freeze()  # as the server does
    found: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
    chance = random.Random(0)
    for _ in range(3):
        for variant in VARIANTS:
            requests.run(variant)
    for _ in range(_BURSTS * int(rounds)):
        for variant in chance.sample(VARIANTS, len(VARIANTS)):
            found[variant].append(requests.run(variant))
    print(json.dumps({variant: median(times) for variant, times in found.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
