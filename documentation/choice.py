"""The tables of the models, and plots of how good they are against how fast and how large."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Self
from xml.sax.saxutils import escape

from documentation.figures import Model

_WIDTH, _HEIGHT = 560, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 20, 46, 62
_LINE = 20  # the height of a label
_CHARACTER = 8.0  # the width of one, on the average
_STYLE = """
    .page { fill: #f7f7f5; } .grid { stroke: #dcdcd6; } .text { fill: #1d1d1b; }
    .muted { fill: #5a5a55; } .dot { fill: #0b5a8f; fill-opacity: .28; stroke: #0b5a8f; }
    .default { fill-opacity: .85; }
    text { font: 15px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
    .b { font-weight: 650; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #1c1f22; } .grid { stroke: #363b40; } .text { fill: #ececea; }
      .muted { fill: #a9adb1; } .dot { fill: #7cc0ee; stroke: #7cc0ee; }
    }
  """


def models_table(models: Sequence[Model]) -> str:
    """A row a model: its scores, its speed and its size."""
    data = list(models[0].scores)
    head = ["model", *data, "lower / upper case", "raw text", "tokens per CPU second", "size"]
    align = ["---", *["---:"] * (len(head) - 1)]
    rows = [
        [
            f"[`{m.name}`](../models/{m.name}/README.md)" + ", default" * m.manifest.default,
            *(f"{m.scores[name]:.1f}" for name in data),
            f"{m.lower:.1f} / {m.upper:.1f}",
            f"{m.raw:.1f}",
            "" if m.tokens_per_cpu_s is None else f"{m.tokens_per_cpu_s:,}",
            f"{m.size_mb:.1f} MB",
        ]
        for m in models
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, align, *rows))


def choice_svg(models: Sequence[Model], measure: str) -> str:
    """Draw the score of each model on its first data set against its speed; area is size."""
    drawn = sorted((m for m in models if m.tokens_per_cpu_s), key=lambda m: -m.main_score)
    scores = [model.main_score for model in drawn]
    low, high = math.floor(min(scores) - 0.5), math.ceil(max(scores) + 0.5)
    [data] = {next(iter(model.scores)) for model in drawn}
    axis = _Axis.of([model.tokens_per_cpu_s or 1 for model in drawn])
    bottom, middle = _HEIGHT - _BOTTOM, (_LEFT + _WIDTH - _RIGHT) / 2

    def y(score: float) -> float:
        return round(_TOP + (high - score) / (high - low) * (bottom - _TOP), 1)

    parts = [_text(_LEFT - 34, 28, f"{measure}, {data}, test", "text b")]
    for score in range(low, high + 1):
        parts += [_grid(_LEFT, y(score), _WIDTH - _RIGHT, y(score))]
        parts += [_text(_LEFT - 10, y(score) + 5, str(score), "muted", "end")]
    for tokens in (10**power for power in range(axis.least, axis.most + 1)):
        parts += [_grid(axis.x(tokens), _TOP, axis.x(tokens), bottom)]
        anchor = "end" if tokens == 10**axis.most else "middle"
        parts += [_text(axis.x(tokens), bottom + 22, f"{tokens:,}", "muted", anchor)]
    parts += [_text(middle, bottom + 46, "tokens per CPU second, from text", "text", "middle")]
    above = -math.inf
    for model in drawn:
        x = axis.x(model.tokens_per_cpu_s or 1)
        place = _label_place(model, x, y(model.main_score), above + _LINE)
        above = place[1]
        parts += _disc(model, x, y(model.main_score), place)
    lines = "\n".join(f"  {part}" for part in parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img">\n'
        f"  <title>{escape(measure)} against speed; the larger the disc, the larger the model"
        f"</title>\n  <style>{_STYLE}</style>\n"
        f'  <rect class="page" width="{_WIDTH}" height="{_HEIGHT}" rx="10"/>\n{lines}\n</svg>\n'
    )


class _Axis(NamedTuple):
    """Speeds from left to right, by their logarithm: between two powers of ten."""

    least: int
    most: int

    @classmethod
    def of(cls, speeds: Sequence[int]) -> Self:
        """One that has room for all of these."""
        return cls(math.floor(math.log10(min(speeds))), math.ceil(math.log10(max(speeds))))

    def x(self, tokens: int) -> float:
        """Where a speed stands."""
        share = (math.log10(tokens) - self.least) / max(self.most - self.least, 1)
        return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)


def _label(model: Model) -> str:
    return f"{model.name} {model.main_score:.1f}, {model.size_mb:.0f} MB"


def _radius(model: Model) -> float:
    return round(3 * math.sqrt(model.size_mb), 1)  # so that the area is the size


def _label_place(model: Model, x: float, y: float, highest: float) -> tuple[float, float, str]:
    """Where a label has room, and its anchor: behind its disc, before it, or above both.

    Not above `highest`, which is the line below the label of the model before.
    """
    away = _radius(model) + 8
    width = _CHARACTER * len(_label(model))
    beside = max(y + 5, highest)
    if x + away + width < _WIDTH:
        return x + away, beside, "start"
    if x - away - width > _LEFT:
        return x - away, beside, "end"
    middle = min(max(x, _LEFT + width / 2), _WIDTH - _RIGHT - width / 2)
    return middle, max(y - away, highest), "middle"


def _disc(model: Model, x: float, y: float, label: tuple[float, float, str]) -> list[str]:
    """A model's disc, and its label in the place that it has."""
    label_x, label_y, anchor = label
    kind = "dot" + " default" * model.manifest.default
    return [
        f'<circle class="{kind}" cx="{x}" cy="{y}" r="{_radius(model)}"/>',
        _text(label_x, label_y, _label(model), "text", anchor),
    ]


def _grid(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="grid" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'
