"""The biLSTM against states that PyTorch computed, and by what packing must not change."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from service.layers.lstm import bilstm, lstm_weights
from service.text.tokens import offsets_of

STORED = load_file(Path(__file__).parents[2] / "made_networks/lstm.safetensors")
WEIGHTS = lstm_weights(STORED["inputs"], STORED["bias"], STORED["recurrent"])


def states(elements, lengths):
    return bilstm(WEIGHTS.project(elements), WEIGHTS.recurrent, offsets_of(lengths))


def test_the_states_are_those_of_pytorch():
    found = states(STORED["elements"], STORED["lengths"])
    np.testing.assert_allclose(found, STORED["states"], rtol=0, atol=1e-6)


@given(st.lists(st.integers(0, 6), max_size=5), st.integers(0, 2**32 - 1))
def test_a_sequence_has_the_same_states_alone_and_in_any_batch(lengths, seed):
    elements = np.random.default_rng(seed).normal(size=(sum(lengths), 3)).astype(np.float32)
    together = states(elements, lengths)
    bounds = offsets_of(lengths)
    for s, length in enumerate(lengths):
        mine = slice(bounds[s], bounds[s + 1])
        alone = states(elements[mine], [length])
        np.testing.assert_allclose(together[mine], alone, rtol=0, atol=1e-6)


@pytest.mark.parametrize("count", range(10))
def test_elements_are_projected_as_each_alone(count):
    elements = np.random.default_rng(count).normal(size=(count, 2, 3)).astype(np.float32)
    together = WEIGHTS.project(elements[:, 0])
    ways = WEIGHTS.project_ways(elements)
    assert together.shape == ways.shape == (count, *WEIGHTS.bias.shape)
    for element, of_both, of_each in zip(elements, together, ways, strict=True):
        ahead, back = (element[way] @ WEIGHTS.inputs[:, way] for way in range(2))
        np.testing.assert_allclose(of_each - WEIGHTS.bias, [ahead, back], rtol=0, atol=1e-6)
        expected = element[0] @ WEIGHTS.inputs.reshape(3, -1) + WEIGHTS.bias.ravel()
        np.testing.assert_allclose(of_both.ravel(), expected, rtol=0, atol=1e-6)


def test_the_backward_direction_is_the_forward_one_read_from_the_end():
    swapped = lstm_weights(*(STORED[name][::-1] for name in ("inputs", "bias", "recurrent")))
    elements = STORED["elements"][:4]
    found = bilstm(swapped.project(elements[::-1]), swapped.recurrent, offsets_of([4]))
    np.testing.assert_allclose(found[::-1, ::-1], states(elements, [4]), rtol=0, atol=1e-6)


@pytest.mark.parametrize("value", [1e4, -1e4])
def test_extreme_inputs_saturate_without_a_warning(value):
    found = states(np.full((3, 3), value, dtype=np.float32), [3])
    assert (np.abs(found) <= 1).all()
