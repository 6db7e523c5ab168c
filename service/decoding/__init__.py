"""From scores to paths: the one decoder that every tagger shares. Knows no model."""

from service.decoding.constraints import Constraints, bio_constraints, bioes_constraints
from service.decoding.dictionary import Dictionary, Entry
from service.decoding.evidence import Evidence, with_evidence
from service.decoding.forward_backward import Posterior, forward_backward
from service.decoding.inference import (
    PATH_ALONE,
    Inference,
    Inferred,
    TagSequence,
    distinct_labels,
    infer,
)
from service.decoding.k_best import ScoredPath, k_best_paths
from service.decoding.scores import ChainScores, Transitions
from service.decoding.span_constraints import ANY_LABEL, Mode, SpanConstraint, constraint_evidence
from service.decoding.trellis import NOWHERE, Trellis, lay_open
from service.decoding.viterbi import best_paths, viterbi_cells

__all__ = [
    "ANY_LABEL",
    "NOWHERE",
    "PATH_ALONE",
    "ChainScores",
    "Constraints",
    "Dictionary",
    "Entry",
    "Evidence",
    "Inference",
    "Inferred",
    "Mode",
    "Posterior",
    "ScoredPath",
    "SpanConstraint",
    "TagSequence",
    "Transitions",
    "Trellis",
    "best_paths",
    "bio_constraints",
    "bioes_constraints",
    "constraint_evidence",
    "distinct_labels",
    "forward_backward",
    "infer",
    "k_best_paths",
    "lay_open",
    "viterbi_cells",
    "with_evidence",
]
