"""Autocast's state, for each thread and kind of device, and the casts that it asks for before an op is called."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from funcgrad._base.devices import KINDS, device
from funcgrad._base.dtypes import bfloat16, float16, float32
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.promotion import promote_types
from funcgrad._base.warning import warn
from funcgrad._ops.autocast import AS_STATE, BANNED, FLOAT32_UNLESS_DTYPE, LOWER, WIDEST
from funcgrad._ops.table import TABLE, Op
from funcgrad._tape.apply import apply
from funcgrad._tape.modes import thread
from funcgrad._tape.nodes import GradSlot
from funcgrad._tape.variable import Variable
from funcgrad._tensor.registry import function
from funcgrad._tensor.tensor import Tensor

_LOWER_BY_DEFAULT = {"cpu": bfloat16, "xla": bfloat16, "tpu": bfloat16}
_CASTABLE = frozenset((float16, bfloat16, float32))
_UNSAFE = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast: float16 may not hold their "
    "gradient. Combine a sigmoid and this loss into torch.nn.functional.binary_cross_entropy_with_logits or "
    "torch.nn.BCEWithLogitsLoss, which are safe to autocast."
)


class Autocast:
    """How many threads have autocast enabled for a kind of device: `call` looks no further while it is 0."""

    on = 0
    lock = threading.Lock()


class _Casts:
    """The casts of leaves in the outermost block; in a checkpointed call, which of those before it took.

    leaves: what stands for a leaf when a checkpointed call is made again.
    """

    __slots__ = ("before", "leaves", "made", "taken")

    def __init__(self, made: dict[Variable, Variable] | None = None, before: _Casts | None = None) -> None:
        self.made = {} if made is None else made
        self.before, self.taken, self.leaves = before, dict[Variable, Variable](), set[Variable]()

    def is_leaf(self, variable: Variable) -> bool:
        """Tell whether a cast of it is kept."""
        if type(variable.node) is GradSlot or variable in self.leaves:
            return True
        return self.before is not None and self.before.is_leaf(variable)

    def get(self, variable: Variable) -> Variable | None:
        """Return the cast of a parameter, if it was made."""
        found = self.made.get(variable)
        if found is None and self.before is not None:
            found = self.before.get(variable)
            if found is not None:
                self.taken[variable] = found
        return found

    def clear(self) -> None:
        """Let go of all casts."""
        self.made.clear()
        if self.before is not None:
            self.before.clear()


class _State(threading.local):
    def __init__(self) -> None:
        self.enabled: frozenset[str] = frozenset()
        self.dtypes: dict[str, DType] = {}
        self.nesting = 0
        self.caches = True
        self.cache = _Casts()


_state = _State()


def cast_inputs(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...]) -> Sequence[Any]:
    """Return the inputs in the dtypes that the op's policy asks for, where autocast is on for their device.

    Only float16, bfloat16 and float32 are cast; RuntimeError for an op that autocast forbids.
    """
    first = next((x for x in inputs if isinstance(x, Tensor)), None)
    kind = "" if first is None else first.device.type
    if first is None or kind not in _state.enabled:
        return inputs
    policy = op.autocast[kind == "cpu"]  # type: ignore[index]  # `call` asks only for ops that have one
    policy = policy(inputs, statics) if callable(policy) else policy
    if policy is None:
        return inputs
    if policy == BANNED:
        raise RuntimeError(_UNSAFE)
    if policy == FLOAT32_UNLESS_DTYPE and (first.dtype not in _CASTABLE or _says_dtype(op, statics)):
        return inputs
    wanted = get_autocast_dtype(kind) if policy == LOWER else float32
    if policy == WIDEST:
        given = {x.dtype for x in inputs if isinstance(x, Tensor) and x.dtype in _CASTABLE}
        wanted = float32 if len(given) > 1 else next(iter(given), float32)
    if policy == AS_STATE:
        wanted = promote_types(inputs[1].dtype, get_autocast_dtype(kind))
    return [_cast(x, wanted) if isinstance(x, Tensor) and x.dtype in _CASTABLE else x for x in inputs]


def is_cast(tensor: Tensor) -> bool:
    """Tell whether autocast is on for the tensor's device, and casts its dtype."""
    return bool(Autocast.on) and tensor.device.type in _state.enabled and tensor.dtype in _CASTABLE


def _says_dtype(op: Op, statics: tuple[Any, ...]) -> bool:
    return any(p.name == "dtype" and given is not None for p, given in zip(op.statics, statics, strict=False))


def _cast(tensor: Tensor, wanted: DType) -> Tensor:
    """Return the tensor in another dtype; a parameter's is made once for all of the outermost block."""
    variable = tensor._current()
    if variable.aval.dtype is wanted:
        return tensor
    is_kept = _state.caches and _state.nesting and thread.grad and _state.cache.is_leaf(variable)
    made = _state.cache.get(variable) if is_kept else None
    if made is None:
        (made,) = apply(TABLE["to_dtype"], (variable,), (wanted,))
        if is_kept:
            _state.cache.made[variable] = made
    return Tensor._of(made)


@function()
def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Tell whether ops on this kind of device are cast now."""
    return _kind(device_type) in _state.enabled


@function()
def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Switch casting on this kind of device; given only a bool, on GPUs."""
    kind, enabled = ("cuda", device_type) if enabled is None else (_kind(device_type), enabled)
    before = _state.enabled
    _state.enabled = before | {kind} if enabled else before - {kind}
    with Autocast.lock:
        Autocast.on += len(_state.enabled) - len(before)


@function()
def get_autocast_dtype(device_type: str) -> DType:
    """Return the dtype that matrix products are made in on this kind of device, under autocast."""
    kind = _kind(device_type)
    return _state.dtypes.get(kind) or _LOWER_BY_DEFAULT.get(kind, float16)


@function()
def set_autocast_dtype(device_type: str, dtype: DType) -> None:
    """Set the dtype that matrix products are made in on this kind of device, under autocast."""
    _state.dtypes[_kind(device_type)] = dtype


@function()
def is_autocast_cache_enabled() -> bool:
    """Tell whether casts of parameters are kept to the end of the outermost block."""
    return _state.caches


@function()
def set_autocast_cache_enabled(enabled: bool) -> None:
    """Say whether casts of parameters are kept to the end of the outermost block."""
    _state.caches = bool(enabled)


@function()
def clear_autocast_cache() -> None:
    """Let go of the casts of parameters."""
    _state.cache.clear()


@function()
def autocast_increment_nesting() -> int:
    """Enter a block; return how many are open."""
    _state.nesting += 1
    return _state.nesting


@function()
def autocast_decrement_nesting() -> int:
    """Leave a block; return how many are open."""
    _state.nesting -= 1
    return _state.nesting


class Snapshot:
    """How autocast is in this thread: where it is on, with which dtypes, and what a call takes of the casts so far.

    inputs: the call's, some of which may be leaves.
    """

    def __init__(self, inputs: Sequence[Variable] = ()) -> None:
        self.enabled, self.dtypes = _state.enabled, dict(_state.dtypes)
        self.nesting, self.caches = _state.nesting, _state.caches
        self.leaves = {x for x in inputs if _state.cache.is_leaf(x)}
        self.taken: dict[Variable, Variable] = {}

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note which casts made before are read inside; those made inside are for later calls too."""
        before = _state.cache
        _state.cache = _Casts(before=before)
        try:
            yield
        finally:
            before.made.update(_state.cache.made)
            self.taken, _state.cache = _state.cache.taken, before

    @contextmanager
    def again(self) -> Iterator[None]:
        """Let autocast be as it was, inside: with the casts that were read, and no others."""
        now, cache = Snapshot(), _state.cache
        self._stand()
        _state.cache = _Casts(dict(self.taken))
        try:
            yield
        finally:
            now._stand()
            _state.cache = cache

    def cast_alike(self, given: Variable, again: Variable) -> None:
        """Let what stands for an input be cast once where that was, and before the call where that had been."""
        if again is given or given not in self.leaves:
            return
        _state.cache.leaves.add(again)
        made = self.taken.get(given)
        if made is not None:
            (_state.cache.made[again],) = apply(TABLE["to_dtype"], (again,), (made.aval.dtype,))

    def _stand(self) -> None:
        for kind in self.enabled ^ _state.enabled:
            set_autocast_enabled(kind, kind in self.enabled)
        _state.dtypes, _state.nesting, _state.caches = dict(self.dtypes), self.nesting, self.caches


def _old_name(kind: str, word: str) -> None:
    def warn_of(name: str, given: str, now: str) -> None:
        warn(
            f"torch.{name}({given}) is deprecated. Please use torch.{now} instead.",
            DeprecationWarning,
        )

    def is_enabled() -> bool:
        """Tell whether ops on this kind of device are cast now."""
        warn_of(f"is_autocast_{word}_enabled", "", f"is_autocast_enabled('{kind}')")
        return is_autocast_enabled(kind)

    def set_enabled(enabled: bool) -> None:
        """Switch casting on this kind of device."""
        warn_of(f"set_autocast_{word}_enabled", "enabled", f"set_autocast_enabled('{kind}', enabled)")
        set_autocast_enabled(kind, enabled)

    def get_dtype() -> DType:
        """Return the dtype that matrix products are made in on this kind of device, under autocast."""
        warn_of(f"get_autocast_{word}_dtype", "", f"get_autocast_dtype('{kind}')")
        return get_autocast_dtype(kind)

    def set_dtype(dtype: DType) -> None:
        """Set the dtype that matrix products are made in on this kind of device, under autocast."""
        warn_of(f"set_autocast_{word}_dtype", "dtype", f"set_autocast_dtype('{kind}', dtype)")
        set_autocast_dtype(kind, dtype)

    function(f"get_autocast_{word}_dtype")(get_dtype)
    function(f"set_autocast_{word}_dtype")(set_dtype)
    if word != "gpu":
        function(f"is_autocast_{word}_enabled")(is_enabled)
        function(f"set_autocast_{word}_enabled")(set_enabled)


for _kind_of_device, _word in (("cpu", "cpu"), ("cuda", "gpu"), ("xla", "xla")):
    _old_name(_kind_of_device, _word)


def _kind(device_type: Any) -> str:
    return device_type if type(device_type) is str and device_type in KINDS else device(device_type).type
