"""export: an imperative step as a pure function of its state, and that state as a tree with readable paths.

The step itself is run, under JAX's trace, with its tensors standing for the function's arguments; what they stand for
afterwards are the results, and then everything is put back.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import jax
import numpy as np

from funcgrad._base.errors import FuncgradError
from funcgrad._program.journal import is_users_file
from funcgrad._program.record import array_of
from funcgrad._program.renting import Exactness
from funcgrad._program.value import TracedValue, of_array
from funcgrad._tape.modes import no_grad
from funcgrad._tape.variable import Variable
from funcgrad._tensor.interop import from_host, from_jax, to_jax
from funcgrad._tensor.pytree import leaves_of, map_leaves, with_leaves
from funcgrad._tensor.tensor import Tensor
from funcgrad.func.holding import copies_of, held, inner_schedulers
from funcgrad.func.places import Places
from funcgrad.func.schedules import Key, Schedule, counted_calls, numbers_from, numbers_of, set_number
from funcgrad.optim.recorded import RuleOptimizer
from funcgrad.random.generator import default_generator, drawn_by, key_now
from funcgrad.random.traced import Traced

State: TypeAlias = dict[str, Any]
_RANDOM, _KEY, _STEPS = "random/cpu", "random/key", "scheduler/steps"


class ExportError(FuncgradError, RuntimeError):
    """A step cannot be a pure function: Python would have to look at a number that is not known yet."""


def export(step: Callable[..., Any], *args: Any, horizon: int = 10_000, random: str = "host") -> tuple[Exported, State]:
    """Return (pure, state): pure(state, *args) -> (state after the step, what the step returns), a JAX function.

    args: an example of what the step is called with; tensors and arrays among them are the function's arguments, the
    rest is fixed. state: nested dicts of arrays, by the names in the step: `state["model"]["0"]["weight"]`,
    `state["optimizer"]["exp_avg"]["0"]["weight"]`, `state["optimizer"]["lr"]`. Nothing is trained by this call; but
    what the process runs from then on is XLA's at first sight, so that a step and its function have the same bits.
    horizon: for how many steps schedules are worked out; then their last numbers stay.
    random: "host": what the step draws on the CPU is torch's, by a call out of the program; "device": it is drawn by
    JAX from a key, `state["random"]["key"]`, so the step can be serialised by `jax.export` and runs on accelerators.
    ExportError: the step branches on data or reads a number, with the line that does.
    """
    if random not in ("host", "device"):
        raise ValueError(f'export: random is "host" or "device", but got {random!r}')
    exported = Exported(step, args, horizon, random == "device")
    return exported, exported.state()


def load_state(exported: Exported, state: State) -> None:
    """Put a state into the step's own modules, optimizers and tensors."""
    exported.load(state)


class Exported:
    """The pure function of a step. Calling it changes nothing but its result."""

    def __init__(self, step: Callable[..., Any], args: tuple[Any, ...], horizon: int, by_key: bool = False) -> None:
        Exactness.wanted_for.add("an exported step")
        self.step, self.example = step, args
        self.__name__ = getattr(step, "__name__", "step")
        self.places = Places(step)
        self.optimizers = list(self.places.optimizers.values())
        self.schedulers = list(self.places.schedulers.values())
        self.paths: dict[str, list[Tensor]] = {path: [tensor] for path, tensor in self.places.paths.items()}
        self.grads: list[tuple[str, Tensor]] = []
        self.draws, self.key = False, key_now() if by_key or default_generator.stream is None else None
        self.numbers: dict[str, Key] = {}
        self.calls: list[Any] = []
        self._changed: list[Tensor] = []
        self._with_grads: list[Tensor] = []
        self._look(args)
        self.order = self.calls
        self.schedule = Schedule(self.optimizers, self.order, horizon)
        self.numbers = dict(self._number_paths())
        self._begun = [(one, copies_of(vars(one))) for one in inner_schedulers(self.schedulers)]
        self._first_numbers = numbers_of(self.optimizers)

    def __call__(self, state: State, *args: Any) -> tuple[State, Any]:
        """Return the state after one step from `state`, and what the step returns, with arrays for tensors."""
        with jax.enable_x64(True), held(self.optimizers, self.schedulers):
            flat = {path: jax.numpy.asarray(array) for path, array in flattened(state)}
            for path, names in self.paths.items():
                _bind(names, Variable(of_array(flat[path], shared=True)))
            added_to = {id(tensor): path for path, tensor in self.grads}
            for tensor in self._leaves():
                path = added_to.get(id(tensor))
                tensor.grad = None if path is None else Tensor._of(Variable(of_array(flat[path], shared=True)))
            numbers = {key: flat[path] for path, key in self.numbers.items()}
            with numbers_from(self.optimizers, numbers), self._drawing(flat.get(_RANDOM)) as drawing:
                result = map_leaves(lambda x: to_jax(x) if isinstance(x, Tensor) else x, self._run(args))
            after = {path: array_of(names[0]._current().value) for path, names in self.paths.items()}
            after.update((path, tensor.grad.jax()) for path, tensor in self.grads if tensor.grad is not None)
            if _RANDOM in flat:
                after[_RANDOM] = drawing.state
            # the imperative step writes gradients down, though nobody may read them: here too, for the same last bits
            grads = [tensor.grad.jax() for tensor in self._leaves() if tensor.grad is not None]
            after, result, _ = jax.lax.optimization_barrier((self._scheduled(flat | after), result, grads))
            return nested(after), result

    def _leaves(self) -> list[Tensor]:
        """Return the tensors that gather gradients."""
        return [names[0] for names in self.paths.values() if names[0].is_leaf and names[0].requires_grad]

    def _scheduled(self, flat: dict[str, Any]) -> dict[str, Any]:
        """Return the state with the numbers that schedulers set for the next step."""
        if _STEPS not in flat:
            return flat
        steps = flat[_STEPS] + np.int32(1)
        numbers = self.schedule.at(steps)
        due = {path: numbers[key] for path, key in self.numbers.items() if key in numbers}
        return flat | due | {_STEPS: steps}

    def state(self) -> State:
        """Return the present state."""
        found: dict[str, Any] = {path: array_of(names[0]._current().value) for path, names in self.paths.items()}
        with jax.enable_x64(True):
            for path, key in self.numbers.items():
                found[path] = jax.device_put(np.float64(numbers_of(self.optimizers)[key]))
            for path, tensor in self.grads:
                grad = tensor.grad
                found[path] = jax.device_put(np.zeros(tensor.shape, tensor.dtype.numpy)) if grad is None else grad.jax()
            if self.draws:
                found[_RANDOM] = jax.device_put(np.array(default_generator.get_state().tolist(), np.uint8))
            if self.schedule.table:
                found[_STEPS] = jax.device_put(np.int32(self._steps_taken()))
        return nested({path: _own(array) for path, array in found.items()})

    def load(self, state: State) -> None:
        """Put a state into the step's tensors, groups, schedulers and random numbers."""
        flat = dict(flattened(state))
        with no_grad():
            for path, names in self.paths.items():
                _bind(names, from_host(np.asarray(flat[path]))._current())
        for path, tensor in self.grads:
            tensor.grad = from_host(np.asarray(flat[path]))
        self._set_schedulers(int(flat.get(_STEPS, 0)))
        for path, key in self.numbers.items():
            set_number(self.optimizers, key, float(flat[path]))
        if self.draws:
            default_generator.set_state(from_host(np.asarray(flat[_RANDOM])))
        if self.key is not None and default_generator.stream is None:
            default_generator.key = self.key.clone()

    def _steps_taken(self) -> int:
        """Return how many steps the schedulers went since the export."""
        first = self.order[0]
        begun = next(attributes["last_epoch"] for one, attributes in self._begun if one is first)
        return (first.last_epoch - begun) // self.order.count(first)

    def _set_schedulers(self, steps: int) -> None:
        """Bring the schedulers to where they are so many steps after the export."""
        for scheduler, attributes in self._begun:
            vars(scheduler).update(copies_of(attributes))
        for key, number in self._first_numbers.items():
            set_number(self.optimizers, key, number)
        for optimizer in self.optimizers:
            optimizer._opt_called = optimizer._opt_called if optimizer._opt_called is None else True
        for _ in range(steps):
            for scheduler in self.order:
                scheduler.step()

    # Looking at the step once, before it is a function

    def _look(self, args: tuple[Any, ...]) -> None:
        """Run the step abstractly to see what it changes, twice where its first run makes an optimizer's state."""
        by_rule = [optimizer for optimizer in self.optimizers if isinstance(optimizer, RuleOptimizer)]
        for optimizer in by_rule:
            if begun := [p for p in optimizer.state if isinstance(p, Tensor)]:
                optimizer.lay_apart(begun)  # before the look, so that a packed array is no state
        stepped: dict[RuleOptimizer, list[Tensor]] = {}

        def once(*arrays: Any) -> Any:
            with held(self.optimizers, self.schedulers) as kept, self._drawing(None):
                for names in self.paths.values():
                    _bind(names, Variable(of_array(_as_traced(names[0], arrays[0]))))
                key = self._bound_key(arrays[0])
                self._run(with_leaves(args, _merged(args, arrays)))
                if self.key is not None and self.key._variable is not key:
                    self.paths[_KEY] = [self.key]
                stepped.update((one, [p for p in one.state if isinstance(p, Tensor)]) for one in by_rule)
                changed = kept.changed()
                self._changed = [t for t in changed if isinstance(t._current().value, TracedValue)]
                self._with_grads = [t for names in self.paths.values() for t in names if t.grad is not None]

        with jax.enable_x64(True):
            jax.eval_shape(once, *_arrays(args))
        for optimizer, params in stepped.items():
            optimizer.lay_apart(params)
        self._enter_states()
        self._enter_unnamed()
        self.grads = self._grads_that_are_read(args)

    def _bound_key(self, traced: Any) -> Variable | None:
        if self.key is None:
            return None
        _bind([self.key], Variable(of_array(_as_traced(self.key, traced))))
        return self.key._variable

    def _enter_states(self) -> None:
        short = self.places.short_names()
        for name, optimizer in self.places.optimizers.items():
            owners: dict[tuple[str, int], list[tuple[str, Tensor]]] = {}
            for parameter, kept in optimizer.state.items():
                entries = kept.items() if isinstance(kept, dict) else enumerate(kept)
                for slot, tensor in entries:
                    if isinstance(tensor, Tensor):
                        shared = id(tensor) if tensor._alias is not None else id(tensor._current().value)
                        inner = short.get(id(parameter), str(parameter) if isinstance(parameter, str) else "")
                        owners.setdefault((str(slot), shared), []).append((inner, tensor))
            counts: dict[str, int] = {}
            for slot, _ in owners:
                counts[slot] = counts.get(slot, 0) + 1
            for (slot, _), members in owners.items():
                single = counts[slot] == 1 and len(members) > 1
                self.paths[f"{name}/{slot}" if single else f"{name}/{slot}/{members[0][0]}".rstrip("/")] = [
                    tensor for _, tensor in members
                ]

    def _enter_unnamed(self) -> None:
        """Give a path to what the step changes and no name leads to."""
        known = {id(tensor) for names in self.paths.values() for tensor in names}
        grads = {id(tensor.grad) for tensor in self._leaves()}
        unnamed = [t for t in self._changed if id(t) not in known | grads]
        self.paths.update({f"unnamed/{i}": [tensor] for i, tensor in enumerate(unnamed)})

    def _number_paths(self) -> Iterator[tuple[str, Any]]:
        names = list(self.places.optimizers)
        for key in numbers_of(self.optimizers):
            i, j, option, place = key
            group = "" if len(self.optimizers[i].param_groups) == 1 else f"/{j}"
            yield f"{names[i]}/{option}{group}{'' if place < 0 else f'/{place}'}", key

    def _grads_that_are_read(self, args: tuple[Any, ...]) -> list[tuple[str, Tensor]]:
        """Return the gradients that a step adds to: those are part of the state."""
        if not self._with_grads:
            return []
        by_id = {id(tensor): path for path, names in self.paths.items() for tensor in names}
        asked = [(f"grad/{by_id[id(tensor)]}", tensor) for tensor in self._with_grads]

        def run(grads: list[Any], *arrays: Any) -> Any:
            with held(self.optimizers, self.schedulers), self._drawing(None):
                for (_, tensor), grad in zip(asked, grads, strict=True):
                    tensor.grad = Tensor._of(Variable(of_array(grad)))
                self._run(with_leaves(args, _merged(args, arrays)))
                return [None if t.grad is None else t.grad.jax() for _, t in asked]

        structs = [jax.ShapeDtypeStruct(tuple(t.shape), t.dtype.numpy) for _, t in asked]
        with jax.enable_x64(True):
            traced = jax.make_jaxpr(run)(structs, *_arrays(args)).jaxpr
        used = {v for equation in traced.eqns for v in equation.invars if not hasattr(v, "val")} | set(traced.outvars)
        return [one for one, v in zip(asked, traced.invars, strict=False) if v in used]

    # One run under a trace

    @contextmanager
    def _drawing(self, random: Any) -> Iterator[Traced]:
        before, drawing = Traced.present, Traced(random)
        Traced.present = drawing
        try:
            with drawn_by(self.key):
                yield drawing
        finally:
            self.draws = self.draws or drawing.used
            Traced.present = before

    def _run(self, args: Any) -> Any:
        self.calls = []
        tensors = map_leaves(
            lambda x: from_jax(jax.numpy.asarray(x)) if isinstance(x, (jax.Array, np.ndarray)) else x, args
        )
        try:
            with counted_calls(inner_schedulers(self.schedulers), self.calls):
                return self.step(*tensors)
        except _NEEDS_A_NUMBER as error:
            raise ExportError(_where(error)) from None


_NEEDS_A_NUMBER = (
    jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError, jax.errors.TracerBoolConversionError,
)  # fmt: skip


def _where(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_users_file(frame.filename)]
    if not frames:
        return f"the step reads a number while it is made a pure function: {str(error).splitlines()[0]}"
    frame = frames[-1]
    line = linecache.getline(frame.filename, frame.lineno or 0).strip()
    return (
        f"{frame.filename}:{frame.lineno}: `{line}` needs a number that only a run knows, so this step is no pure "
        "function. Replace a branch on data by torch.where, return tensors instead of .item(), and print outside of "
        "the step."
    )


def _bind(names: list[Tensor], variable: Variable) -> None:
    """Let all names stand for one value."""
    with no_grad():
        for name in names:
            name._write(variable)


def _as_traced(tensor: Tensor, traced: Any) -> Any:
    """Return zeros of a tensor's shape that are traced, as the given array is."""
    shown = tensor._current().aval
    zero = jax.numpy.asarray(traced).ravel()[:0].sum().astype(shown.dtype.numpy)
    return jax.numpy.broadcast_to(zero, tuple(shown.shape))


def _arrays(args: Any) -> list[Any]:
    """Return what `once` is traced with: a number that makes all else traced, then the arrays among the arguments."""
    given = [x for x in leaves_of(args) if isinstance(x, (Tensor, jax.Array, np.ndarray))]
    return [np.zeros(1, np.float32), *[to_jax(x) if isinstance(x, Tensor) else x for x in given]]


def _merged(args: Any, arrays: tuple[Any, ...]) -> Iterator[Any]:
    following = iter(arrays[1:])
    return (next(following) if isinstance(x, (Tensor, jax.Array, np.ndarray)) else x for x in leaves_of(args))


def _own(array: jax.Array) -> jax.Array:
    """Return a copy: the step's own arrays are donated by its next run."""
    with jax.enable_x64(True):
        return jax.numpy.array(array, copy=True)


def flattened(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (path, array) for nested dicts."""
    for name, inner in tree.items():
        here = f"{path}/{name}" if path else str(name)
        if isinstance(inner, dict):
            yield from flattened(inner, here)
        else:
            yield here, inner


def nested(flat: dict[str, Any]) -> State:
    """Return nested dicts for (path: array)."""
    tree: State = {}
    for path, array in flat.items():
        *folders, name = path.split("/")
        inner = tree
        for folder in folders:
            inner = inner.setdefault(folder, {})
        inner[name] = array
    return tree
