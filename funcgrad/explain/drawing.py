"""The picture of a graph's nodes, as SVG and in Graphviz' language."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT, BOX = 200, 70, (176, 48)  # of a place in the picture, and of the box in it


class Entry(NamedTuple):
    """One node: its number in the text, torch's name, the shapes of its results, the user's line, what it keeps.

    module: the path of the module that made it, as far as it is known. folded: how many nodes it stands for, if it is
    a whole call of a module.
    """

    number: int
    name: str
    shapes: str
    line: str
    saved_bytes: int
    inputs: tuple[int, ...]
    is_leaf: bool
    module: str = ""
    folded: int = 0


def dot(entries: Sequence[Entry], note: str) -> str:
    """Return entries in Graphviz' language."""
    lines = ["digraph history {", "  rankdir=BT; node [shape=box, fontname=monospace, fontsize=10];"]
    if note:
        lines.append(f'  label="{_quoted(note)}"; labelloc=t;')
    numbers = {e.number for e in entries}
    for e in entries:
        label = "\\n".join(_quoted(part) for part in _texts(e) if part)
        filled = f', style=filled, fillcolor="{_colour(e)}"'
        lines.append(f'  n{e.number} [label="{label}"{filled}];')
        lines += [f"  n{i} -> n{e.number};" for i in e.inputs if i in numbers]
    return "\n".join([*lines, "}"])


def svg(entries: Sequence[Entry], note: str) -> str:
    """Return entries as a picture: a row for each distance from the newest, leaves in blue, folded calls in yellow."""
    depth = _depths(entries)
    rows: dict[int, list[Entry]] = {}
    for e in entries:
        rows.setdefault(depth[e.number], []).append(e)
    top = 34 if note else 10
    place = {e.number: (10 + x * WIDTH, top + y * HEIGHT) for y, row in sorted(rows.items()) for x, e in enumerate(row)}
    whole = 60 + max(map(len, rows.values()), default=0) * WIDTH, top + 10 + len(rows) * HEIGHT
    whole = max(whole[0], 20 + 7 * len(note)), whole[1]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole[0]}" height="{whole[1]}" '
             'font-family="sans-serif" font-size="11" style="background: white">']  # fmt: skip
    if note:
        parts.append(f'<text x="10" y="20">{html.escape(note)}</text>')
    parts += [_line(place[i], place[e.number]) for e in entries for i in e.inputs if i in place]
    parts += [_box(e, *place[e.number]) for e in entries]
    return "".join([*parts, "</svg>"])


def _depths(entries: Sequence[Entry]) -> dict[int, int]:
    depth = {e.number: 0 for e in entries}
    for e in entries:  # newest first, so every reader of a node comes before it
        for i in e.inputs:
            if i in depth:
                depth[i] = max(depth[i], depth[e.number] + 1)
    return depth


def _line(start: tuple[int, int], end: tuple[int, int]) -> str:
    """Return the way from a node up to its reader; one that skips rows goes round the boxes between."""
    rows = (start[1] - end[1]) // HEIGHT
    if rows < 2:
        (x, y), (to_x, to_y) = (start[0] + BOX[0] // 2, start[1]), (end[0] + BOX[0] // 2, end[1] + BOX[1])
        return f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" stroke="#999"/>'
    (x, y), (to_x, to_y) = ((box_x + BOX[0], box_y + BOX[1] // 2) for box_x, box_y in (start, end))
    round_x = max(x, to_x) + 14 + 2 * min(rows, 8)  # the curve reaches three quarters of it: not the next column
    return f'<path d="M{x} {y} C{round_x} {y} {round_x} {to_y} {to_x} {to_y}" fill="none" stroke="#c66"/>'


def _box(e: Entry, x: int, y: int) -> str:
    texts = "".join(
        f'<text x="{x + 6}" y="{y + 14 + 14 * row}"{"" if row == 0 else " fill=" + chr(34) + "#555" + chr(34)}>'
        f"{html.escape(text)}</text>"
        for row, text in enumerate(map(_fitting, _texts(e)))
    )
    return (
        f'<rect x="{x}" y="{y}" width="{BOX[0]}" height="{BOX[1]}" rx="4" fill="{_colour(e)}" stroke="#666">'
        f"<title>{html.escape(' | '.join(_texts(e)))}</title></rect>{texts}"
    )


def _texts(e: Entry) -> tuple[str, str, str]:
    """Return what stands in a box: the name, the shapes of the results, and the line (or how much is folded)."""
    if not e.folded:
        return e.name, e.shapes, e.line.rpartition("/")[2]
    nodes = f"{e.folded} nodes save" if e.folded > 1 else "1 node saves"
    return e.name, e.shapes, f"{nodes} {e.saved_bytes:,} bytes"


def _fitting(text: str, most: int = 28) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _colour(e: Entry) -> str:
    return "#cfe3ff" if e.is_leaf else "#fff3c4" if e.folded else "#f4f4f4"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', "'")
