"""Near are small numbers that the host still has: numpy moves them about at once, programs are given the outcome.

A batch put together of samples, `torch.cat([s.state for s in chosen])`, is then one input of a program, whatever was
chosen; as instructions, each choice (which samples came twice, how many there were) would be a program of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from funcgrad._base.config import settings
from funcgrad._ops.table import TABLE, Op
from funcgrad._program.joining import BY_NUMPY, SHAPING, SMALL, Numbers
from funcgrad._program.record import array_of, ends_where_it_grows, note_growth, thread
from funcgrad._program.trie import known_end_to_end, signature_of
from funcgrad._program.value import CONSTANT, Aval, Recipe, Value, constant, of_array
from funcgrad._tape.nodes import GradSlot
from funcgrad._tape.variable import Variable
from funcgrad._tensor.aliases import show
from funcgrad._tensor.call import call
from funcgrad._tensor.interop import host_numbers, in_dtype, is_on_host, is_short_text
from funcgrad._tensor.placement import device_of
from funcgrad._tensor.selected_later import Selection
from funcgrad._tensor.tensor import Tensor

_WIDEST = 1 << 63
_MANY = 8  # so many pieces are a batch put together of samples


def _in_shape(arrays: Sequence[Numbers], statics: tuple[Any, ...], result: Aval) -> Numbers:
    return arrays[0].reshape(result.shape)


def _in_dtype(arrays: Sequence[Numbers], statics: tuple[Any, ...], result: Aval) -> Numbers:
    """Cast: floats cut off to integers as the row does it, and without numpy's warnings of what does not fit."""
    numbers, kind = arrays[0], result.dtype.numpy
    if numbers.dtype.kind == "c" and kind.kind not in "cb":
        numbers = numbers.real
    if kind.kind in "iu" and numbers.dtype.kind in "fV":
        with np.errstate(invalid="ignore"):
            numbers = numbers.astype(np.float64).astype(np.int64 if kind.itemsize == 8 else np.int32)
    return in_dtype(numbers, result.dtype)


ON_HOST: dict[Op, Callable[[Sequence[Numbers], tuple[Any, ...], Aval], Numbers]] = {
    TABLE["to_dtype"]: _in_dtype, **{TABLE[name]: join for name, join in BY_NUMPY.items()},
    **dict.fromkeys(SHAPING, _in_shape),
}  # fmt: skip
OF_WHOLE_NUMBERS: dict[Op, Callable[[Numbers, Any], Numbers]] = {
    TABLE["add"]: np.add, TABLE["sub"]: np.subtract, TABLE["mul"]: np.multiply,
}  # fmt: skip
_JOINING = frozenset(TABLE[name] for name in BY_NUMPY)


def call_near(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> Any:
    """Do what `call` does: by numpy where the host has all inputs, they are small, and none has a history."""
    if settings.eager or (
        len(inputs) == 1 and type(inputs[0]) is Tensor and inputs[0]._current().value.program is thread.program
    ):
        return call(op, inputs, statics)
    if op in _JOINING and len(inputs) >= _MANY:
        return _joined(op, inputs, statics)
    variables = [x._current() if isinstance(x, Tensor) else None for x in inputs]
    if not _are_near(op, variables):
        return _grown(op, inputs, statics) if op in _JOINING else call(op, inputs, statics)
    made = _by_numpy(op, [variable.value for variable in variables], statics)  # type: ignore[union-attr]  # as just seen
    if made is None:
        return call(op, inputs, statics)
    if op.write_back is not None:
        show(made, inputs[0], op, (), statics, variables[0])  # type: ignore[arg-type]  # not None either
    return made


def _by_numpy(op: Op, values: Sequence[Value], statics: tuple[Any, ...]) -> Tensor | None:
    """Return what numpy makes of numbers that the host has; None where XLA would make others of them."""
    avals = tuple([value.aval for value in values])
    kinds = set(avals)
    vary = len(kinds) > 1 and all(kind.order is None for kind in kinds)  # lengths that may never come together again
    (result,) = (known_end_to_end(op, avals, statics) if vary else None) or signature_of(op, avals, statics).avals
    if any(_is_cut(kind, result) for kind in kinds):
        return None
    arrays = [host_numbers(value) if value.array is None else np.asarray(value.array) for value in values]
    value = of_array(ON_HOST[op](arrays, statics, result))  # type: ignore[arg-type]  # none is None: they are near
    value.aval = value.aval.in_order(result.order)
    return Tensor._of(Variable(value))


def _joined(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...]) -> Any:
    """Join many pieces, as of a batch put together of samples; the last of them may have to run first."""
    values = _here(inputs)
    if values is None:
        variables = [x._current() if isinstance(x, Tensor) else None for x in inputs]
        _run_last(variables)
        if not _are_near(op, variables):
            return call(op, _apart(variables, inputs), statics)
        values = [variable.value for variable in variables]  # type: ignore[union-attr]  # none is None, as just seen
    made = _by_numpy(op, values, statics)
    return call(op, inputs, statics) if made is None else made


def _here(inputs: Sequence[Any]) -> list[Value] | None:
    """Return what small tensors without a history stand for, if the host has all of them; else None. In one pass."""
    values: list[Value] = []
    for x in inputs:
        if type(x) is not Tensor:
            return None
        if x._alias is not None:
            x._alias.refresh(x)
        variable = x._variable
        value = variable.value
        if variable.node is not None or type(value) is not Value or value.array is None:
            return None
        values.append(value)
    known = {value.aval for value in values}
    if any(aval.nbytes > SMALL for aval in known):
        return None
    is_cpu = device_of(None).type == "cpu" and all(aval.placement is None for aval in known)
    return values if is_cpu or all(type(value.array) is np.ndarray for value in values) else None


def _grown(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...]) -> Any:
    """Join a few pieces. Where a text grows by that turn after turn, its program ends here, and the host joins them."""
    variables = [x._current() for x in inputs if isinstance(x, Tensor)]
    if len(variables) < len(inputs) or not all(variable.node is None for variable in variables):
        return call(op, inputs, statics)
    kind, parts = (op, statics), [variable.aval for variable in variables]
    are_short = all(not part.differentiable and part.nbytes <= SMALL for part in parts)
    is_text = are_short and any(is_short_text(variable) for variable in variables)
    if ends_where_it_grows(kind, parts, is_text=is_text) and all(map(is_short_text, variables)):
        texts = [host_numbers(variable.value) for variable in variables]
        (result,) = signature_of(op, tuple(parts), statics).avals
        joined = Tensor._of(Variable(of_array(ON_HOST[op](texts, statics, result))))  # type: ignore[arg-type]  # not None
    else:
        joined = call(op, inputs, statics)
    note_growth(kind, joined._variable.aval)
    return joined


def call_near_if_whole(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> Any:
    """Do what `call` does: by numpy where small whole numbers that the host has meet others of their shape, or one.

    Samples are joined so (`torch.cat([edges + begin for ...])`), and with floats numpy might round otherwise.
    """
    first, other = inputs[0], inputs[-1]
    if len(inputs) != 2 or (type(first) is Tensor and type(first._alias) is Selection):
        return call(op, inputs, statics)
    if type(first) is Tensor:
        if type(other) is int and _is_place(first) and abs(other) < _WIDEST:
            return _moved_place(op, (first._current().value, other), statics)
        if type(first._variable.value.array) is np.ndarray:
            one = _whole_numbers(first)
            numbers = other if type(other) is int and abs(other) < _WIDEST else _whole_numbers(other)
            if one is not None and numbers is not None and np.shape(numbers) in ((), one.shape) and not settings.eager:
                return Tensor._of(Variable(of_array(OF_WHOLE_NUMBERS[op](one, numbers))))
    elif type(first) is int and _is_place(other) and abs(first) < _WIDEST:
        return _moved_place(op, (first, other._current().value), statics)
    return call(op, inputs, statics)


def _is_place(x: Any) -> bool:
    """Tell whether it is one whole number that is made on the host when somebody asks, such as y[i]."""
    if type(x) is not Tensor or type(x._alias) is Selection or x._variable.value.program is not CONSTANT:
        return False
    value = x._current().value
    if value.program is not CONSTANT or value.slot.host is None:
        return False
    return not value.aval.shape and value.aval.dtype.numpy == np.int64


def _moved_place(op: Op, inputs: tuple[Any, Any], statics: tuple[Any, ...]) -> Tensor:
    """Return `place + number`, made as the place is: `for i in starts: data[i : i + length]` runs nothing."""

    def host() -> Numbers:
        with np.errstate(over="ignore"):
            numbers: list[Any] = [host_numbers(x) if isinstance(x, Value) else x for x in inputs]
            return np.array(OF_WHOLE_NUMBERS[op](*numbers))

    known = next(x for x in inputs if isinstance(x, Value)).aval
    return Tensor._of(Variable(constant(Recipe(op, inputs, statics, host), known)))


def _whole_numbers(x: Any) -> Numbers | None:
    """Return the numbers of a small int64 tensor that has dimensions, where the host has them at hand; else None."""
    if type(x) is not Tensor or type(x._variable.value.array) is not np.ndarray:
        return None
    value = x._current().value
    array = value.array
    fits = type(value) is Value and type(array) is np.ndarray and array.dtype == np.int64
    fits = fits and value.aval.order is None
    return array if fits and array.ndim and array.nbytes <= SMALL else None


def _are_near(op: Op, variables: Sequence[Variable | None]) -> bool:
    """Tell whether numpy should do it: it has all numbers, or may have those of a batch of samples for the asking."""
    values = [variable.value for variable in variables if variable is not None and variable.node is None]
    if not values or len(values) < len(variables) or any(value.aval.nbytes > SMALL for value in values):
        return False
    here = sum(type(value.array) is np.ndarray for value in values)
    if here == len(values) or op not in _JOINING:
        return here == len(values)
    return (here > 0 or len(values) >= _MANY) and all(_is_given(value, len(values)) for value in values)


def _run_last(variables: Sequence[Variable | None]) -> None:
    """Run the few pieces of many that are only promised: the last of those that a loop kept one by one."""
    values = [variable.value for variable in variables if variable is not None and variable.node is None]
    if len(values) < len(variables) or any(value.aval.nbytes > SMALL for value in values):
        return
    late = [value for value in values if not _is_given(value, len(values))]
    if late and len(values) >= _MANY * len(late):
        for value in late:
            if type(value) is Value and value.array is None:
                array_of(value)


def _is_given(value: Value, count: int) -> bool:
    """Tell whether a piece's numbers cost nothing; of many pieces also those of the CPU's own, which are worth it."""
    if value.array is None:
        return value.program is CONSTANT and value.slot.host is not None
    return type(value.array) is np.ndarray or (count >= _MANY and is_on_host(value))


def _apart(variables: Sequence[Variable | None], inputs: Sequence[Any]) -> Sequence[Any]:
    """Make each small piece that was computed before an input of its own, whether or not the program has read it.

    Which pieces came twice, or in another batch too, is then nothing that the program knows: it is the same one.
    """
    own = list(inputs)
    for place, variable in enumerate(variables):
        if variable is None or type(variable.node) is GradSlot or variable.aval.nbytes > SMALL:
            continue
        value = variable.value
        if type(value) is Value and isinstance(value.array, jax.Array):
            thread.program.pinned.append(value)  # else its array might be donated, which is read twice now
            own[place] = Tensor._of(Variable(of_array(value.array, shared=True), variable.node, variable.index))
    return own


def _is_cut(given: Aval, result: Aval) -> bool:
    """Tell whether floats become integers, where XLA and numpy differ on what does not fit."""
    return given.differentiable and not result.differentiable
