"""What whole steps do to many names at once: record one call, and bind all its results in one go."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import repeat
from operator import add
from typing import Any

import jax
import numpy as np

from funcgrad._program.at_once import at_once as at_once
from funcgrad._program.record import record as record_values
from funcgrad._program.run import end_step as end_program_of_step
from funcgrad._program.run import flush as run_what_is_recorded
from funcgrad._program.value import InsideTransform, of_array
from funcgrad._tape.apply import only_record
from funcgrad._tape.modes import no_grad
from funcgrad._tape.variable import Variable
from funcgrad._tensor.aliases import in_order
from funcgrad._tensor.interop import value_on
from funcgrad._tensor.tensor import ALIAS, VARIABLE, WRITES, Tensor


def record(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> list[Variable]:
    """Record one call of `op` (of the table, or `Op(function)`) on tensors, numbers and Nones, without history."""
    values = []
    for x in inputs:
        if isinstance(x, Tensor):
            if x._alias is not None:
                x._alias.refresh(x)
            values.append(x._variable.value)
        else:
            values.append(x)
    try:
        return list(map(Variable, record_values(op, values, statics)[1]))
    except InsideTransform:
        variables = [x._current().detached() if isinstance(x, Tensor) else x for x in inputs]
        return only_record(op, variables, statics)


def rebind(tensors: Sequence[Tensor], variables: Sequence[Variable]) -> None:
    """Bind every tensor to its new value, as `bind` does; each keeps its order in memory too."""
    bind(tensors, [in_order(v, t._variable.value.aval.order) for t, v in zip(tensors, variables, strict=True)])


def bind(tensors: Sequence[Tensor], variables: Sequence[Variable]) -> None:
    """Bind every tensor to its new value; each keeps its history, and so does what it is a view of.

    All of them, or none when Ctrl-C comes in between.
    """
    new = [
        v if t._variable.node is None else Variable(v.value, t._variable.node, t._variable.index)
        for t, v in zip(tensors, variables, strict=True)
    ]
    # one C loop: no Python bytecode runs, so no signal handler, between the first name and the last
    deque(map(VARIABLE.__set__, tensors, new), maxlen=0)
    if not any(map(ALIAS.__get__, tensors)):
        deque(map(WRITES.__set__, tensors, map(add, map(WRITES.__get__, tensors), repeat(1))), maxlen=0)
        return
    with no_grad():
        for tensor, variable in zip(tensors, new, strict=True):
            if tensor._alias is None:
                tensor._writes += 1
            else:
                tensor._alias.write(tensor, variable)


def end_step() -> None:
    """Run what this thread has recorded; the first time it waits for who reads it, so that it is run as suits that."""
    end_program_of_step()


def flush() -> None:
    """Run what this thread has recorded; Python goes on while XLA computes."""
    run_what_is_recorded()


def synchronize() -> None:
    """Run what this thread has recorded, and wait until the devices are idle."""
    run_what_is_recorded()
    for found in jax.live_arrays():
        found.block_until_ready()


def assign_host(tensor: Tensor, array: np.ndarray[Any, Any]) -> Tensor:
    """Write host numbers into a tensor in place, cast to its dtype; views write through."""
    aval = tensor._current().value.aval
    host = np.ascontiguousarray(array, aval.dtype.numpy).reshape(aval.shape)
    return tensor._write(Variable(value_on(host, aval.placement)))


def assign_jax(tensor: Tensor, array: jax.Array) -> Tensor:
    """Bind a tensor to a JAX array of its shape and dtype, which becomes the tensor's own; views write through."""
    return tensor._write(Variable(of_array(array)))
