"""A Value is one array: here already, promised by the program being recorded, or a constant not yet made."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.core
import numpy as np

from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.dtypes import of_numpy
from funcgrad._base.size import Size


class Aval:
    """What is known of an array before it is computed: shape, dtype, and where it was put (None: JAX's default device).

    order: that of its dimensions in torch's memory (None: as they come); see `_ops.memory_order`.
    Unique per content, so that a program's key compares and hashes them by identity.
    """

    __slots__ = ("differentiable", "dtype", "order", "placement", "shape", "struct")

    def __init__(
        self, shape: tuple[int, ...], numpy_dtype: np.dtype[Any], placement: Any, order: tuple[int, ...] | None
    ) -> None:
        self.shape = Size(shape)
        self.dtype: DType = of_numpy(numpy_dtype)
        self.differentiable = self.dtype.is_differentiable
        self.placement = placement
        self.order = order
        self.struct = jax.ShapeDtypeStruct(tuple(shape), self.dtype.numpy)

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def in_order(self, order: tuple[int, ...] | None) -> Aval:
        """Return what is known of the same array in another order."""
        return self if order == self.order else aval(self.struct.shape, self.dtype.numpy, self.placement, order)

    def __repr__(self) -> str:
        return f"{self.dtype.name}{list(self.shape)}"


def in_any_order(known: Any) -> Any:
    """Return an Aval without the order, on which no number depends; anything else as it is."""
    return known.in_order(None) if type(known) is Aval else known


_KNOWN: dict[tuple[Any, ...], Aval] = {}


def aval(shape: tuple[int, ...], numpy_dtype: Any, placement: Any = None, order: tuple[int, ...] | None = None) -> Aval:
    """Return the one Aval of this shape, dtype, placement and order."""
    key = (shape, numpy_dtype, placement, order)
    found = _KNOWN.get(key)
    if found is None:
        found = _KNOWN[key] = _KNOWN.setdefault(
            (tuple(shape), np.dtype(numpy_dtype), placement, order), Aval(shape, numpy_dtype, placement, order)
        )
    return found


def aval_of(array: Any) -> Aval:
    """Return the Aval of an array that is here; a traced one has no placement."""
    if isinstance(array, (np.ndarray, jax.core.Tracer)) or not array.committed:
        return aval(array.shape, array.dtype)
    return aval(array.shape, array.dtype, array.sharding)


class Value:
    """One array, or the promise of one. It never changes, except from promised to here.

    array is set: it is here; as a numpy array of our own where few programs have read it (see Seen), since passing that
    to XLA costs less than `jax.device_put`. Else `program` is the program that will compute it as result number `slot`;
    or `program` is CONSTANT, and `slot` is the Recipe for it.
    """

    __slots__ = ("__weakref__", "array", "aval", "program", "slot")

    def __init__(self, array: Any, program: Any, slot: Any, aval: Aval) -> None:
        self.array = array
        self.program = program
        self.slot: Any = slot
        self.aval = aval

    @property
    def is_shared(self) -> bool:
        """Whether others hold the array too, so that its memory must not be reused."""
        return self.slot is SHARED

    def share(self) -> None:
        """Say that others hold the array too. It is here already."""
        assert self.array is not None
        self.slot = SHARED


class Seen(int):
    """How many programs have read a numpy array, as the `slot` of its Value.

    To pass a small one to XLA on a CPU takes 1 to 2 us each time, to put it on the device 20 us once.
    """

    __slots__ = ()

    def is_enough(self, value: Value) -> bool:
        """Tell whether the array had better be on the device when the next program reads it."""
        return self >= _OFTEN or value.aval.nbytes > _LITTLE or jax.default_backend() != "cpu"


class _NotHere:
    """The `array` of a Value that stands for others, whose numbers nobody may ask for."""

    def __getattr__(self, name: str) -> Any:
        raise NotHere(name)


class NotHere(Exception):  # noqa: N818 - no error: it asks for another way
    """Somebody asked for the numbers of what stands for others."""


NOT_HERE: Any = _NotHere()
SHARED = object()  # the `slot` of a Value whose array others hold too
_SMALL = 1 << 20  # bytes
_OFTEN, _LITTLE = 16, 1 << 14  # programs; bytes


def remember_places(value: Value, host: np.ndarray[Any, Any]) -> None:
    """Keep the host's copy of small arrays of integers, as the `slot`: as indices they are checked on the host."""
    if host.dtype == np.int64 and host.nbytes <= _SMALL and value.slot is not SHARED:
        value.slot = host


class TracedValue(Value):
    """A Value whose array is a JAX tracer: ops on it run straight through, inside the caller's own transformation."""

    __slots__ = ()


class LiftedValue(Value):
    """A Value inside a function that is being transformed (grad, vmap, jvp). Contract: `read` and `detached`."""

    __slots__ = ()

    def read(self) -> Any:
        """Return the array that Python may look at; raise RuntimeError where there is not just one."""
        raise AssertionError("a lifted value says in read what Python may see of it")

    def detached(self) -> Any:
        """Return a Variable of the same value from which no gradient flows, at any level."""
        raise AssertionError("a lifted value says in detached how it is cut off")


class InsideTransform(Exception):  # noqa: N818 - no error: it asks for the way through the transformations
    """An op was given a LiftedValue; nothing was recorded."""


class _Meta:
    """The placement of tensors without numbers: torch's device "meta"."""

    device_set: frozenset[Any] = frozenset()


META = _Meta()


class MetaValue(Value):
    """A Value that never gets an array: only shape and dtype are known of it and of all that is computed from it."""

    __slots__ = ()


def meta(like: Aval) -> MetaValue:
    """Return a Value of this shape and dtype without numbers."""
    return MetaValue(None, None, 0, aval(tuple(like.shape), like.dtype.numpy, META, like.order))


class Recipe(NamedTuple):
    """How a constant is made: an op without tensor inputs; `host` gives its numbers where that is cheaper."""

    op: Any
    inputs: tuple[Any, ...]
    statics: tuple[Any, ...]
    host: Callable[[], np.ndarray[Any, Any]] | None


class _Constant:
    """The `program` of a Value that was not made yet and needs no input: its `slot` is a Recipe."""

    __slots__ = ()


CONSTANT = _Constant()


def of_array(array: Any, *, shared: bool = False) -> Value:
    """Return the Value of an array that is here. `shared`: others hold it too, so it is never donated."""
    kind = TracedValue if isinstance(array, jax.core.Tracer) else Value
    return kind(array, None, SHARED if shared else 0, aval_of(array))


def constant(recipe: Recipe, aval: Aval) -> Value:
    """Return a Value that becomes an instruction of each program that reads it; an array only where one is needed."""
    return Value(None, CONSTANT, recipe, aval)
