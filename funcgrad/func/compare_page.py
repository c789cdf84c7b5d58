"""The page that shows a comparison: tables, plots drawn as inline SVG, and the two jaxprs side by side."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse}td,th{padding:.25rem .8rem;text-align:right;border-bottom:1px solid #ddd}"
    "td:first-child,th:first-child{text-align:left}.two{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:1rem}"
    "pre{font-size:11px;overflow:auto;max-height:36rem;background:#f6f6f6;padding:.6rem}svg{max-width:100%}"
)
_COLOURS = ("#1f6feb", "#d1742f", "#2f9e44", "#9c36b5")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 560, 260, 70, 30


def page(comparison: Any) -> str:
    """Return the page for a `Comparison`."""
    one, other = comparison.stateful, comparison.functional
    rows = "".join(
        f"<tr><td>{html.escape(what)}</td><td>{html.escape(a)}</td><td>{html.escape(b)}</td></tr>"
        for what, a, b in comparison.rows()
    )
    kinds = [kind for kind in ("loss", "gradients", "parameters", "optimizer") if _has(comparison.by_kind(kind))]
    plots = [
        plot("loss by step", {"stateful": one.losses, "functional": other.losses}),
        plot("largest difference by step", {kind: comparison.by_kind(kind) for kind in kinds}, log=True),
        plot("milliseconds by step", {s.name: [t * 1e3 for t in s.seconds[1:]] for s in (one, other)}, log=True),
        plot("megabytes held by step", {s.name: [b / 1e6 for b in s.live_bytes] for s in (one, other)}),
    ]
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>stateful and functional</title>"
        f"<style>{_STYLE}</style><h1>The same training, stateful and functional</h1>"
        f"<table><tr><th></th><th>stateful</th><th>functional</th></tr>{rows}</table>"
        f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in comparison.parted())}</ul>"
        f"<div class=two>{''.join(plots)}</div><h2>The two programs</h2><div class=two>"
        + "".join(f"<div><h3>{s.name}</h3><pre>{html.escape(s.jaxpr)}</pre></div>" for s in (one, other))
        + "</div></html>\n"
    )


def plot(title: str, curves: dict[str, Sequence[float]], *, log: bool = False) -> str:
    """Return a line plot as SVG. log: a logarithmic axis, on which zeros lie at the bottom."""
    numbers = [y for ys in curves.values() for y in ys if math.isfinite(y) and (y > 0 or not log)]
    low, high = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
    if log:
        low, high = math.log10(low) if numbers else -1.0, math.log10(high) if numbers else 0.0
    if high <= low:
        low, high = low - 0.5, high + 0.5
    parts = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" font-size="11">']
    parts.append(f'<text x="{_LEFT}" y="14">{html.escape(title)}</text>')
    for part in range(5):
        at = low + (high - low) * part / 4
        y = _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - 24) * part / 4
        label = _label(at, part, log, bool(numbers))
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e5e5e5"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
        )
    for i, (name, ys) in enumerate(curves.items()):
        points = " ".join(_point(x, y, len(ys), low, high, log) for x, y in enumerate(ys) if math.isfinite(y))
        colour = _COLOURS[i % len(_COLOURS)]
        dashed = ' stroke-dasharray="5 4"' if i % 2 else ""
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"{dashed}/>')
        parts.append(f'<text x="{_LEFT + 110 * i}" y="{_HEIGHT - 6}" fill="{colour}">{html.escape(name)}</text>')
    return "".join([*parts, "</svg>"])


def _label(at: float, part: int, log: bool, is_scaled: bool) -> str:
    """Return what stands beside a line of the axis: without numbers above 0 a logarithmic one has a 0 at the bottom."""
    if log and not is_scaled:
        return "0" if part == 0 else ""
    return f"{10**at:.1e}" if log else f"{at:.4g}"


def _point(x: int, y: float, count: int, low: float, high: float, log: bool) -> str:
    if log:
        y = math.log10(y) if y > 0 else low
    across = _LEFT + (_WIDTH - _LEFT - 10) * x / max(count - 1, 1)
    up = _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - 24) * (y - low) / (high - low)
    return f"{across:.1f},{up:.1f}"


def _has(numbers: Sequence[float]) -> bool:
    return any(math.isfinite(number) for number in numbers)
