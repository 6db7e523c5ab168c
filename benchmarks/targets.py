"""What is to be reached: a statement, how it is read off the results, and the bound."""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.http_load import MANY, ONE
from benchmarks.lineup import (
    CRF_TUNED,
    NEURAL,
    NEURAL_BY_32,
    PYTORCH,
    SPACY_NER,
    SPACY_TAGGER,
    WINK,
)
from benchmarks.servers import EMPTY, SPACY, TRELLIS_CRF

Results = Mapping[str, Any]
NER, POS = "en-ner-crf (ner)", "en-pos-crf (pos)"
AT_LEAST, AT_MOST = "at least", "at most"
_HOLDS = {AT_LEAST: operator.ge, AT_MOST: operator.le}


@dataclass(frozen=True, slots=True)
class Target:
    """A bound on a figure, which is a ratio where `times` names what it is a multiple of."""

    what: str
    bound: str
    limit: float
    times: str
    read: Callable[[Results], float]

    @property
    def statement(self) -> str:
        """The target in words."""
        unit = f" x {self.times}" if self.times in _RATIO_OF else f" {self.times}"
        return f"{self.what}: {self.bound} {self.limit:g}{unit}"

    def judge(self, results: Results) -> tuple[str, str]:
        """The figure, and whether it is met; the second says so where it was not measured."""
        try:
            figure = self.read(results)
        except (KeyError, TypeError):  # a part that was left out, or a skipped peer
            return "", "not measured"
        except ZeroDivisionError:  # a peer that answered nothing in the time of a run
            return "", "not measured"
        return f"{figure:.2f}", "met" if _HOLDS[self.bound](figure, self.limit) else "not met"


def _batch(program: str, peer: str) -> Callable[[Results], float]:
    def ratio(results: Results) -> float:
        first = next(iter(results["batch"].values()))
        return float(first[program]["cpu"] / first[peer]["cpu"])

    return ratio


def _single(peer: str, model: str = NER) -> Callable[[Results], float]:
    return lambda results: results["single"][peer]["p50"] / results["single"][model]["p50"]


def _http(path: str, connections: int, peer: str, figure: str) -> Callable[[Results], float]:
    def ratio(results: Results) -> float:
        of = results["http"][path][connections]
        return float(of[TRELLIS_CRF][figure] / of[peer][figure])

    return ratio


def _memory_ratio(results: Results) -> float:
    """What a text takes, by what one takes that is a quarter as long."""
    quarter, _, whole = (of["growth_mb"] for of in results["long"])
    return float(whole / quarter)


_NER_BATCH = "en-ner-crf, text to spans, batches, per CPU second"
_POS_BATCH = "en-pos-crf, text to tags, batches, per CPU second"
_ONE_SENTENCE = "en-ner-crf, one sentence at a time, speed at p50"
_HTTP_ONE = "HTTP /ner with en-ner-crf, one sentence, 8 connections, requests per second"
_LONG = "a text of one million characters, one sentence"
_CRF_NER, _CRF_POS = f"{CRF_TUNED} (ner)", f"{CRF_TUNED} (pos)"
_SPACY_NER, _SPACY_POS = f"{SPACY_NER} (ner)", f"{SPACY_TAGGER} (pos)"
_WINK = f"{WINK} (pos)"
_QUARTER = "what half a million take (4 is linear, 16 quadratic)"
_PYTORCH = f"{PYTORCH} (ner)"
_NO_MONITORING = "the same without"
_PEERS = {PYTORCH, CRF_TUNED, SPACY_NER, SPACY_TAGGER, WINK, EMPTY, SPACY}
_RATIO_OF = _PEERS | {_QUARTER, _NO_MONITORING}

TARGETS: Sequence[Target] = (
    Target(_NER_BATCH, AT_LEAST, 4, CRF_TUNED, _batch(NER, _CRF_NER)),
    Target(_NER_BATCH, AT_LEAST, 80, SPACY_NER, _batch(NER, _SPACY_NER)),
    Target(_POS_BATCH, AT_LEAST, 1.2, WINK, _batch(POS, _WINK)),
    Target(_POS_BATCH, AT_LEAST, 3, CRF_TUNED, _batch(POS, _CRF_POS)),
    Target(_POS_BATCH, AT_LEAST, 25, SPACY_TAGGER, _batch(POS, _SPACY_POS)),
    Target(_ONE_SENTENCE, AT_LEAST, 1, CRF_TUNED, _single(_CRF_NER)),
    Target(_ONE_SENTENCE, AT_LEAST, 20, SPACY_NER, _single(_SPACY_NER)),
    Target(
        f"{NEURAL_BY_32}, per CPU second",
        AT_LEAST,
        1.5,
        PYTORCH,
        _batch(f"{NEURAL_BY_32} (ner)", _PYTORCH),
    ),
    Target(
        f"{NEURAL}, one sentence at a time, speed at p50",
        AT_LEAST,
        3,
        PYTORCH,
        _single(_PYTORCH, f"{NEURAL} (ner)"),
    ),
    Target(_HTTP_ONE, AT_LEAST, 0.65, EMPTY, _http(ONE, 8, EMPTY, "per_s")),
    Target(_HTTP_ONE, AT_LEAST, 8, SPACY, _http(ONE, 8, SPACY, "per_s")),
    Target(
        "HTTP /ner/batch with en-ner-crf, 32 sentences, 8 connections, tokens per second",
        AT_LEAST,
        30,
        SPACY,
        _http(MANY, 8, SPACY, "per_s"),
    ),
    Target(
        "HTTP /ner with en-ner-crf, one sentence, 8 connections, p99",
        AT_MOST,
        2.5,
        EMPTY,
        _http(ONE, 8, EMPTY, "p99_us"),
    ),
    Target(
        "/ner with en-ner-crf, one sentence in process, with metrics and log",
        AT_MOST,
        1.1,
        _NO_MONITORING,
        lambda results: float(results["monitoring"]["both"] / results["monitoring"]["neither"]),
    ),
    Target(
        "memory of a worker (PSS), default models",
        AT_MOST,
        100,
        "MB",
        lambda results: float(results["footprint"]["pss_mb"]),
    ),
    Target(
        "start to ready",
        AT_MOST,
        2,
        "seconds",
        lambda results: float(results["footprint"]["start_s"]),
    ),
    Target(
        "one sentence of two million characters, memory that it takes",
        AT_MOST,
        4,
        _QUARTER,
        _memory_ratio,
    ),
    Target(
        f"{_LONG}, slowest answer of /livez meanwhile",
        AT_MOST,
        1000,
        "ms",
        lambda results: float(results["long"][1]["slowest_probe_ms"]),
    ),
    Target(_POS_BATCH, AT_LEAST, 2, WINK, _batch(POS, _WINK)),
    Target(_NER_BATCH, AT_LEAST, 8, CRF_TUNED, _batch(NER, _CRF_NER)),
    Target(_HTTP_ONE, AT_LEAST, 0.85, EMPTY, _http(ONE, 8, EMPTY, "per_s")),
)
