"""The table: one row per op, from which its function, method, operator, in-place twin and `grad_fn` name follow.

A row is a pure JAX function under `@op(...)`. Its signature is the schema:

    Array      a tensor that takes part in the row's promotion
    Operand    a tensor, or a number in its place, that takes part in it
    Mask       a tensor that takes no part in promotion (a condition)
    Indices    a tensor of integers that takes no part in promotion
    Arrays     any number of tensors, given as one sequence
    Scalar     a Python number that becomes an input of the program when it changes
    Index      an int (index or slice start) that becomes an input when it changes

Anything else (`int`, `Dims`, `bool`, `float`, `str`, `DType`) is static: part of the program's key, so hashable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import numpy as np
from jax import lax

from funcgrad._base import dtypes, promotion
from funcgrad._base.dtypes import dtype as DType  # a type in row signatures
from funcgrad._base.errors import NotATensor

Array: TypeAlias = jax.Array
Operand: TypeAlias = jax.Array
Mask: TypeAlias = jax.Array
Indices: TypeAlias = jax.Array
Arrays: TypeAlias = Sequence[jax.Array]
Scalar: TypeAlias = Any  # bool | int | float | complex, or the traced number that stands for one
Index: TypeAlias = Any  # int, or the traced int that stands for one
Dims: TypeAlias = tuple[int, ...]

_INPUTS = {"Array", "Mask", "Indices", "Arrays", "Scalar", "Index"}
_NUMBERS = (bool, int, float, complex)
_OF_NUMBERS = frozenset(("add", "sub", "mul", "div", "floor_divide"))  # torch computes these of numbers alone, too
_REQUIRED = object()

Precision: TypeAlias = Callable[["Op", Sequence[Any], Sequence[Any]], tuple[Array, ...]]  # (row, inputs, statics)

TABLE: dict[str, Op] = {}


class Number(NamedTuple):
    """A Python number that has become an input of the program: its traced float64 and its Python type."""

    value: Array
    kind: type


class Parameter(NamedTuple):
    """One parameter of a row: its kind is the first word of its annotation; an Operand is an Array, or a number."""

    name: str
    kind: str
    optional: bool
    default: Any
    keyword_only: bool
    takes_number: bool

    @property
    def is_input(self) -> bool:
        return self.kind in _INPUTS

    @property
    def is_required(self) -> bool:
        return self.default is _REQUIRED


class Demand(NamedTuple):
    """A condition that the numbers in an argument must fulfil (`conditions.Condition.of` makes it)."""

    condition: str
    arguments: tuple[str, ...]  # as Python writes them: names of the row's parameters, constants


class Op:
    """One row. `call` is all that a program needs of it."""

    __slots__ = (
        "autocast", "constant", "demands", "function", "grad", "inputs", "joins", "keep", "lacks", "memory", "name",
        "names", "numbers", "parameters", "precision", "promote", "results", "statics", "variadic", "write_back",
    )  # fmt: skip

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        grad: Any = None,
        promote: str | Callable[[Sequence[tuple[int, DType]]], DType] | None = None,
        names: str | None = None,
        results: str | None = None,
        constant: str = "",
        write_back: Callable[..., Array] | None = None,
        keep: str = "inputs",
        numbers: str = "folded",
        joins: Callable[..., Dims] | None = None,
        demands: tuple[Demand, ...] = (),
        memory: Callable[..., Dims | None] | None = None,
    ) -> None:
        self.function, self.grad, self.promote, self.keep, self.numbers = function, grad, promote, keep, numbers
        self.joins, self.demands = joins, demands
        self.name = function.__name__
        self.names = tuple((f"{self.name} .{self.name}" if names is None else names).split())
        self.results = tuple(results.split()) if results else None
        self.constant = frozenset(i for i, name in enumerate(self.results or ()) if name in constant.split())
        self.write_back = write_back
        self.autocast: tuple[Any, ...] | None = None  # on accelerators, on CPUs: `_ops.autocast` fills it
        self.memory = memory  # of rows: `_ops.memory_order` fills it
        self.precision: Precision | None = None  # of rows: `_ops.half_precision` fills it
        self.lacks: Callable[[Op, Sequence[Any]], None] | None = None  # of rows: `_ops.kernels` fills it
        self.parameters = _parameters(function)
        self.inputs = tuple(p for p in self.parameters if p.is_input)
        self.statics = tuple(p for p in self.parameters if not p.is_input)
        self.variadic = next((i for i, p in enumerate(self.inputs) if p.kind == "Arrays"), None)

    def call(self, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[Array, ...]:
        """Compute the results from arrays, numbers and Nones in the row's order; statics may be left out at the end."""
        if self.variadic is not None:
            inputs = self._gather(inputs)
        if self.lacks is not None:
            self.lacks(self, inputs)
        return (self.precision or Op.compute)(self, inputs, statics)

    def compute(self, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[Array, ...]:
        """Compute the results of inputs in which a variadic parameter's arrays are one list."""
        rounded = self._rounded_dtype(inputs) if self.promote in ("exact", "quotient") else None
        becomes_float = self.promote == "quotient" and not any(statics)  # no rounding is asked for
        inputs = self._prepare(inputs, rounded, becomes_float)
        arguments = {p.name: x for p, x in zip(self.inputs, inputs, strict=False)}
        arguments.update((p.name, x) for p, x in zip(self.statics, statics, strict=False))
        results = self.function(**arguments)
        if rounded is not None:
            results = lax.convert_element_type(results, rounded.numpy)
        return tuple(map(_strong, results)) if type(results) is tuple else (_strong(results),)

    def _gather(self, inputs: Sequence[Any]) -> list[Any]:
        """Put the variadic parameter's arrays, which come spliced into `inputs`, into one list."""
        start = self.variadic
        assert start is not None
        count = len(inputs) - len(self.inputs) + 1
        return [*inputs[:start], list(inputs[start : start + count]), *inputs[start + count :]]

    def _rounded_dtype(self, inputs: Sequence[Any]) -> DType | None:
        """Return the 16-bit floats that the result is rounded to, where such an array meets a number."""
        common = self.common_dtype(inputs)
        is_short = common.itemsize == 2 and common.is_floating_point
        return common if is_short and any(_ranked(x)[0] != promotion.DIMENSIONED for x in inputs) else None

    def _prepare(self, inputs: Sequence[Any], rounded: DType | None = None, becomes_float: bool = False) -> list[Any]:
        """Promote arrays and give traced numbers the dtype that they are used in: float32 before it is `rounded`."""
        if self.numbers != "inputs":  # an optimizer's rule takes its numbers where it takes tensors
            self._check_tensors(inputs)
        common = dtypes.float32 if rounded else self.common_dtype(inputs) if self.promote else None
        if becomes_float and common is not None:
            common = promotion.as_float(common)
        prepared: list[Any] = []
        for parameter, given in zip(self.inputs, inputs, strict=False):
            if given is None:
                prepared.append(None)
            elif parameter.kind == "Arrays":
                prepared.append([_cast(x, common) for x in given])
            elif parameter.kind == "Array":
                prepared.append(_cast(given, common))
            elif type(given) is Number:
                prepared.append(self._traced_number(parameter, given, common, inputs))
            else:
                prepared.append(given)
        return prepared

    def _check_tensors(self, inputs: Sequence[Any]) -> None:
        """Raise NotATensor where a number stands for a tensor that it cannot stand for."""
        alone = self.name not in _OF_NUMBERS and not any(hasattr(x, "dtype") or isinstance(x, list) for x in inputs)
        for i, (parameter, given) in enumerate(zip(self.inputs, inputs, strict=False)):
            if parameter.kind == "Scalar" and parameter.keyword_only and _is_no_number(parameter, given):
                kind = "NoneType" if given is None else "Tensor"
                raise TypeError(f"{self.public_name}(): argument '{parameter.name}' must be Number, not {kind}")
            if parameter.kind != "Array" or not isinstance(given, (*_NUMBERS, Number)):
                continue
            if alone or not (parameter.takes_number or parameter.optional):
                raise NotATensor(
                    f"{self.public_name}(): argument '{parameter.name}' (position {i + 1}) must be Tensor, not "
                    f"{(given.kind if isinstance(given, Number) else type(given)).__name__}"
                )

    @property
    def public_name(self) -> str:
        """What the user calls this op."""
        bare = self.name.removesuffix("_all").removesuffix("_dim")
        return self.names[0].rpartition(".")[2] if self.names else bare

    def common_dtype(self, inputs: Sequence[Any]) -> DType:
        """Return the dtype that a row's tensors are promoted to."""
        ranked = []
        for parameter, given in zip(self.inputs, inputs, strict=False):
            if given is not None and parameter.kind in ("Array", "Arrays"):
                ranked += map(_ranked, given if parameter.kind == "Arrays" else (given,))
        if callable(self.promote):
            return self.promote(ranked)
        common = promotion.result_type(ranked)
        return promotion.as_float(common) if self.promote == "float" else common

    @staticmethod
    def _traced_number(parameter: Parameter, number: Number, common: DType | None, inputs: Sequence[Any]) -> Array:
        if parameter.kind == "Index":
            return lax.convert_element_type(number.value, np.int32)
        if common is None or (number.kind is float and not common.is_differentiable):
            floats = [dtypes.of_numpy(x.dtype) for x in inputs if isinstance(x, jax.Array)]
            exact = dtypes.int64 if number.kind is int else dtypes.float64
            common = next((kind for kind in floats if kind.is_differentiable), exact)
        return lax.convert_element_type(_exact(number, common), common.numpy)

    def orders(
        self, operands: Sequence[tuple[Dims, Dims | None] | None], statics: Sequence[Any], shapes: Sequence[Dims]
    ) -> Sequence[Dims | None]:
        """Return the order of each result in torch's memory.

        operands: shape and order of each input, None for a number or nothing. See `memory_order`.
        """
        if self.memory is None:
            return [None] * len(shapes)
        inputs = [operand or ((), None) for operand in operands]  # a number says as little as a tensor of one
        return [self.memory(inputs, statics, shape) for shape in shapes]

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def op(**columns: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function into the table. The function itself is returned as it was.

    grad        torch's node name ("SoftmaxBackward0"); a nested tuple that draws several of torch's nodes (see
                `_tape.nodes`); or a function of the input shapes and statics (and dtypes, where it takes
                three) that returns one of these. None: no gradient flows.
    promote     None: inputs are taken as they are. "common": Array parameters (and numbers in their places) are cast to
                torch's common dtype. "float": likewise, and integers become the default float dtype. "exact": as
                "common", but a number beside 16-bit floats is not rounded: the row computes in float32, and its
                result is rounded. "quotient": as "exact", and integers become floats as for "float" where no
                rounding is asked for. Or a function of their ranks and dtypes (see `promotion.result_type`) that
                returns the common dtype, or refuses them.
    names       the public places, separated by blanks: "add .add .add_ .__radd__ nn.functional.relu". A leading dot
                is a method, a trailing underscore changes the first tensor in place. Default: function and method.
    results     the field names of the named tuple that torch returns.
    constant    those of them that no gradient flows through, though their dtype would let it.
    write_back  for views: the function (base, new, *statics) -> base with `new` written to where the view reads.
    keep        "inputs": a backward takes the inputs again (XLA merges what is computed twice). "residuals": what
                jax.vjp kept of the forward is recorded as further results, for rows whose forward is costly and cannot
                be merged.
    numbers     "folded": a Python number is part of the program until a second value is seen at its place. "inputs":
                always an input, for calls whose numbers are meant to change (an optimizer's learning rate). "checked":
                folded, but what calls the row has checked them, so what is known for one number holds for all. "typed":
                folded, and what is known for one float holds for all (an integer may not fit).
    joins       for rows that put many tensors together: (shape, count, *statics) -> the result's shape where all have
                one shape and dtype. Tracing so many takes long, and they come with every length of a Python loop.
    memory      the rule for the order of its results in torch's memory (`memory_order` has those of the rows).
    demands     what it demands of numbers, not only of shapes: (are_rows.of("index", "input", "dim"),). Its functions
                look at them first; numbers that are yet to be computed are looked at when results are read.
    """

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        assert function.__name__ not in TABLE, f"the table has a row {function.__name__} already"
        TABLE[function.__name__] = Op(function, **columns)
        return function

    return enter


class WriteBack(Op):
    """What writing through a view does to its base: (base, new, *the view's own arguments) -> base."""

    __slots__ = ()

    def __init__(self, view: Op) -> None:
        assert view.write_back is not None
        self.function, self.grad, self.promote, self.keep = view.write_back, "CopySlices", None, "inputs"
        self.numbers = view.numbers if view.numbers == "checked" else "folded"  # where the view was made
        self.autocast, self.joins, self.demands = None, None, ()
        self.memory = self.precision = None
        self.name, self.names, self.results, self.write_back = f"{view.name}_write_back", (), None, None
        base = view.inputs[0]
        self.inputs = (base._replace(name="base"), base._replace(name="new"), *view.inputs[1:])
        self.statics, self.variadic = view.statics, None
        self.parameters = (*self.inputs[:2], *view.parameters[1:])

    def call(self, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[Array, ...]:
        """Compute the base with `new`, which has the view's dtype, in the view's place."""
        base, new, *others = self._prepare(inputs)
        rest = {p.name: x for p, x in zip(self.inputs[2:], others, strict=False)}
        rest.update((p.name, x) for p, x in zip(self.statics, statics, strict=False))
        arguments = [rest[p.name] for p in self.parameters[2:] if p.name in rest]
        return (_strong(self.function(base, new, *arguments)),)


_WRITE_BACKS: dict[Op, WriteBack] = {}


def write_back_of(view: Op) -> WriteBack:
    """Return the op that writes through this view."""
    found = _WRITE_BACKS.get(view)
    if found is None:
        found = _WRITE_BACKS[view] = WriteBack(view)
    return found


def _parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    code, annotations = function.__code__, function.__annotations__
    count = code.co_argcount
    names = code.co_varnames[: count + code.co_kwonlyargcount]
    defaults: dict[str, Any] = dict(function.__kwdefaults__ or {})
    positional = function.__defaults__ or ()
    defaults.update(zip(names[count - len(positional) : count], positional, strict=True))
    rows = []
    for i, name in enumerate(names):
        words = str(annotations[name]).split()
        takes_number = words[0] == "Operand"
        kind = "Array" if takes_number else words[0]
        rows.append(Parameter(name, kind, "None" in words, defaults.get(name, _REQUIRED), i >= count, takes_number))
    return tuple(rows)


def _ranked(given: Any) -> tuple[int, DType]:
    if type(given) is Number:
        return promotion.NUMBER, dtypes.of_number(given.kind(0))
    if isinstance(given, (bool, int, float, complex)):
        return promotion.NUMBER, dtypes.of_number(given)
    rank = promotion.DIMENSIONED if given.ndim else promotion.ZERO_DIM
    return rank, dtypes.of_numpy(given.dtype)


def _is_no_number(parameter: Parameter, given: Any) -> bool:
    return getattr(given, "ndim", 0) > 0 or (given is None and not parameter.optional)


def _cast(given: Any, common: DType | None) -> Any:
    if type(given) is Number:
        given = _exact(given, common)
    if common is None:
        return given
    if isinstance(given, jax.Array):
        if given.dtype.kind == "c" and not common.is_complex:
            given = given.real
        return in_dtype(given, common.numpy)
    with np.errstate(over="ignore"):  # what is too large is infinite, and nobody is warned
        return np.asarray(np.array(given).astype(common.numpy))


def in_dtype(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return an array in another dtype. Truth values become floats by way of whole numbers.

    XLA takes what it knows to be a truth value times infinity, or NaN, for 0.
    """
    if array.dtype == np.bool_ and dtype.kind not in "biu":
        array = lax.convert_element_type(array, np.int8)
    return lax.convert_element_type(array, dtype)


def _exact(number: Number, wanted: DType | None) -> Array:
    """Return a traced number; an int that becomes an integer of any size as int64, for XLA clamps what is too large.

    int8 + 200 wraps around.
    """
    wraps = number.kind is int and (wanted is None or wanted.category == dtypes.INTEGER)
    return lax.convert_element_type(number.value, np.int64) if wraps else number.value


def _strong(result: Array) -> Array:
    """Drop JAX's weak type: torch's numbers are weak only until they are in a tensor."""
    return lax.convert_element_type(result, result.dtype)
