"""Taggers: each loads its own weights and scores words. They share everything else."""

from collections.abc import Mapping
from typing import Protocol

from service.decoding import Constraints
from service.taggers.base import FeatureTagger, FiredFeature, Parameters, Tagger
from service.taggers.bilstm_crf import BilstmCrfTagger
from service.taggers.crf import CrfTagger
from service.taggers.elmo import elmo_tagger
from service.taggers.hmm import HmmTagger


class TaggerClass(Protocol):
    """How a tagger is made; a ValueError says what is wrong with the parameters."""

    def __call__(
        self, parameters: Parameters, constraints: Constraints, max_unseen_words: int
    ) -> Tagger: ...


ARCHITECTURES: Mapping[str, TaggerClass] = {
    "hmm": HmmTagger,
    "crf": CrfTagger,
    "bilstm-crf": BilstmCrfTagger,
    "elmo": elmo_tagger,
}
"""Every architecture that a manifest may name."""

__all__ = [
    "ARCHITECTURES",
    "FeatureTagger",
    "FiredFeature",
    "Parameters",
    "Tagger",
    "TaggerClass",
]
