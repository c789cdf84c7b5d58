"""The line search of L-BFGS: a step along a direction that fulfils the strong Wolfe conditions. Knows no tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Vector = np.ndarray
Evaluate = Callable[[float], tuple[float, Vector]]


class Point(NamedTuple):
    """A step size that was tried: the loss there, its gradient, and its slope along the direction."""

    step: float
    loss: float
    gradient: Vector
    slope: float


class StrongWolfe:
    """Search along `direction` from `start` (step 0). `evaluate(step)` gives loss and gradient; `evaluations` counts.

    enough_descent, enough_flatter: the c1 and c2 of the conditions, shares of the slope at the start.
    Source: Nocedal and Wright, Numerical Optimization (2006), algorithms 3.5 and 3.6, with minFunc's bounds on trials,
    https://www.cs.ubc.ca/~schmidtm/Software/minFunc.html, which torch follows too.
    """

    def __init__(
        self, evaluate: Evaluate, direction: Vector, start: Point, *, most: int, tolerance_change: float = 1e-9,
        enough_descent: float = 1e-4, enough_flatter: float = 0.9,
    ) -> None:  # fmt: skip
        self._evaluate, self._direction, self._start = evaluate, direction, start
        self._most, self._tolerance = most, tolerance_change
        self._enough_descent, self._enough_flatter = enough_descent, enough_flatter
        self._trials = 0
        self.evaluations = 0

    def search(self, step: float) -> Point:
        """Return the point that was found, first trying `step`."""
        low, high, done = self._bracket(step)
        return low if done else self._zoom(low, high)

    def _at(self, step: float) -> Point:
        loss, gradient = self._evaluate(step)
        self.evaluations += 1
        return Point(step, loss, gradient, float(gradient @ self._direction))

    def _descends_too_little(self, point: Point) -> bool:
        return point.loss > self._start.loss + self._enough_descent * point.step * self._start.slope

    def _is_flat(self, point: Point) -> bool:
        return abs(point.slope) <= -self._enough_flatter * self._start.slope

    def _bracket(self, step: float) -> tuple[Point, Point, bool]:
        """Go on until a minimum lies between two points. Result: both, the lower first, and whether it will do."""
        previous, point = self._start, self._at(step)
        while self._trials < self._most:
            if self._descends_too_little(point) or (self._trials > 1 and point.loss >= previous.loss):
                return *_lower_first(previous, point), False
            if self._is_flat(point):
                return point, point, True
            if point.slope >= 0:
                return *_lower_first(previous, point), False
            bounds = point.step + 0.01 * (point.step - previous.step), point.step * 10
            step = cubic_minimum(previous, point, bounds)
            previous, point = point, self._at(step)
            self._trials += 1
        return *_lower_first(self._start, point), False

    def _zoom(self, low: Point, high: Point) -> Point:
        """Narrow the bracket down to a point that fulfils both conditions."""
        largest = float(np.abs(self._direction).max())
        near_the_edge = False
        while self._trials < self._most and abs(high.step - low.step) * largest >= self._tolerance:
            first, last = sorted((low.step, high.step))
            step = cubic_minimum(low, high, (first, last))
            margin = 0.1 * (last - first)
            if min(last - step, step - first) >= margin:
                near_the_edge = False
            elif near_the_edge or step >= last or step <= first:
                step = last - margin if abs(step - last) < abs(step - first) else first + margin
                near_the_edge = False
            else:
                near_the_edge = True
            point = self._at(step)
            self._trials += 1
            if self._descends_too_little(point) or point.loss >= low.loss:
                low, high = _lower_first(low, point)
            elif self._is_flat(point):
                return point
            else:
                low, high = point, low if point.slope * (high.step - low.step) >= 0 else high
        return low


def cubic_minimum(a: Point, b: Point, bounds: tuple[float, float]) -> float:
    """Return where the cubic through two points and slopes is smallest within bounds; else their middle."""
    if a.step > b.step:
        a, b = b, a
    width = b.step - a.step
    d1 = a.slope + b.slope - 3 * (b.loss - a.loss) / width if width else math.nan
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return sum(bounds) / 2
    d2 = math.sqrt(square)
    bend = b.slope - a.slope + 2 * d2
    step = b.step - width * (b.slope + d2 - d1) / bend if bend else math.inf
    return min(max(step, bounds[0]), bounds[1])


def _lower_first(a: Point, b: Point) -> tuple[Point, Point]:
    return (a, b) if a.loss <= b.loss else (b, a)
