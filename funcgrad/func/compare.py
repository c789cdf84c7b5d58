"""compare: a stateful step and a functional one, run side by side from one state on the same data."""

from __future__ import annotations

import itertools
import math
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from types import GeneratorType
from typing import Any, NamedTuple

import jax
import numpy as np

from funcgrad._program.counters import counted
from funcgrad._tensor.interop import to_jax
from funcgrad._tensor.pytree import leaves_of
from funcgrad._tensor.tensor import Tensor
from funcgrad.func.compare_page import page
from funcgrad.func.export import Exported, State, export, flattened
from funcgrad.func.holding import held

KINDS = ("loss", "gradients", "parameters", "optimizer")
_SAME = {
    "mu": "exp_avg", "nu": "exp_avg_sq", "trace": "momentum_buffer", "count": "step", "sum_of_squares": "sum",
    "square_avg": "exp_avg_sq", "exp_inf": "exp_avg_sq", "nu_max": "max_exp_avg_sq",
}  # fmt: skip  # optax's words and torch's; torch has several for optax's nu


class Style(NamedTuple):
    """How one of the two ran: losses, seconds and bytes held by step, how many programs it compiled, and its jaxpr."""

    name: str
    losses: list[float]
    seconds: list[float]
    live_bytes: list[int]
    programs: int
    jaxpr: str

    @property
    def usual(self) -> float:
        """The median of the steps after the first, in seconds."""
        return float(np.median(self.seconds[1:] or self.seconds))

    @property
    def compiling(self) -> float:
        """What the first step took beyond a usual one, in seconds."""
        return max(self.seconds[0] - self.usual, 0.0)


class Parting(NamedTuple):
    """Where two trajectories first part: the step (from 0; None: never), what, by how much, and the most later."""

    kind: str
    step: int | None
    path: str
    difference: float
    largest: float


class Comparison:
    """What `compare` found: `print` it, or `save` it as a page that a browser shows."""

    def __init__(self, styles: tuple[Style, Style], differences: list[dict[str, float]], unmatched: list[str]) -> None:
        """differences: for each step, by path, the largest absolute difference."""
        self.stateful, self.functional = styles
        self.differences, self.unmatched = differences, unmatched
        self.partings = [self._parting(kind) for kind in KINDS]

    def by_kind(self, kind: str) -> list[float]:
        """Return the largest difference of a kind for each step; NaN where nothing of that kind was compared."""
        return [
            max((d for path, d in row.items() if kind_of(path) == kind), default=float("nan"))
            for row in self.differences
        ]

    def _parting(self, kind: str) -> Parting:
        largest = float(np.nanmax([0.0, *self.by_kind(kind)]))
        for step, row in enumerate(self.differences):
            parted = {path: d for path, d in row.items() if kind_of(path) == kind and d != 0}
            if parted:
                path = max(parted, key=lambda p: parted[p])
                return Parting(kind, step, path, parted[path], largest)
        return Parting(kind, None, "", 0.0, largest)

    def rows(self) -> list[tuple[str, str, str]]:
        """Return (what, stateful, functional) for the cost of both."""
        both = self.stateful, self.functional
        return [
            ("steps compared", *[str(len(s.losses)) for s in both]),
            ("time per step", *[f"{s.usual * 1e3:.3f} ms" for s in both]),
            ("first step beyond that", *[f"{s.compiling:.2f} s" for s in both]),
            ("programs compiled", *[str(s.programs) for s in both]),
            ("bytes held, at most", *[f"{max(s.live_bytes):,}" for s in both]),
            ("last loss", *[f"{s.losses[-1]:.6g}" for s in both]),
        ]  # type: ignore[list-item]  # two entries after the label

    def parted(self) -> list[str]:
        """Return a sentence for each kind: where the two first part, and by how much."""
        compared = {kind_of(path) for row in self.differences for path in row}
        return [
            f"{p.kind}: not compared" if p.kind not in compared
            else f"{p.kind}: equal to the last bit in all {len(self.differences)} steps" if p.step is None
            else f"{p.kind}: part at step {p.step + 1} in {p.path} by {p.difference:.2g}; at most {p.largest:.2g} later"
            for p in self.partings
        ]  # fmt: skip

    def __repr__(self) -> str:
        lines = [f"{'':<24}{'stateful':>18}{'functional':>18}"]
        lines += [f"{what:<24}{one:>18}{other:>18}" for what, one, other in self.rows()]
        lines += ["", *self.parted()]
        if self.unmatched:
            lines.append(f"only in one of the two: {', '.join(self.unmatched[:8])}")
        return "\n".join(lines)

    def html(self) -> str:
        """Return a page with tables, plots and both jaxprs; it needs nothing else."""
        return page(self)

    def save(self, path: str | Path) -> None:
        """Write the page."""
        Path(path).write_text(self.html(), encoding="utf-8")


def compare(
    stateful_step: Callable[..., Any],
    functional_step: Callable[..., Any],
    *,
    data: Iterable[Sequence[Any]],
    steps: int = 20,
    state: State | None = None,
) -> Comparison:
    """Run both for `steps` steps from the same state on the same data; nothing of the stateful step's is changed.

    stateful_step(*batch) -> loss changes its model and optimizer. functional_step(state, *batch) -> (state, loss), or
    (state, loss, gradients), is a JAX function; jit it to compare its speed. data: batches, gone round where too few.
    state: what the functional step starts from: nested containers whose paths end as `func.export` names the stateful
    step's (optax's mu, nu, trace and count stand for exp_avg, exp_avg_sq, momentum_buffer and step). Default: that one.
    """
    batches = list(itertools.islice(itertools.cycle(list(data)), steps))
    exported, own = export(stateful_step, *batches[0])
    start = own if state is None else state
    with held(exported.optimizers, exported.schedulers):
        one, first = ran(_imperative(stateful_step, exported, batches))
    other, second = ran(pure(functional_step, start, batches))
    stateful = style("stateful", one, exported, own, batches[0])
    return compared(stateful, first, style("functional", other, functional_step, start, batches[0]), second)


Tree = dict[str, np.ndarray[Any, Any]]


def compared(one: Style, first: Sequence[Tree], other: Style, second: Sequence[Tree]) -> Comparison:
    """Return where two trajectories part: for each of them, what each step left behind by path."""
    differences, lonely, paired = [], set[str](), set[str]()
    for left, right in zip(first, second, strict=True):
        pairs, alone = matched(left, right)
        differences.append({path: _largest(left[path], right[partner]) for path, partner in pairs})
        lonely.update(alone)
        paired.update(itertools.chain.from_iterable(pairs))
    unmatched = lonely - paired - _constants(first) - _constants(second)
    return Comparison((one, other), differences, sorted(unmatched))


def _constants(trees: Sequence[Tree]) -> set[str]:
    """Return the paths of what no step changes, like a mask among a module's buffers: that is no state."""
    start, *later = trees
    same = [{path for path in start if path in tree and np.array_equal(start[path], tree[path])} for tree in later]
    return set.intersection(*same) if same else set()


Step = tuple[float, dict[str, np.ndarray[Any, Any]], float]


def _imperative(step: Callable[..., Any], exported: Exported, batches: list[Any]) -> Iterator[Step]:
    for batch in batches:
        start = time.perf_counter()
        result = step(*batch)
        loss = _loss(result)
        seconds = time.perf_counter() - start
        tree = {path: np.array(array) for path, array in flattened(exported.state())}  # copies: a view holds its array
        grads = {path: t.grad for path, t in exported.places.paths.items() if t.is_leaf and t.grad is not None}
        tree.update((f"grad/{path}", np.array(grad.detach().numpy())) for path, grad in grads.items())
        yield loss, tree, seconds


def pure(step: Callable[..., Any], state: Any, batches: Iterable[Any]) -> Generator[Step, None, Any]:
    """Run step(state, *batch) -> (state, loss[, gradients]), yield what each step leaves behind, return the last state.

    A generator of batches is sent the state that the step before left: so that a policy can play with its weights.
    """
    state = jax.tree.map(lambda x: jax.numpy.array(x, copy=True) if isinstance(x, jax.Array) else x, state)
    source, sent = iter(batches), None
    while True:
        start = time.perf_counter()
        try:
            batch = drawn(source, sent)
        except StopIteration:
            return state
        arrays = [to_jax(x) if isinstance(x, Tensor) else x for x in batch]
        state, result, *grads = step(state, *arrays)
        loss, sent = _loss(result), state
        jax.block_until_ready(state)
        seconds = time.perf_counter() - start
        tree = paths_of(state)
        tree.update((f"grad/{path}", array) for path, array in paths_of(grads[0] if grads else {}).items())
        yield loss, tree, seconds


def drawn(source: Iterator[Any], state: Any) -> Any:
    """Return the next of an iterator; a generator gets `state` as what its last `yield` gives."""
    asked: Any = source
    while isinstance(asked, GeneratorType) and asked.gi_yieldfrom is not None:
        asked = asked.gi_yieldfrom  # what it passes on by `yield from`, which may be no generator
    if isinstance(source, GeneratorType) and isinstance(asked, GeneratorType):
        return source.send(state)
    return next(source)


class Ran(NamedTuple):
    """How a trajectory ran: losses, seconds, and bytes that it holds, by step; how many programs it compiled."""

    losses: list[float]
    seconds: list[float]
    live_bytes: list[int]
    programs: int

    def first(self, steps: int) -> Ran:
        """Return the same of the first steps alone."""
        return Ran(self.losses[:steps], self.seconds[:steps], self.live_bytes[:steps], self.programs)


def ran(run: Iterator[Step]) -> tuple[Ran, list[Tree]]:
    """Run the steps; return how they ran, and what each left behind."""
    losses, seconds, live, trees = [], [], [], []
    compiled, before = _Compiled(), sum(array.nbytes for array in jax.live_arrays())
    with counted() as seen, compiled:
        for loss, tree, spent in run:
            losses.append(loss)
            seconds.append(spent)
            live.append(sum(array.nbytes for array in jax.live_arrays()) - before)
            trees.append({"loss": np.float64(loss), **tree})
    return Ran(losses, seconds, live, seen.compiles or compiled.count), trees


def style(name: str, made: Ran, function: Any, state: Any = None, batch: Any = ()) -> Style:
    """Return how one of the two ran. function: what it is traced from, or its jaxpr as text."""
    jaxpr = function
    if not isinstance(function, str):
        jaxpr = str(jax.make_jaxpr(function)(state, *[to_jax(x) if isinstance(x, Tensor) else x for x in batch]))
    return Style(name, *made, jaxpr)


class _Compiled:
    """Counts what JAX compiles inside a block."""

    def __init__(self) -> None:
        self.count, self._on = 0, False
        jax.monitoring.register_event_duration_secs_listener(self._note)

    def _note(self, event: str, *_: Any, **__: Any) -> None:
        self.count += self._on and event.endswith("backend_compile_duration")

    def __enter__(self) -> None:
        self._on = True

    def __exit__(self, *_: object) -> None:
        self._on = False


def _loss(result: Any) -> float:
    found = [x for x in leaves_of(result) if isinstance(x, (Tensor, jax.Array, float))]
    numbers = [x for x in found if math.prod(getattr(x, "shape", ())) == 1]
    if not numbers:
        raise TypeError("compare: both steps must return their loss, a tensor, array or float of one element")
    return numbers[0].item() if isinstance(numbers[0], Tensor) else float(numbers[0])


def paths_of(tree: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Return copies of the arrays of any JAX tree by path; a view would hold its array."""
    found = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {"/".join(filter(None, map(_word, path))): np.array(array) for path, array in found}


def _word(key: Any) -> str:
    return str(getattr(key, "key", getattr(key, "name", getattr(key, "idx", key))))


def canonical(path: str) -> tuple[str, ...]:
    """Return the words of a path in torch's language."""
    words = [_SAME.get(word, word) for word in re.split(r"[/.]", path)]
    return tuple(words)


def matched(left: dict[str, Any], right: dict[str, Any]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return pairs of paths that mean the same, and the paths of arrays that have no partner."""
    pairs = [(path, path) for path in left if path in right]
    open_left, open_right = [p for p in left if p not in right], [p for p in right if p not in left]
    found = True
    while found:  # what is ambiguous at first need not be when its rivals have found their own partners
        found = False
        for path in list(open_left):
            scores = {other: _likeness(path, other) for other in open_right if _may_be(path, other, left, right)}
            best = [other for other, score in scores.items() if score[0] and score == max(scores.values())]
            if len(best) == 1:
                pairs.append((path, best[0]))
                open_left.remove(path)
                open_right.remove(best[0])
                found = True
    sizes = left | right
    return pairs, [p for p in open_left + open_right if np.size(sizes[p]) > 1 and kind_of(p) != "gradients"]


def _may_be(path: str, other: str, left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Tell whether two paths agree on what is a gradient or a state, and have one shape."""
    marks = {"grad", *_SAME.values()}
    return np.shape(left[path]) == np.shape(right[other]) and not marks & (set(canonical(path)) ^ set(canonical(other)))


def _likeness(path: str, other: str) -> tuple[int, int]:
    """Return in how many words at their end two paths agree, and how many they share anywhere."""
    one, two = canonical(path), canonical(other)
    pairs = zip(reversed(one), reversed(two), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)), len(set(one) & set(two))


def kind_of(path: str) -> str:
    """Return what is at a path: the loss, a gradient, an optimizer's state, or a parameter (or buffer)."""
    words = canonical(path)
    if path == "loss":
        return "loss"
    if words[0] == "grad":
        return "gradients"
    is_state = "optimizer" in words[0] or set(words) & set(_SAME.values()) or words[0] in ("scheduler", "random", "opt")
    return "optimizer" if is_state else "parameters"


def _largest(left: Any, right: Any) -> float:
    if np.size(left) == 0:
        return 0.0
    return float(np.abs(np.asarray(left, np.float64) - np.asarray(right, np.float64)).max())
