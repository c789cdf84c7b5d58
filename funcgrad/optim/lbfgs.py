"""L-BFGS: quasi-Newton steps that call a closure for the loss as often as they need it.

Its loop decides by numbers, so it runs on the host: the closure's loss and all gradients come over in one array per
evaluation, the history of steps is worked with there, and no program depends on how long that history is. Between two
calls of `step` it is kept in the state, as torch's tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.table import Array, Arrays, Op, Operand
from funcgrad._tape.modes import no_grad
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.names import rebind, record
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import dense_gradients, require, require_lr
from funcgrad.optim.line_search import Point, StrongWolfe, Vector, cubic_minimum
from funcgrad.optim.optimizer import Group, Optimizer, ParamsT
from funcgrad.optim.recorded import evaluated
from funcgrad.optim.rule import number

_CURVATURE = 1e-10  # below this a step says nothing about the curvature
_KEPT = ("al", "d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")  # in torch's order


def _flat(arrays: Arrays, present: tuple[bool, ...]) -> Array:
    """Join arrays (zeros for those that are not present) into one real vector; complex numbers as pairs."""
    parts = []
    for array, is_present in zip(arrays, present, strict=True):
        part = array if is_present else jnp.zeros_like(array)
        part = jnp.stack([part.real, part.imag], -1) if part.dtype.kind == "c" else part
        parts.append(part.reshape(-1).astype(jnp.promote_types(part.dtype, np.float32)))
    return jnp.concatenate(parts)


def _moved(arrays: Arrays, direction: Array, step: Operand) -> tuple[Array, ...]:
    """param + step * its part of direction."""
    start, moved = 0, []
    change = direction * number(step)
    for array in arrays:
        pair = (2,) if array.dtype.kind == "c" else ()
        size = array.size * (2 if pair else 1)
        part = change[start : start + size].reshape(array.shape + pair)
        part = part[..., 0] + 1j * part[..., 1] if pair else part
        moved.append(array + part.astype(array.dtype))
        start += size
    return tuple(moved)


_FLAT, _MOVED = Op(_flat), Op(_moved, numbers="inputs")


class LBFGS(Optimizer):
    """L-BFGS, with or without a strong Wolfe line search. One parameter group; `step` needs a closure.

    Stops as torch does: after `max_iter` steps or `max_eval` evaluations, or where gradient or change fall below their
    tolerance. Source: Nocedal and Wright, Numerical Optimization (2006), algorithm 7.4.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        require_lr(lr)
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        require(len(self.param_groups) == 1, "LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Tensor]:
        return self.param_groups[0]["params"]

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]  # torch's: no default here
        """Take up to `max_iter` steps. closure: clears gradients, computes the loss, calls backward, returns the loss.

        Returns the loss before the first of them.
        """
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        kept = _as_arrays(state)
        result = evaluated(closure)
        gradient = self._gradient()
        loss, evaluations = float(result), 1
        state["func_evals"] += 1
        for turn in range(1, group["max_iter"] + 1):
            if np.abs(gradient).max() <= group["tolerance_grad"]:
                break
            state["n_iter"] += 1
            direction, size = _direction(kept, gradient, group)
            kept.update(d=direction, t=size, prev_flat_grad=gradient, prev_loss=loss)
            start = Point(0.0, loss, gradient, float(gradient @ direction))
            if start.slope > -group["tolerance_change"]:
                break
            last = turn == group["max_iter"]
            point, count = self._advance(closure, direction, start, float(size), group["max_eval"] - evaluations, last)
            kept["t"] = size if point.step == float(size) else point.step
            state["func_evals"], evaluations = state["func_evals"] + count, evaluations + count
            small = np.abs(direction * point.step).max() <= group["tolerance_change"]
            stalled = abs(point.loss - loss) < group["tolerance_change"]
            loss, gradient = point.loss, point.gradient
            if evaluations >= group["max_eval"] or small or stalled:
                break
        state.update((name, _as_tensors(kept[name])) for name in _KEPT if name in kept)
        return result

    def _advance(
        self, closure: Callable[[], Any], direction: Vector, start: Point, size: float, most: int, last: bool
    ) -> tuple[Point, int]:
        """Go along the direction, by the size given or a line search. Result: where it ends, and evaluations."""
        group = self.param_groups[0]
        origin = [param._current() for param in self._params]
        on_device = from_host(direction, device=self._params[0].device)

        def go(step: float) -> None:
            rebind(self._params, origin)
            rebind(self._params, record(_MOVED, [*self._params, on_device, step]))

        def evaluate(step: float) -> tuple[float, Vector]:
            go(step)
            loss = evaluated(closure)
            gradient = self._gradient()
            return float(loss), gradient

        if group["line_search_fn"] is None:
            if last:
                go(size)
                return start._replace(step=size), 0
            return Point(size, *evaluate(size), start.slope), 1
        search = StrongWolfe(evaluate, direction, start, most=most)
        point = search.search(size)
        go(point.step)
        return point, search.evaluations

    def _gradient(self) -> Vector:
        """Return all gradients as one vector on the host; whatever was recorded runs with it."""
        present = tuple(param.grad is not None for param in self._params)
        grads = dense_gradients(self._params)
        arrays = [param if grad is None else grad for param, grad in zip(self._params, grads, strict=True)]
        return to_host(Tensor._of(record(_FLAT, arrays, (present,))[0]))


def _direction(kept: dict[str, Any], gradient: Vector, group: Group) -> tuple[Vector, float | Vector]:
    """Return where to go from here and how far at first: down at first, then by the curvature that past steps show."""
    lr = group["lr"].item() if isinstance(group["lr"], Tensor) else group["lr"]
    if "d" not in kept:
        kept.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
        whole = np.abs(gradient).sum()
        return -gradient, np.asarray(lr / whole, gradient.dtype) if whole > 1.0 else lr
    changes, steps, inverse = kept["old_dirs"], kept["old_stps"], kept["ro"]
    change, step = gradient - kept["prev_flat_grad"], kept["d"] * float(kept["t"])
    curvature = np.asarray(change @ step)
    if curvature > _CURVATURE:
        if len(changes) == group["history_size"]:
            for oldest in (changes, steps, inverse):
                oldest.pop(0)
        changes.append(change)
        steps.append(step)
        inverse.append(np.asarray(1 / curvature))
        kept["H_diag"] = np.asarray(curvature / (change @ change))
    weights = kept.setdefault("al", [None] * group["history_size"])
    direction, places = -gradient, range(len(changes))
    for place in reversed(places):
        weights[place] = np.asarray((steps[place] @ direction) * inverse[place])
        direction = direction - weights[place] * changes[place]
    direction = direction * kept["H_diag"]
    for place in places:
        direction = direction + (weights[place] - (changes[place] @ direction) * inverse[place]) * steps[place]
    return direction, lr


def _as_tensors(kept: Any) -> Any:
    if isinstance(kept, np.ndarray):
        return from_host(kept)
    return [_as_tensors(inner) for inner in kept] if isinstance(kept, list) else kept


def _as_arrays(kept: Any) -> Any:
    if isinstance(kept, Tensor):
        return to_host(kept)
    if isinstance(kept, dict):
        return {name: _as_arrays(inner) for name, inner in kept.items()}
    return [_as_arrays(inner) for inner in kept] if isinstance(kept, list) else kept


# The line search by torch's names, for optimizers of others


def _strong_wolfe(
    obj_func: Callable[[Any, float, Any], tuple[Any, Tensor]], x: Any, t: float, d: Tensor, f: Any, g: Tensor, gtd: Any,
    c1: float = 1e-4, c2: float = 0.9, tolerance_change: float = 1e-9, max_ls: int = 25,
) -> tuple[Any, Tensor, Any, int]:  # fmt: skip
    """Return loss, gradient and size of a step along `d` that fulfils the strong Wolfe conditions, and the evaluations.

    obj_func(x, t, d): the loss and the gradient after a step of size t. f, g, gtd: those before it, and the slope.
    """
    tried: dict[float, tuple[Any, Tensor]] = {0.0: (f, g)}

    def evaluate(step: float) -> tuple[float, Vector]:
        loss, gradient = obj_func(x, step, d)
        tried[step] = loss, gradient.clone()
        return float(loss), to_host(gradient)

    search = StrongWolfe(
        evaluate, to_host(d), Point(0.0, float(f), to_host(g), float(gtd)), most=max_ls,
        tolerance_change=tolerance_change, enough_descent=c1, enough_flatter=c2,
    )  # fmt: skip
    found = search.search(float(t))
    size = t if found.step == float(t) else g.new_tensor(found.step) if found.step else 0
    return *tried[found.step], size, search.evaluations


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: tuple[Any, Any] | None = None
) -> Any:
    """Return where the cubic through two points with these slopes is smallest within bounds; else their middle."""
    first, second = (Point(float(x), float(f), np.empty(0), float(g)) for x, f, g in ((x1, f1, g1), (x2, f2, g2)))
    low, high = sorted((x1, x2), key=float) if bounds is None else bounds
    found = cubic_minimum(first, second, (float(low), float(high)))
    for bound in (low, high):
        if found == float(bound):
            return bound
    computed = [given for given in (x1, f1, g1, x2, f2, g2) if isinstance(given, Tensor)]
    return computed[0].new_tensor(found) if computed else found
