"""Fitting the network: AdamW with warm-up and cosine, early stopping on dev, checkpoints.

What is measured and kept is not the network as a step leaves it but a running mean of its weights
(Polyak and Juditsky 1992): single steps are noisy, and the mean of many is better than any of them.
So is the mean of several fittings that begin with the same trained weights (Wortsman et al. 2022).
"""

import math
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from service.training.batches import Batches
from service.training.bilstm_crf_options import BilstmCrfOptions
from service.training.network import BilstmCrf
from service.training.progress import Progress

_WARM_UP_SHARE = 0.05


def fit(
    network: BilstmCrf,
    begun: Callable[[int, Path | None], "Fitting"],
    runs: int,
    seed: int,
    checkpoint: Path | None,
) -> None:
    """Fit a network in place, several times from the weights that it has, and leave it their mean.

    Parameters
    ----------
    network : what is fitted.
    begun : makes the fitting of a run from its seed and its checkpoint.
    runs : how often.
    seed : of the first run; each has its own.
    checkpoint : of the first run; those of the others end in their number.
    """
    beginning = _copied(network.state_dict())
    results = []
    for run in range(runs):
        file = checkpoint
        if run:
            torch.manual_seed(seed + run)
            file = checkpoint and checkpoint.with_name(f"{checkpoint.name}.{run + 1}")
        network.load_state_dict(beginning)
        begun(seed + run, file).run()
        results.append(_copied(network.state_dict()))
    means = {name: torch.stack([each[name] for each in results]).mean(0) for name in beginning}
    network.load_state_dict(means)


class Fitting:
    """Fits a network in place, an epoch after another, and keeps the weights that dev likes best.

    Parameters
    ----------
    network : what is fitted.
    batches : the training data.
    measure : how good a network is on dev, higher is better; None where nothing says so, and
        then the last epoch is the best.
    options : the schedule.
    seed : of all that is random.
    checkpoint : a file to keep the state of the fitting in; an interrupted one goes on from it.
    """

    def __init__(
        self,
        network: BilstmCrf,
        batches: Batches,
        measure: Callable[[BilstmCrf], float | None],
        options: BilstmCrfOptions,
        seed: int,
        checkpoint: Path | None,
    ) -> None:
        self._network = network
        self._averaged = AveragedModel(network, multi_avg_fn=_running_mean(options.averaging))
        self._batches = batches
        self._measure = measure
        self._options = options
        self._checkpoint = checkpoint
        self._rng = random.Random(seed)
        sparse = [network.words.vectors.weight]
        self._dense = [p for p in network.parameters() if p is not sparse[0]]
        # The vectors of words that a batch lacks stay as they are.
        self._optimizers: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(self._dense, lr=options.learning_rate),
            torch.optim.SparseAdam(sparse, lr=options.learning_rate),
        ]
        self._epoch = 0
        self._best = -math.inf
        self._best_epoch = 0
        self._best_weights: dict[str, Tensor] = {}

    def run(self) -> None:
        """Fit, and leave the network with its best weights."""
        options = self._options
        if self._checkpoint is not None and self._checkpoint.exists():
            self._restore(torch.load(self._checkpoint))
        steps = options.epochs * len(self._batches)
        progress = Progress("batch", steps, begun=self._epoch * len(self._batches))
        while self._epoch < options.epochs and self._epoch - self._best_epoch < options.patience:
            self._run_epoch(steps, progress)
            score = self._measure(self._averaged.module)
            if score is not None:
                progress.say(f"epoch {self._epoch}: dev {100 * score:.2f}")
            if score is None or score > self._best:
                self._best, self._best_epoch = score or 0.0, self._epoch
                self._best_weights = _copied(self._averaged.module.state_dict())
            if self._checkpoint is not None:
                torch.save(self._state(), self._checkpoint)
        self._network.load_state_dict(self._best_weights)
        self._network.eval()

    def _run_epoch(self, steps: int, progress: Progress) -> None:
        self._network.train()
        options = self._options
        tokens, begin_s = 0, time.monotonic()
        shuffled = self._batches.shuffled(self._rng, options.unknown_share, options.recased_share)
        for i, batch in enumerate(shuffled, start=self._epoch * len(self._batches)):
            rate = options.learning_rate * schedule(i, steps)
            for optimizer in self._optimizers:
                optimizer.param_groups[0]["lr"] = rate
                optimizer.zero_grad()
            loss = self._network(batch)
            loss.backward()
            nn.utils.clip_grad_norm_(self._dense, options.clip)
            for optimizer in self._optimizers:
                optimizer.step()
            self._averaged.update_parameters(self._network)
            tokens += int(batch.lengths.sum())
            speed = tokens / (time.monotonic() - begin_s)
            progress.step(i + 1, f"loss {loss.item():.2f}, {speed:.0f} tokens/s")
        self._epoch += 1

    def _state(self) -> dict[str, Any]:
        return {
            "network": self._network.state_dict(),
            "averaged": self._averaged.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self._optimizers],
            "random": (self._rng.getstate(), torch.get_rng_state()),
            "epochs": (self._epoch, self._best_epoch),
            "best": self._best,
            "best_weights": self._best_weights,
        }

    def _restore(self, state: dict[str, Any]) -> None:
        self._network.load_state_dict(state["network"])
        self._averaged.load_state_dict(state["averaged"])
        for optimizer, saved in zip(self._optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        rng, torch_rng = state["random"]
        self._rng.setstate(rng)
        torch.set_rng_state(torch_rng)
        self._epoch, self._best_epoch = state["epochs"]
        self._best, self._best_weights = state["best"], state["best_weights"]


def _copied(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: weight.clone() for name, weight in weights.items()}


def _running_mean(decay: float) -> Callable[[list[Tensor], list[Tensor], Tensor], None]:
    """How weights enter their mean: it forgets all but `decay` of itself a step, at first more."""

    def update(mean: list[Tensor], weights: list[Tensor], steps: Tensor) -> None:
        share = max(1 - decay, 10 / (10 + steps.item()))
        for averaged, weight in zip(mean, weights, strict=True):
            averaged.lerp_(weight, share)

    return update


def schedule(step: int, steps: int) -> float:
    """The share of the learning rate: a straight warm-up, then half a cosine down to zero."""
    warm_up = max(1, round(_WARM_UP_SHARE * steps))
    if step < warm_up:
        return (step + 1) / warm_up
    return 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(1, steps - warm_up)))
