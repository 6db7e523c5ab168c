"""Where the time of a request goes: ``MODEL TEXTS ROUNDS`` prints its CPU us by stage as JSON.

In process, below the server: one text at a time and a batch of 32, and beside them the same request
to an application that looks at nothing. What that takes is Flask's own, and no stage of ours.
"""

import gc
import json
import sys
from pathlib import Path
from statistics import median

from benchmarks.peers.flask.server import app as empty_app
from benchmarks.stages import Stages, Times, answered, timed
from benchmarks.trellis import load

SETS = ("request", "batch_request")
"""Of the texts, those that requests are made of."""

ALL = "all of it"
EMPTY = "all of an empty Flask application's"

_REPEATS = 200  # of each in each round


def measured(stages: Stages) -> Times:
    """CPU seconds of each stage of a request, of the whole, and of an empty application's."""
    times = stages.run()
    whole, _ = timed(stages.request())
    empty, _ = timed(answered(empty_app, stages.path, stages.body))
    return {**times, ALL: whole, EMPTY: empty}


def main(name: str, texts_file: str, rounds: str) -> None:
    """Print the medians of all repeats, after one that warms up."""
    sets = json.loads(Path(texts_file).read_text(encoding="utf-8"))
    model = load(name)
    requests = {texts: Stages(model, sets[texts]) for texts in SETS}
    for stages in requests.values():
        measured(stages)
    gc.collect()
    gc.freeze()  # as a server does with what it has loaded
    found: dict[str, list[Times]] = {texts: [] for texts in SETS}
    for _ in range(_REPEATS * int(rounds)):
        for texts, stages in requests.items():
            found[texts].append(measured(stages))
    medians = {
        texts: {stage: 1e6 * median(times[stage] for times in repeats) for stage in repeats[0]}
        for texts, repeats in found.items()
    }
    print(json.dumps(medians))


if __name__ == "__main__":
    main(*sys.argv[1:])
