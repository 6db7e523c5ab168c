"""From scores to paths: the one decoder that every tagger shares. Knows no model."""

from service.decoding.constraints import Constraints, bio_constraints, bioes_constraints
from service.decoding.forward_backward import Posterior, forward_backward
from service.decoding.scores import ChainScores, Transitions
from service.decoding.trellis import NOWHERE, Trellis, lay_open
from service.decoding.viterbi import best_paths, viterbi_cells

__all__ = [
    "NOWHERE",
    "ChainScores",
    "Constraints",
    "Posterior",
    "Transitions",
    "Trellis",
    "best_paths",
    "bio_constraints",
    "bioes_constraints",
    "forward_backward",
    "lay_open",
    "viterbi_cells",
]
