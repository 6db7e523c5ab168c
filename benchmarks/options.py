"""What each option of a request costs: ``MODEL TEXTS SET ROUNDS`` prints CPU us a token as JSON.

Batches of as many texts as may be explained together go through the whole application, below the
server: from the body of the request to that of the answer.
"""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from flask.testing import FlaskClient

from benchmarks.trellis import load
from service.api.app import create_app
from service.config import Settings
from service.store.registry import Registry
from service.text.tokenizer import Tokenizer

_MOST_TEXTS = 60

_OF_ALL: dict[str, dict[str, Any]] = {
    "none": {},
    "confidence": {"confidence": True},
    "marginals": {"marginals": True},
    "n_best: 2": {"n_best": 2},
    "n_best: 10": {"n_best": 10},
    "explain": {"explain": True},
    "sentences: false": {"sentences": False},
}
_FORBIDDEN = {"token_start": 0, "token_end": 1, "label": "*", "mode": "forbid"}


class Prices:
    """Sends the same texts with each option in turn.

    Parameters
    ----------
    name : of the model.
    texts : each a document.
    """

    def __init__(self, name: str, texts: Sequence[str]) -> None:
        model = load(name)
        settings = Settings(models=name)
        app = create_app(settings, Registry({name: model.manifest}, {name: model}))
        self._client: FlaskClient = app.test_client()
        self._path = f"/{model.manifest.task}/batch"
        tokenized = [(text, Tokenizer().tokenize(text).words) for text in texts[:_MOST_TEXTS]]
        groups = list(_groups(tokenized, settings.max_explained_tokens))
        self._tokens = sum(len(words) for group in groups for _, words in group)
        options = dict(_OF_ALL)
        documents = [[{"text": text} for text, _ in group] for group in groups]
        constrained = [[{**d, "constraints": [_FORBIDDEN]} for d in group] for group in documents]
        if model.manifest.task == "ner":
            pairs = [" ".join(words[:2]) for group in groups for _, words in group]
            entries = [{"phrase": p, "label": "PER", "weight": 1} for p in dict.fromkeys(pairs)]
            options["threshold"] = {"threshold": 0.5}
            options["dictionary"] = {"dictionary": entries}
            options["constraints"] = {}
        self._bodies = {
            option: [
                json.dumps({"model": name, "documents": group, **asked}).encode()
                for group in (constrained if option == "constraints" else documents)
            ]
            for option, asked in options.items()
        }

    def run(self) -> dict[str, float]:
        """CPU microseconds a token with each option."""
        return {option: self._price(bodies) for option, bodies in self._bodies.items()}

    def _price(self, bodies: Sequence[bytes]) -> float:
        started = time.process_time()
        for body in bodies:
            answer = self._client.post(self._path, data=body, content_type="application/json")
            assert answer.status_code == 200, answer.text
        return 1e6 * (time.process_time() - started) / self._tokens


def _groups(
    texts: Sequence[tuple[str, Sequence[str]]], limit: int
) -> Iterator[list[tuple[str, Sequence[str]]]]:
    """Texts with their words, as many together as have up to `limit` words."""
    group: list[tuple[str, Sequence[str]]] = []
    size = 0
    for text, words in texts:
        if len(words) > limit or not words:
            continue
        if size + len(words) > limit:
            yield group
            group, size = [], 0
        group.append((text, words))
        size += len(words)
    yield group


def main(name: str, texts_file: str, texts: str, rounds: str) -> None:
    """Print the medians of the rounds, after one that warms up."""
    sets = json.loads(Path(texts_file).read_text(encoding="utf-8"))
    prices = Prices(name, sets[texts])
    prices.run()
    measured = [prices.run() for _ in range(int(rounds))]
    print(json.dumps({option: median(of[option] for of in measured) for option in measured[0]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
