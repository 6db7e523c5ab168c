"""Pretraining a language model: AdamW over a planned number of words, held-out perplexity."""

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from service.errors import RecipeError
from service.training.fitting import schedule
from service.training.language_model import LanguageModel, Segment, States
from service.training.pretraining_recipe import LanguageModelOptions
from service.training.progress import Progress

_SAVE_EVERY_S = 300.0

Curve = list[tuple[int, float, float]]
"""After how many words, the perplexity of the forward and of the backward direction."""


class Pretraining:
    """Fits a language model in place.

    Parameters
    ----------
    model : what is fitted.
    segments : of a pass, by its number.
    measure : held-out perplexity of both directions.
    options : the schedule.
    checkpoint : a file to keep the state of the fitting in; an interrupted one goes on from it.
    """

    def __init__(
        self,
        model: LanguageModel,
        segments: Callable[[int], Iterator[Segment]],
        measure: Callable[[], tuple[float, float]],
        options: LanguageModelOptions,
        checkpoint: Path | None,
    ) -> None:
        self._model = model
        self._segments = segments
        self._measure = measure
        self._options = options
        self._checkpoint = checkpoint
        sparse = [model.words.vectors.weight]
        self._dense = [p for p in model.parameters() if p is not sparse[0]]
        self._optimizers: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(self._dense, lr=options.learning_rate),
            torch.optim.SparseAdam(sparse, lr=options.learning_rate),
        ]
        self._done = 0
        self._pass = 0
        self._done_of_pass = 0
        self._states: States | None = None
        self.curve: Curve = []

    def run(self) -> None:
        """Fit, and leave the model ready to be read."""
        options = self._options
        if self._checkpoint is not None and self._checkpoint.exists():
            self._restore(torch.load(self._checkpoint))
        words = options.streams * options.steps
        steps = math.ceil(options.tokens / words)
        every = math.ceil(steps / options.measurements)
        progress = Progress("segment", steps, begun=self._done)
        begun, begin_s, saved_s = self._done, time.monotonic(), time.monotonic()
        for segment in self._onwards(steps):
            loss = self._step(segment, schedule(self._done, steps))
            self._done += 1
            self._done_of_pass += 1
            speed = (self._done - begun) * words / (time.monotonic() - begin_s)
            progress.step(self._done, f"loss {loss:.3f}, {speed:.0f} words/s")
            if self._done % every == 0 or self._done == steps:
                self._model.eval()
                ahead, back = self._measure()
                self._model.train()
                self.curve.append((self._done * words, round(ahead, 2), round(back, 2)))
                progress.say(f"held-out perplexity {ahead:.1f} forward, {back:.1f} backward")
            due = time.monotonic() - saved_s > _SAVE_EVERY_S or self._done == steps
            if self._checkpoint is not None and due:
                self._save(self._checkpoint)
                saved_s = time.monotonic()
        self._model.eval()

    def _onwards(self, steps: int) -> Iterator[Segment]:
        """The segments from where the fitting is."""
        while self._done < steps:
            before = self._done
            for i, segment in enumerate(self._segments(self._pass)):
                if i >= self._done_of_pass:
                    if self._done == steps:
                        return
                    yield segment
            if self._done == before and not self._done_of_pass:
                raise RecipeError("a pass has no segment: fewer words than streams times steps")
            self._pass, self._done_of_pass, self._states = self._pass + 1, 0, None

    def _step(self, segment: Segment, share: float) -> float:
        for optimizer in self._optimizers:
            optimizer.param_groups[0]["lr"] = self._options.learning_rate * share
            optimizer.zero_grad()
        losses, self._states = self._model(segment, self._states)
        loss = losses.mean()
        loss.backward()
        nn.utils.clip_grad_norm_(self._dense, self._options.clip)
        for optimizer in self._optimizers:
            optimizer.step()
        return float(loss.item())

    def _save(self, path: Path) -> None:
        partial = path.with_name(path.name + ".partial")
        torch.save(self._state(), partial)
        partial.replace(path)

    def _state(self) -> dict[str, Any]:
        return {
            "model": self._model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self._optimizers],
            "random": torch.get_rng_state(),
            "done": (self._done, self._pass, self._done_of_pass),
            "states": self._states,
            "curve": self.curve,
        }

    def _restore(self, state: dict[str, Any]) -> None:
        self._model.load_state_dict(state["model"])
        for optimizer, saved in zip(self._optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        torch.set_rng_state(state["random"])
        self._done, self._pass, self._done_of_pass = state["done"]
        self._states, self.curve = state["states"], state["curve"]


def perplexities(
    model: LanguageModel, sentences: Iterator[tuple[Segment, torch.Tensor]]
) -> tuple[float, float]:
    """The perplexity of both directions on sentences, each read from a state of zero."""
    total = np.zeros(2)
    count = 0
    with torch.inference_mode():
        for segment, real in sentences:
            losses, _ = model(segment, None)  # (2, T, B)
            total += (losses * real).sum(dim=(1, 2)).double().numpy()
            count += int(real.sum())
    ahead, back = np.exp(total / count)
    return float(ahead), float(back)
