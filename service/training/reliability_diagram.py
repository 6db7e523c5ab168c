"""The reliability diagram (Murphy and Winkler 1977) as an SVG: accuracy against confidence."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from service.training.calibration import Reliability, ReliabilityBin

_OF = {"token_ece": "tags", "span_ece": "entities"}
_COLUMNS = 2  # tags and entities of one data set beside each other
_SIDE = 260  # of the square of a diagram
_COUNTS = 60  # the height of the strip under it
_LEFT, _TOP, _RIGHT, _GAP, _BOTTOM = 64, 56, 28, 34, 52
_WIDTH = _LEFT + _SIDE + _RIGHT
_HEIGHT = _TOP + _SIDE + _GAP + _COUNTS + _BOTTOM
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#222}.title{font-size:14px;font-weight:600}"
    ".quiet{fill:#666}.axis{stroke:#222;fill:none}.grid{stroke:#ddd}"
    ".accuracy{fill:#4477aa}.gap{fill:#ee6677;fill-opacity:.35;stroke:#ee6677}"
    ".back{fill:#fff;fill-opacity:.85}.perfect{stroke:#222;stroke-dasharray:5 4}.count{fill:#999}"
)


def reliability_svg(diagrams: Sequence[Reliability]) -> str:
    """Draw diagrams, two in a row: bars of accuracy, what lacks to the confidence, and counts."""
    rows = -(-len(diagrams) // _COLUMNS)
    width, height = _WIDTH * min(len(diagrams), _COLUMNS), _HEIGHT * rows
    drawn = [
        f'<g transform="translate({_WIDTH * (i % _COLUMNS)} {_HEIGHT * (i // _COLUMNS)})">'
        f"{_diagram(diagram)}</g>"
        for i, diagram in enumerate(diagrams)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img">',
            "<title>Reliability: accuracy against confidence</title>",
            f"<style>{_STYLE}</style>",
            '<rect width="100%" height="100%" fill="#fff"/>',
            *drawn,
            "</svg>\n",
        ]
    )


def _diagram(diagram: Reliability) -> str:
    error = diagram.error
    total = sum(part.count for part in diagram.bins)
    said = "nothing predicted" if error is None else f"ECE {100 * error:.2f} %, n = {total:,}"
    return "\n".join(
        [
            _text(_LEFT, 24, diagram.data, "title"),
            _text(_LEFT, 42, f"{diagram.split}, {_OF[diagram.metric]}: {said}", "quiet"),
            *_frame(),
            *(_bars(part) for part in diagram.bins if part.count),
            f'<line class="perfect" x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}"/>',
            *_legend(),
            *_count_strip(diagram.bins),
        ]
    )


def _legend() -> list[str]:
    return [
        f'<rect class="back" x="{_LEFT + 4}" y="{_TOP + 4}" width="196" height="42"/>',
        f'<rect class="accuracy" x="{_LEFT + 10}" y="{_TOP + 10}" width="12" height="12"/>',
        _text(_LEFT + 28, _TOP + 20, "accuracy"),
        f'<rect class="gap" x="{_LEFT + 10}" y="{_TOP + 28}" width="12" height="12"/>',
        _text(_LEFT + 28, _TOP + 38, "gap to the mean confidence"),
    ]


def _frame() -> list[str]:
    """Axes, their ticks and their names."""
    parts = []
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        x, y = _x(tick), _y(tick)
        parts += [
            f'<line class="grid" x1="{_x(0)}" y1="{y}" x2="{_x(1)}" y2="{y}"/>',
            _text(_LEFT - 8, y + 4, f"{tick:.1f}", anchor="end"),
            _text(x, _TOP + _SIDE + _GAP + _COUNTS + 18, f"{tick:.1f}", anchor="middle"),
        ]
    middle = _TOP + _SIDE / 2
    return [
        *parts,
        f'<rect class="axis" x="{_LEFT}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}"/>',
        f'<g transform="rotate(-90 20 {middle})">'
        f"{_text(20, middle, 'accuracy', anchor='middle')}</g>",
        _text(
            _LEFT + _SIDE / 2,
            _TOP + _SIDE + _GAP + _COUNTS + 38,
            "confidence",
            anchor="middle",
        ),
    ]


def _bars(part: ReliabilityBin) -> str:
    """The accuracy of a bin, and between it and the confidence the gap."""
    low, high = sorted((part.accuracy, part.confidence))
    return _rect("accuracy", part, _y(part.accuracy), _y(0)) + _rect("gap", part, _y(high), _y(low))


def _count_strip(bins: Sequence[ReliabilityBin]) -> list[str]:
    """How many predictions each bin has."""
    base, most = _TOP + _SIDE + _GAP + _COUNTS, max(part.count for part in bins)
    return [
        _text(_LEFT - 8, base - _COUNTS + 8, f"{most:,}", anchor="end"),
        _text(_LEFT - 8, base, "0", anchor="end"),
        _text(_LEFT, base - _COUNTS - 8, "number of predictions", "quiet"),
        *(
            _rect("count", part, base - _COUNTS * part.count / most, base)
            for part in bins
            if part.count
        ),
        f'<line class="axis" x1="{_x(0)}" y1="{base}" x2="{_x(1)}" y2="{base}"/>',
    ]


def _rect(kind: str, part: ReliabilityBin, top: float, bottom: float) -> str:
    left, right = _x(part.low), _x(part.high)
    return (
        f'<rect class="{kind}" x="{left + 1:.1f}" y="{top:.1f}" '
        f'width="{right - left - 2:.1f}" height="{bottom - top:.1f}"/>'
    )


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _x(share: float) -> float:
    return _LEFT + _SIDE * share


def _y(share: float) -> float:
    return _TOP + _SIDE * (1 - share)
