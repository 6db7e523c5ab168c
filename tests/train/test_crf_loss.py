"""The loss of the CRF against enumeration of all paths, and its gradients by differences."""

import itertools

import pytest
import torch

from service.decoding import Constraints, bio_constraints
from service.training.crf_loss import ChainCrf

LABELS = ("B-X", "I-X", "O", "B-Y")
LENGTHS = [4, 1, 3]


def chain(constraints):
    torch.manual_seed(1)
    crf = ChainCrf(constraints).double()
    for weights in crf.parameters():
        torch.nn.init.normal_(weights)
    emissions = torch.randn(max(LENGTHS), len(LENGTHS), len(LABELS), dtype=torch.double)
    return crf, emissions, torch.tensor(LENGTHS)


def paths(crf, emissions, length):
    """Every path of a sentence, and its score, added up a term at a time."""
    transitions, start, end = (
        getattr(crf, name) + getattr(crf, f"forbidden_{name}")
        for name in ("transitions", "start", "end")
    )
    for path in itertools.product(range(len(LABELS)), repeat=length):
        score = start[path[0]] + end[path[-1]] + sum(emissions[t, k] for t, k in enumerate(path))
        yield path, score + sum(transitions[i, j] for i, j in itertools.pairwise(path))


@pytest.fixture(params=[Constraints.none(len(LABELS)), bio_constraints(LABELS)], ids=["any", "bio"])
def made(request):
    return chain(request.param)


def test_the_normaliser_is_the_log_sum_over_all_paths(made):
    crf, emissions, lengths = made
    found = crf.log_partition(emissions, lengths)
    for i, length in enumerate(LENGTHS):
        scores = torch.stack([score for _, score in paths(crf, emissions[:, i], length)])
        torch.testing.assert_close(found[i], torch.logsumexp(scores, 0))


def test_the_score_of_a_path_is_the_sum_of_its_terms(made):
    crf, emissions, lengths = made
    for i, length in enumerate(LENGTHS):
        for path, score in paths(crf, emissions[:, i], length):
            tags = torch.zeros(len(emissions), len(LENGTHS), dtype=torch.long)
            tags[:length, i] = torch.tensor(path)
            torch.testing.assert_close(crf.path_score(emissions, tags, lengths)[i], score)


def test_a_forbidden_path_has_no_probability():
    crf, emissions, lengths = chain(bio_constraints(LABELS))
    tags = torch.full((len(emissions), len(LENGTHS)), LABELS.index("I-X"))
    log_prob = crf.path_score(emissions, tags, lengths) - crf.log_partition(emissions, lengths)
    assert (log_prob.exp() == 0).all()


def test_padding_changes_nothing(made):
    crf, emissions, lengths = made
    tags = torch.tensor([[0, 2, 3], [1, 0, 0], [2, 0, 2], [0, 0, 0]])
    longer = torch.cat([emissions, torch.full_like(emissions[:1], 100.0)])
    padded = torch.cat([tags, torch.full_like(tags[:1], 3)])
    torch.testing.assert_close(crf(emissions, tags, lengths), crf(longer, padded, lengths))


def test_gradients_agree_with_differences(made):
    crf, emissions, lengths = made
    tags = torch.tensor([[0, 2, 3], [1, 0, 0], [2, 0, 2], [0, 0, 0]])
    weights = (crf.transitions, crf.start, crf.end, emissions.requires_grad_())
    assert torch.autograd.gradcheck(lambda *_: crf(emissions, tags, lengths), weights)


def expectations(crf, emissions):
    """The probabilities of tags and the expected moves of a chain, by enumeration."""
    tags = torch.zeros_like(emissions)
    moves = torch.zeros(len(LENGTHS), len(LABELS), len(LABELS), dtype=torch.double)
    for i, length in enumerate(LENGTHS):
        for path, probability in probabilities(crf, emissions[:, i], length):
            tags[range(length), i, path] += probability
            for move in itertools.pairwise(path):
                moves[i][move] += probability
    return tags, moves


def probabilities(crf, emissions, length):
    scored = list(paths(crf, emissions, length))
    shares = torch.stack([score for _, score in scored]).softmax(0).detach()
    return [(path, share) for (path, _), share in zip(scored, shares, strict=True)]


def test_the_cross_entropy_is_that_of_all_paths(made):
    crf, emissions, lengths = made
    torch.manual_seed(2)
    taught = torch.randn_like(emissions)
    found = crf.cross_entropy(emissions, *expectations(crf, taught), lengths)
    of_sentences = [
        -sum(
            teacher * student.log()
            for (_, teacher), (_, student) in zip(
                probabilities(crf, taught[:, i], length),
                probabilities(crf, emissions[:, i], length),
                strict=True,
            )
            if teacher
        )
        for i, length in enumerate(LENGTHS)
    ]
    torch.testing.assert_close(found, torch.stack(of_sentences).mean())


def test_the_cross_entropy_to_gold_tags_is_the_likelihood(made):
    crf, emissions, lengths = made
    gold = torch.tensor([[0, 2, 3], [1, 0, 0], [2, 0, 2], [0, 0, 0]])
    inside = torch.arange(len(gold))[:, None] < lengths
    one_hot = torch.nn.functional.one_hot(gold, len(LABELS)).double() * inside[:, :, None]
    moves = torch.einsum("tbi,tbj->bij", one_hot[:-1], one_hot[1:])
    torch.testing.assert_close(
        crf.cross_entropy(emissions, one_hot, moves, lengths), crf(emissions, gold, lengths)
    )
