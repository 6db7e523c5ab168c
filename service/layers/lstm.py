"""The bidirectional LSTM over packed batches of sequences, both directions in one step.

Sequences are ranked by falling length, so those that still have an element at step t are the first
``active[t]``; elements of a step lie side by side, and nothing is padded. The backward direction
is in its own step at the same time, reading from the end of each sequence.

A logistic function is a tanh, sigmoid(x) = (1 + tanh(x / 2)) / 2: with the halves in the weights
one call of tanh serves all gates of a step.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.text.tokens import by_step

Floats = NDArray[np.float32]

_TOGETHER = 4
"""A BLAS multiplies so many rows together; those that are left over are quicker one by one, two or
three alone in half the time."""


@dataclass(frozen=True, slots=True)
class LstmWeights:
    """Weights of both directions, the gates in the order input, forget, output, candidate.

    Made by `lstm_weights`, which halves those of the logistic gates.

    Attributes
    ----------
    inputs : (D, 2, 4 H) of the elements.
    bias : (2, 4 H).
    recurrent : (2, H, 4 H) of the states of the step before.
    """

    inputs: Floats
    bias: Floats
    recurrent: Floats

    def project(self, elements: Floats) -> Floats:
        """What each of M elements gives to the gates: (M, D) to (M, 2, 4 H)."""
        projected = np.empty((len(elements), *self.bias.shape), dtype=np.float32)
        weights = self.inputs.reshape(-1, self.bias.size)
        _multiply(elements, weights, projected.reshape(-1, self.bias.size))
        projected += self.bias
        return projected

    def project_ways(self, elements: Floats) -> Floats:
        """The same where each direction has elements of its own: (M, 2, D) to (M, 2, 4 H)."""
        projected = np.empty((len(elements), *self.bias.shape), dtype=np.float32)
        for way in range(2):
            _multiply(elements[:, way], self.inputs[:, way], projected[:, way])
        projected += self.bias
        return projected


def lstm_weights(
    inputs: NDArray[np.floating[Any]],
    bias: NDArray[np.floating[Any]],
    recurrent: NDArray[np.floating[Any]],
) -> LstmWeights:
    """Bring weights as PyTorch has them into the order and scale of `LstmWeights`.

    Parameters
    ----------
    inputs : (2, 4 H, D), the gates in the order input, forget, candidate, output.
    bias : (2, 4 H), the sum of PyTorch's two.
    recurrent : (2, 4 H, H).
    """
    hidden = recurrent.shape[2]
    given, forget, candidate, output = np.arange(4 * hidden).reshape(4, hidden)
    order = np.concatenate([given, forget, output, candidate])  # (4 H,)
    scale = np.where(np.arange(4 * hidden) < 3 * hidden, 0.5, 1.0).astype(np.float32)  # (4 H,)
    halved = [weights[:, order].astype(np.float32) for weights in (inputs, bias, recurrent)]
    return LstmWeights(
        inputs=np.ascontiguousarray((halved[0] * scale[:, None]).transpose(2, 0, 1)),
        bias=halved[1] * scale,
        recurrent=np.ascontiguousarray((halved[2] * scale[:, None]).transpose(0, 2, 1)),
    )


def bilstm(projected: Floats, recurrent: Floats, offsets: NDArray[np.int64]) -> Floats:
    """The states of a bidirectional LSTM (Hochreiter and Schmidhuber 1997, with forget gates).

    Parameters
    ----------
    projected : (M, 2, 4 H) what the elements of all sequences give to the gates, see
        `LstmWeights.project`.
    recurrent : (2, H, 4 H), see `LstmWeights`.
    offsets : (S + 1,) sequence s has the elements ``offsets[s]`` to ``offsets[s + 1]``.

    Returns
    -------
    (M, 2, H) at each element the state of the forward and of the backward direction.
    """
    if len(offsets) == 2:
        return _states_of_one(projected, recurrent)
    elements, hidden = len(projected), recurrent.shape[1]
    states = np.empty((elements, 2, hidden), dtype=np.float32)
    if not elements:
        return states
    ahead, back, active = _in_both_ways(offsets)
    gates = np.empty((2, elements, 4 * hidden), dtype=np.float32)  # rows by step, then by rank
    gates[0] = projected[ahead, 0]
    gates[1] = projected[back, 1]
    by_gate = gates.reshape(2, elements, 4, hidden).transpose(2, 0, 1, 3)  # (4, 2, M, H)
    stepped = np.empty((2, elements, hidden), dtype=np.float32)
    cells = np.zeros((2, active[0], hidden), dtype=np.float32)
    products = np.empty((2, active[0], 4 * hidden), dtype=np.float32)
    first, before = 0, 0
    for count in active:
        end = first + count
        if first:
            product = products[:, :count]
            _multiply(stepped[:, before : before + count], recurrent, product)
            gates[:, first:end] += product
        _step(by_gate[:, :, first:end], cells[:, :count], stepped[:, first:end])
        before, first = first, end
    states[ahead, 0] = stepped[0]
    states[back, 1] = stepped[1]
    return states


def _states_of_one(projected: Floats, recurrent: Floats) -> Floats:
    """The same of one sequence: where the numbers of a gate lie side by side, most calls cost half.

    A step is a dozen of them, and little else.
    """
    elements, hidden = len(projected), recurrent.shape[1]
    gates = np.empty((elements, 4, 2, hidden), dtype=np.float32)
    of_ways = projected.reshape(elements, 2, 4, hidden)
    gates[:, :, 0] = of_ways[:, 0]
    gates[:, :, 1] = of_ways[::-1, 1]
    weights = recurrent.reshape(2, hidden, 4, hidden).transpose(2, 0, 1, 3)  # (4, 2, H, H)
    stepped = np.empty((elements, 2, 1, hidden), dtype=np.float32)
    cell = np.zeros((2, hidden), dtype=np.float32)
    product = np.empty((4, 2, 1, hidden), dtype=np.float32)
    before = None
    for here, state in zip(gates, stepped, strict=True):
        if before is not None:
            np.matmul(before, weights, out=product)
            here += product[:, :, 0]
        _step(here, cell, state[:, 0])
        before = state
    states = np.empty((elements, 2, hidden), dtype=np.float32)
    states[:, 0] = stepped[:, 0, 0]
    states[:, 1] = stepped[::-1, 1, 0]
    return states


def _multiply(rows: Floats, weights: Floats, out: Floats) -> None:
    """Put rows (..., n, H) times weights (..., H, W) into `out` (..., n, W)."""
    count = rows.shape[-2]
    together = count - count % _TOGETHER
    if together:
        np.matmul(rows[..., :together, :], weights, out=out[..., :together, :])
    if together < count:
        left, left_out = rows[..., together:, None, :], out[..., together:, None, :]
        np.matmul(left, weights[..., None, :, :], out=left_out)


def _step(gates: Floats, cell: Floats, state: Floats) -> None:
    """One step of sequences: from gates (4, ..., H) to a new cell and state (..., H), in place."""
    np.tanh(gates, out=gates)
    logistic = gates[:3]
    logistic *= 0.5
    logistic += 0.5
    given, forget, output, candidate = gates
    given *= candidate
    cell *= forget
    cell += given
    np.tanh(cell, out=state)
    state *= output


def _in_both_ways(
    offsets: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[int]]:
    """Order the M elements of a packed batch by time step.

    Returns
    -------
    ahead : (M,) the elements by step, and within a step by rank of their sequence.
    back : (M,) the same where step t is the t-th element from the end.
    active : T counts, how many sequences have an element at each step.
    """
    sequence_of, step, active = by_step(offsets)
    return offsets[sequence_of] + step, offsets[sequence_of + 1] - 1 - step, active
