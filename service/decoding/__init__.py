"""From scores to paths: the one decoder that every tagger shares. Knows no model."""

from service.decoding.constraints import Constraints, bio_constraints, bioes_constraints
from service.decoding.forward_backward import Posterior, forward_backward
from service.decoding.k_best import ScoredPath, k_best_paths
from service.decoding.scores import ChainScores, Transitions
from service.decoding.viterbi import best_paths, viterbi_cells

__all__ = [
    "ChainScores",
    "Constraints",
    "Posterior",
    "ScoredPath",
    "Transitions",
    "best_paths",
    "bio_constraints",
    "bioes_constraints",
    "forward_backward",
    "k_best_paths",
    "viterbi_cells",
]
