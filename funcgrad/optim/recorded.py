"""The step that all built-in rules share: one recorded call per group, and one atomic change of all names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from funcgrad._base.dtypes import float64, get_default_dtype
from funcgrad._ops.table import Array, Arrays, Op
from funcgrad._program.record import array_of
from funcgrad._program.run import put
from funcgrad._program.value import META, aval_of, meta, of_array
from funcgrad._tape.apply import apply
from funcgrad._tape.modes import enable_grad
from funcgrad._tape.variable import Variable
from funcgrad._tensor.names import bind, rebind, record
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import dense_gradients
from funcgrad.optim.lane import Lane
from funcgrad.optim.optimizer import Group, Optimizer, ParamsT
from funcgrad.optim.packing import PackedOp
from funcgrad.optim.rule import Layout, RuleOp

_LARGE = 1 << 20  # bytes; a larger state goes to the device at once: else it is there twice until the first step


class RuleOptimizer(Optimizer):
    """Contract: `_op` and what it gets: `_slots`, `_shared`, `_numbers`, `_options`, `_initial`. Gift: `step`.

    `_op` takes the group's arrays, then the numbers, a Layout and the options; it returns what `Layout.update` returns.
    Parameters that were stepped equally often form a cohort: they share one array for the count of steps, so that a
    program has one such input and output for all. Each still has a Tensor of its own as a name for it.
    """

    _op: ClassVar[RuleOp]
    _packed_op: ClassVar[PackedOp]
    _shared: ClassVar[tuple[str, ...]] = ("step",)
    _later: ClassVar[tuple[str, ...]] = ()  # options that older files lack, besides those that are on or off
    _is_elementwise: ClassVar[bool] = True  # whether the rule treats each element by itself
    packs = True  # whether small states lie in one array, which an exported step's do not
    given_numbers: Callable[[Group], tuple[Any, ...]] | None = None  # set: what the rule gets in place of `_numbers`
    found_inf: Tensor | None = None  # 0-d, from a GradScaler: where it is not 0 a step changes nothing

    @property
    def skips_where_found_inf(self) -> bool:
        """Whether a step that a GradScaler takes back is recorded, so that Python need not know of it."""
        return not self.defaults.get("differentiable")

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self._lanes: dict[Tensor, Lane] = {}
        super().__init__(params, defaults)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_op" in vars(cls):
            cls._packed_op = PackedOp(cls._op)

    def _slots(self, group: Group) -> tuple[str, ...]:
        """Return the names of the states that each parameter has for itself."""
        return ()

    def _numbers(self, group: Group) -> tuple[Any, ...]:
        """Return the numbers of the rule, which may change from step to step."""
        raise AssertionError("an optimizer says in _numbers what its rule is given")

    def _options(self, group: Group) -> tuple[Hashable, ...]:
        """Return what is part of the program: it is compiled anew when one changes."""
        return ()

    def _initial(self, name: str, param: Tensor, group: Group) -> np.ndarray[Any, Any]:
        """Return a state before the first step: 0-d for a shared one, else in the parameter's shape and dtype."""
        if name in self._shared:
            return np.zeros((), count_dtype())
        return np.zeros(param.shape, param.dtype.numpy)

    def _parts(self, params: list[Tensor], group: Group) -> list[tuple[list[Tensor], Group]]:
        """Return the parameters of a group in the parts that are recorded as one call each."""
        return [(params, group)]

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change all parameters that have a gradient. `closure` computes the loss anew and is what `step` returns."""
        loss = evaluated(closure)
        names: list[Tensor] = []
        values: list[Any] = []
        for group in self.param_groups:
            given = [param for param in group["params"] if param._slot is not None and param._slot.grad is not None]
            for params in self._lists(given):
                for part, options in self._parts(params, group):
                    self._record(part, options, names, values)
                if self._repeats:
                    self._bind(names, values)
                    names, values = [], []
        self._bind(names, values)
        return loss

    def state_tensors(self) -> list[Tensor]:
        """Return the tensors in which it keeps its state: the flat ones too, of which small states are views."""
        return [*(name for lane in self._lanes.values() for name in lane.names), *super().state_tensors()]

    def lay_apart(self, params: list[Tensor]) -> None:
        """Make the state that the first step of these parameters would make, an array each; later steps keep it so.

        For a step that becomes a pure function: small states that lie packed in one array are rounded otherwise.
        """
        self.packs = False
        for kept in self.state.values():
            for tensor in kept.values() if isinstance(kept, dict) else ():
                if isinstance(tensor, Tensor):
                    tensor._variable, tensor._alias = tensor._current(), None
        for group in self.param_groups:
            stepped = [p for p in group["params"] if any(p is one for one in params)]
            for once in self._lists(stepped):
                for part, options in self._parts(once, group):
                    self._lanes[part[0]] = self._lane(part, options, self._slots(options))

    def _lists(self, params: list[Tensor]) -> list[list[Tensor]]:
        """Return parameters in lists in which none comes twice, and all are on the same devices."""
        lists = [params] if params else []
        if self._repeats:
            counts = Counter(params)
            lists = [[p for p, n in counts.items() if n > turn] for turn in range(max(counts.values(), default=0))]
        return [part for once in lists for part in _by_devices(once)]

    def _bind(self, names: list[Tensor], values: list[Any]) -> None:
        """Make the tensors names of their new values; with those values' history where the step is differentiable."""
        if not self.defaults.get("differentiable"):
            if self.found_inf is None:
                bind(names, values)  # the rule's results have the orders of what they replace
            else:
                rebind(names, unless(self.found_inf, names, values))
            return
        for name, value in zip(names, values, strict=True):
            name._write(value)

    def _record(self, params: list[Tensor], group: Group, names: list[Tensor], values: list[Any]) -> None:
        """Record the update of some parameters of a group; append the changed tensors and their new values."""
        slots = self._slots(group)
        if params[0].is_meta:
            self._count_only(params, group, slots)
            return
        lane = self._lanes.get(params[0])
        if lane is None or not lane.fits(params, slots, self.state):
            lane = self._lanes[params[0]] = self._lane(params, group, slots)
        lane.forget_readings()
        # floats, whatever they came as: an int, or numpy's float64, would make another program of each value
        numbers = [
            x if type(x) is float or x is None or isinstance(x, Tensor) else float(x)
            for x in (self.given_numbers or self._numbers)(group)
        ]
        inputs = [*lane.params, *self._gradients(lane.params, group), *lane.names, *numbers]
        joins = self._is_elementwise and lane.joins
        layout = Layout(lane.sizes, slots, self._shared, group.get("maximize", False), joins)
        if lane.packing is None:
            results = _with_history(self._op, inputs, (layout, *self._options(group)))
        else:
            results = record(self._packed_op, inputs, (lane.packing, layout, *self._options(group)))
        names += lane.params
        names += lane.names
        values += results
        for name, place in lane.followers:
            names.append(name)
            values.append(results[place])

    def _count_only(self, params: list[Tensor], group: Group, slots: tuple[str, ...]) -> None:
        """Step parameters on the device `meta`: they get their states, and there are no numbers to change."""
        wanted = slots + self._shared
        for state in self._states(params, group, wanted) if wanted else ():
            if "step" in state:
                state["step"].add_(1)

    def _gradients(self, params: list[Tensor], group: Group) -> list[Any]:
        """Return what the rule is given of each parameter's gradient."""
        return dense_gradients(params, self._refusal_of_sparse(group))

    def _refusal_of_sparse(self, group: Group) -> str:
        """Return what is said to a sparse gradient; nothing where the rule takes it."""
        return f"{type(self).__name__} does not support sparse gradients"

    def _lane(self, params: list[Tensor], group: Group, slots: tuple[str, ...]) -> Lane:
        """Bring parameters that step together into the order in which a step reads them."""
        shared, given = self._shared, params
        states: list[dict[str, Any]] = [{}] * len(params)
        sizes: tuple[int, ...] = (len(params),)
        if slots or shared:
            states = self._states(params, group, slots + shared)
        if shared:
            params, states, sizes = _in_cohorts(params, states, shared)
        pack = not self.defaults.get("differentiable")
        return Lane(given, params, states, sizes, slots, shared, pack=pack, apart=not self.packs)

    def _states(self, params: list[Tensor], group: Group, wanted: tuple[str, ...]) -> list[dict[str, Any]]:
        """Return each parameter's state, made where there was none."""
        state = self.state
        states = [state[param] for param in params]
        probe = wanted[-1]
        fresh = [i for i, one in enumerate(states) if one.get(probe) is None]
        if fresh:
            self._make_states([params[i] for i in fresh], [states[i] for i in fresh], group)
        return states

    def _make_states(self, params: list[Tensor], states: list[dict[str, Any]], group: Group) -> None:
        """Fill states for the first time: on the host, so that the first step is the same program as the second."""
        for name in self._shared:
            first = _beside(params[0], self._initial(name, params[0], group))
            for state in states:
                state[name] = Tensor._of(first)
        for param, state in zip(params, states, strict=True):
            for name in self._slots(group):
                state[name] = Tensor._of(_beside(param, self._initial(name, param, group)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        later = [name for name, x in self.defaults.items() if x is None or isinstance(x, bool) or name in self._later]
        for group in self.param_groups:  # of a file from before an option was there
            for name in later:
                group.setdefault(name, self.defaults[name])
        self._lanes = {}
        self._share_again()

    def _share_again(self) -> None:
        """Give parameters whose counts are equal one array for them, after each was copied or loaded by itself."""
        for name in self._shared:
            owners = [(param, own) for param, own in self.state.items() if isinstance(own, dict) and name in own]
            counts = [own[name] for _, own in owners]
            by_value = {id(count._current().value) if isinstance(count, Tensor) else count for count in counts}
            if len(by_value) < 2 and all(isinstance(own[name], Tensor) for _, own in owners):
                continue
            known: dict[Any, Variable] = {}
            for param, own in owners:
                count = own[name]
                dtype = count.dtype.numpy if isinstance(count, Tensor) else count_dtype()
                key = float(count), dtype
                if key not in known:
                    known[key] = _beside(param, np.array(key[0], dtype))
                if isinstance(count, Tensor):
                    bind([count], [known[key]])
                else:
                    own[name] = Tensor._of(known[key])


def _kept(found: Array, arrays: Arrays) -> tuple[Array, ...]:
    """The first half of `arrays` where something was found, else the second."""
    half = len(arrays) // 2
    return tuple(jnp.where(found == 0, new, old) for old, new in zip(arrays[:half], arrays[half:], strict=True))


_KEPT = Op(_kept)


def unless(found: Tensor, names: Sequence[Tensor], values: Sequence[Variable]) -> list[Variable]:
    """Record what the names become where a step is left out if `found` is not 0. States that are shared stay so."""
    present = [name._current() for name in names]
    pairs = {(old.value, new.value): (old, new) for old, new in zip(present, values, strict=True)}
    old, new = zip(*pairs.values(), strict=True) if pairs else ((), ())
    kept = record(_KEPT, [found, *map(Tensor._of, old), *map(Tensor._of, new)]) if pairs else []
    by_pair = dict(zip(pairs, kept, strict=True))
    return [by_pair[old.value, new.value] for old, new in zip(present, values, strict=True)]


def evaluated(closure: Callable[[], Any] | None) -> Any:
    """Return what a closure computes, with gradients on; None without one."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


def count_dtype() -> np.dtype[Any]:
    """Return the dtype in which steps are counted: float32, or float64 where that is the default dtype."""
    return np.dtype(np.float64 if get_default_dtype() is float64 else np.float32)


def _by_devices(params: list[Tensor]) -> list[list[Tensor]]:
    """Return parameters apart by the devices that they are on: a program has one set of devices."""
    placements = {param._variable.value.aval.placement for param in params}
    if len(placements) == 1:
        return [params]
    parts: dict[Any, list[Tensor]] = {}
    for param in params:
        placement = param._current().value.aval.placement
        parts.setdefault(placement and frozenset(placement.device_set), []).append(param)
    return list(parts.values())


def _beside(param: Tensor, array: np.ndarray[Any, Any]) -> Variable:
    """Put an array where a parameter is: sharded as it is, or, 0-d, a copy on each of its devices.

    Beside a parameter on `meta` only what is 0-d has numbers, as in torch, which counts the steps all the same.
    """
    placement = param._current().value.aval.placement
    if placement is META:
        return Variable(meta(aval_of(array)) if array.shape else of_array(put(array)))
    if placement is not None and not array.shape and isinstance(placement, NamedSharding):
        placement = NamedSharding(placement.mesh, PartitionSpec())
    value = of_array(put(array, placement))
    if array.nbytes > _LARGE:
        array_of(value)
    return Variable(value)


def _with_history(op: Op, inputs: list[Any], statics: tuple[Any, ...]) -> list[Variable]:
    """Record a step that gradients flow through: to the parameters before it, to their gradients, and to a rate."""
    for given in inputs:
        if isinstance(given, Tensor) and given.is_leaf and given.requires_grad and given.grad is not None:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation. With differentiable=True "
                "give the optimizer tensors with a history, [param.clone() for param in params], and set their .grad "
                "to what autograd.grad(loss, those, create_graph=True) returns."
            )
    with enable_grad():
        return apply(op, [given._current() if isinstance(given, Tensor) else given for given in inputs], statics)


def _in_cohorts(
    params: list[Tensor], states: list[dict[str, Any]], shared: tuple[str, ...]
) -> tuple[list[Tensor], list[dict[str, Any]], tuple[int, ...]]:
    """Bring parameters that share arrays together. Result: the same parameters and states, and how many share each."""
    keys: list[Any] = [tuple([id(state[name]._current().value) for name in shared]) for state in states]
    members: dict[Any, list[int]] = {key: [] for key in keys}
    if len(members) == 1:
        return params, states, (len(params),)
    for i, key in enumerate(keys):
        members[key].append(i)
    order = [i for cohort in members.values() for i in cohort]
    return [params[i] for i in order], [states[i] for i in order], tuple(map(len, members.values()))
