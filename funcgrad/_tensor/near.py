"""Small numbers that the host still has: numpy moves them about at once, and programs are given the outcome.

A batch put together of samples, `torch.cat([s.state for s in chosen])`, is then one input of a program, whatever was
chosen; as instructions, each choice (which samples came twice, how many there were) would be a program of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad._base.config import settings
from funcgrad._ops.table import TABLE, Op
from funcgrad._program.trie import signature_of
from funcgrad._program.value import Aval, of_array
from funcgrad._tape.variable import Variable
from funcgrad._tensor.aliases import View
from funcgrad._tensor.call import call
from funcgrad._tensor.tensor import Tensor

_SMALL = 1 << 16  # bytes; a larger array had better be on the device, once, than travel in each new shape

Numbers = np.ndarray[Any, Any]


def _in_shape(arrays: Sequence[Numbers], statics: tuple[Any, ...], result: Aval) -> Numbers:
    return arrays[0].reshape(result.shape)


def _in_dtype(arrays: Sequence[Numbers], statics: tuple[Any, ...], result: Aval) -> Numbers:
    return arrays[0].astype(result.dtype.numpy)


def _joined(arrays: Sequence[Numbers], statics: tuple[Any, ...], result: Aval) -> Numbers:
    """Join along a dimension; empty 1-D tensors are left out, as by the row."""
    fitting = [array for array in arrays if array.shape != (0,)] or arrays
    return np.concatenate(fitting, statics[0] if statics else 0, dtype=result.dtype.numpy, casting="unsafe")


def _stacked(arrays: Sequence[Numbers], statics: tuple[Any, ...], result: Aval) -> Numbers:
    return np.stack(arrays, statics[0] if statics else 0, dtype=result.dtype.numpy, casting="unsafe")


ON_HOST: dict[Op, Callable[[Sequence[Numbers], tuple[Any, ...], Aval], Numbers]] = {
    TABLE["to_dtype"]: _in_dtype, TABLE["cat"]: _joined, TABLE["stack"]: _stacked,
    **dict.fromkeys((TABLE[name] for name in ("view", "reshape", "squeeze", "unsqueeze", "flatten")), _in_shape),
}  # fmt: skip


def call_near(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> Any:
    """Do what `call` does: by numpy where the host has all inputs, they are small, and none has a history."""
    variables = [x._current() if isinstance(x, Tensor) else None for x in inputs]
    if settings.eager or not variables or not all(map(_is_near, variables)):
        return call(op, inputs, statics)
    values = [variable.value for variable in variables]  # type: ignore[union-attr]  # none is None, as just seen
    (result,) = signature_of(op, tuple([value.aval for value in values]), statics).avals
    if any(_is_cut(value.aval, result) for value in values):
        return call(op, inputs, statics)
    made = Tensor._of(Variable(of_array(ON_HOST[op]([value.array for value in values], statics, result))))
    if op.write_back is not None:
        made._alias = View(inputs[0], op, (), statics, variables[0])  # type: ignore[arg-type]  # not None either
    return made


def _is_near(variable: Variable | None) -> bool:
    if variable is None or variable.node is not None:
        return False
    array = variable.value.array
    return type(array) is np.ndarray and array.nbytes <= _SMALL


def _is_cut(given: Aval, result: Aval) -> bool:
    """Tell whether floats become integers, where XLA and numpy differ on what does not fit."""
    return given.differentiable and not result.differentiable
