"""call: what every public function and method does once its arguments are sorted: unwrap, apply, name the results.

Called with plain `jax.Array`s and no Tensor, a function is the pure JAX function itself.
"""

from __future__ import annotations

import math
import warnings
from collections import namedtuple
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

from funcgrad._base import promotion
from funcgrad._base.config import settings
from funcgrad._base.containers import register_results
from funcgrad._base.cpp_names import c_type_name, scalar_type_name
from funcgrad._base.dtypes import bool_
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.errors import NotATensor
from funcgrad._base.naming import c_class_name
from funcgrad._base.warning import warn
from funcgrad._ops.table import TABLE, Op
from funcgrad._ops.views import reshape_back
from funcgrad._program.process import check_process
from funcgrad._program.run import put
from funcgrad._program.value import of_array
from funcgrad._tape.apply import apply
from funcgrad._tape.modes import thread
from funcgrad._tape.nodes import rename_node
from funcgrad._tape.underivable import written
from funcgrad._tape.variable import Variable
from funcgrad._tensor.aliases import View, former_of, refuse_repeated, rename, show, write
from funcgrad._tensor.autocasting import Autocast, cast_inputs
from funcgrad._tensor.selected_later import Selection, changed_later, computed_later
from funcgrad._tensor.strict import guard
from funcgrad._tensor.tensor import Tensor

_WIDE = (np.int64, np.uint64, np.float64, np.complex128)  # what JAX makes narrow where its x64 switch is off
_PLAIN = frozenset((int, float, bool, complex, type(None)))
OF_ONE_DTYPE = ("cumsum", "cumprod")  # that in place compute in the tensor's own dtype alone
_TOLD_IN_C = ("clamp", "clamp_min", "clamp_max")  # that by numbers call a dtype as C++ does
_JOINING = ("cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "row_stack")
_FILLING = frozenset(
    ("fill", "fill_tensor", "masked_fill", "masked_fill_tensor", "zero", "index_fill")
)  # copies stay alike
_RETURN_TYPES: dict[str, Any] = {}


def call(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> Any:
    """Apply `op` to tensors, numbers and Nones; return a Tensor, or a (named) tuple of them."""
    if Autocast.on and op.autocast is not None:
        inputs = cast_inputs(op, inputs, statics)
    variables = []
    for x in inputs:
        if type(x) in _PLAIN:
            variables.append(x)
            continue
        try:
            alias = x._alias
        except AttributeError:
            return _with_foreign(op, inputs, statics)
        if alias is not None:
            if type(alias) is Selection and (later := computed_later(op, inputs, statics)) is not None:
                return later
            alias.refresh(x)
        variables.append(x._variable)
    results = apply(op, variables, statics)
    if settings.strict:
        guard(results, inputs, variables)
    if op.write_back is not None:
        return _view(op, inputs, variables, statics, results[0])
    if len(results) == 1 and op.results is None:
        return Tensor._of(results[0])
    named = [Tensor._of(result) for result in results]
    return return_type(op)(*named) if op.results else tuple(named)


def call_in_place(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> Any:
    """Apply `op` and bind the first tensor to the result, cast to its dtype.

    Raises RuntimeError for a leaf that requires grad, a result of another shape, or of a higher category of dtype.
    """
    target = inputs[0]
    if not isinstance(target, Tensor):
        raise NotATensor(f"{op.name}_(): argument 'input' (position 1) must be Tensor, not {type(target).__name__}")
    if type(target._alias) is Selection and changed_later(op, inputs, statics):
        return target
    target._check_writable()
    if op.write_back is not None:
        return _rename(op, target, statics)
    if target._alias is not None and op.name not in _FILLING:
        refuse_repeated(target)
    given = [x._current() if isinstance(x, Tensor) else _plain(op, x) for x in inputs]
    (result, *_) = apply(op, given, statics)
    if type(result.node).__name__ in _IN_PLACE:
        rename_node(result.node, _IN_PLACE[type(result.node).__name__])
    fits = fitted(target, result, op, inputs)
    return target._write(written(op.name, given, fits) if op.grad is None and thread.grad else fits)


def fitted(target: Tensor, result: Variable, op: Op | None = None, inputs: Sequence[Any] = ()) -> Variable:
    """Return `result` in the dtype of `target`, refusing what torch refuses. op, inputs: what was called in place."""
    wanted, given = target._variable.aval, result.aval
    if given.shape != wanted.shape:
        raise RuntimeError(
            f"output with shape {list(wanted.shape)} doesn't match the broadcast shape {list(given.shape)}"
        )
    return result if given.dtype is wanted.dtype else _fitted_dtype(result, wanted.dtype, op, inputs)


def _fitted_dtype(result: Variable, wanted: DType, op: Op | None = None, inputs: Sequence[Any] = ()) -> Variable:
    given, name = result.aval.dtype, "" if op is None else op.name
    if name in OF_ONE_DTYPE:
        if wanted is bool_:
            raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")
        raise RuntimeError(
            f"Bad in-place call: input tensor dtype {c_type_name(wanted)} and output tensor dtype {c_type_name(given)} "
            "should match"
        )
    if not promotion.can_cast(given, wanted):
        is_of_c = name in _TOLD_IN_C and not any(isinstance(x, Tensor) for x in inputs[1:])
        shown = c_type_name(wanted) if is_of_c else scalar_type_name(wanted)
        raise RuntimeError(f"result type {scalar_type_name(given)} can't be cast to the desired output type {shown}")
    return cast(result, wanted)


def cast(variable: Variable, dtype: DType) -> Variable:
    """Return the variable in another dtype, with history."""
    return apply(TABLE["to_dtype"], (variable,), (dtype,))[0]


def write_out(out: Any, result: Any, casts: bool | str = True, name: str = "") -> Any:
    """Write a function's result into `out=`, as torch does; `out` takes the result's shape.

    name: of the function, for errors.
    casts: whether `out` may have another dtype, or the words that refuse it ({made} and {given} stand for both).
    Raises TypeError where `out` is no tensor, or cannot hold what was joined, RuntimeError where it requires grad or
    cannot hold the result's dtype.
    """
    if isinstance(result, tuple):
        for target, part in zip(out, result, strict=True):
            write_out(target, part, casts, name)
        return type(result)(*out) if hasattr(result, "_fields") else tuple(out)
    if not isinstance(out, Tensor):
        raise TypeError(f"{f'{name}(): ' if name else ''}argument 'out' must be Tensor, not {c_class_name(out)}")
    if thread.grad and (out.requires_grad or result.requires_grad):
        raise RuntimeError(
            (f"{name}(): functions with " if name else "")
            + "out=... arguments don't support automatic differentiation, but one of the arguments requires grad."
        )
    variable = result._current()
    if name in _JOINING and not promotion.can_cast(variable.aval.dtype, out.dtype):
        wanted = scalar_type_name(out.dtype)
        raise TypeError(f"torch.cat(): input types can't be cast to the desired output type {wanted}")
    if casts is not True and variable.aval.dtype is not out.dtype:
        made, given = variable.aval.dtype, out.dtype
        if casts:
            raise RuntimeError(casts.format(made=scalar_type_name(made), given=scalar_type_name(given)))
        raise RuntimeError(
            f"Expected out tensor to have dtype {c_type_name(made)}, but got {c_type_name(given)} instead"
        )
    if out._alias is not None:
        refuse_repeated(out)
    if variable.aval.shape != out.shape:
        if out.numel():
            warn(
                f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does not "
                f"match the required output shape {list(variable.aval.shape)}. This behavior is deprecated, and in a "
                "future PyTorch release outputs will not be resized unless they have zero elements. You can explicitly "
                "reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
            )
        return _write_resized(out, variable if variable.aval.dtype is out.dtype else _fitted_dtype(variable, out.dtype))
    return out._write(fitted(out, variable))


def _write_resized(out: Tensor, variable: Variable) -> Tensor:
    """Write a result of another shape: into the first elements of `out`, if they are enough and lie in a row."""
    former, count = former_of(out), variable.aval.shape.numel()
    if 0 < count <= former.shape.numel() and _is_row(former):
        rename(out, former, first_elements(former, tuple(variable.aval.shape)))
        return out._write(variable)
    if former.shape.numel():
        rename(out, former, call(TABLE["alias"], (Tensor._of(variable),)))
    else:
        out._alias, out._variable = None, variable
    return out


def first_elements(row: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a view of the first elements of a tensor that lies in a row."""
    part = call(TABLE["narrow"], (call(TABLE["view"], (row,), ((-1,),)), 0), (0, math.prod(shape)))
    return call(TABLE["view"], (part,), (shape,))  # type: ignore[no-any-return]  # one result


def _is_row(tensor: Tensor) -> bool:
    """Tell whether the elements lie in storage in their order, as far as is seen without strides."""
    while type(tensor._alias) is View:
        if tensor._alias.op.write_back is not reshape_back:
            return False
        tensor = tensor._alias.base
    return tensor._variable.aval.order is None


def return_type(op: Op) -> Any:
    """Return the named tuple that torch returns from this op."""
    found = _RETURN_TYPES.get(op.name)
    if found is None:
        first = op.names[0] if op.names else ""
        name = first.replace(".", "_") if first.startswith("linalg.") else op.public_name
        found = _RETURN_TYPES[op.name] = namedtuple(name, op.results or ())  # type: ignore[misc]  # fields are data
        found.__module__ = "torch.return_types"
        found.__repr__ = repr_like_torch
        register_results(found)
    return found


def repr_like_torch(self: Any) -> str:
    """Write a named tuple of results as torch does."""
    inside = ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
    return f"torch.return_types.{type(self).__name__}(\n{inside})"


def _view(op: Op, inputs: Sequence[Any], variables: list[Any], statics: tuple[Any, ...], result: Variable) -> Tensor:
    base = inputs[0]
    named = Tensor._of(result)
    show(named, base, op, tuple(variables[1:]), statics, variables[0])
    return named


def _rename(op: Op, target: Tensor, statics: tuple[Any, ...]) -> Tensor:
    """In-place view methods (squeeze_, t_, ...): the name itself gets the other shape."""
    former = former_of(target)
    rename(target, former, call(op, (former,), statics))
    node = target._variable.node
    if type(node).__name__ in _IN_PLACE:
        rename_node(node, _IN_PLACE[type(node).__name__])
    return target


_TWICE = "Acosh AsStrided Celu Elu LeakyRelu Polygamma RreluWithNoise T Threshold Transpose Unsqueeze"
_IN_PLACE = {  # what torch's table has again, in the place of its input; all else has one name for both
    **{f"{name}Backward0": f"{name}Backward1" for name in _TWICE.split()},
    **{f"SqueezeBackward{form}": f"SqueezeBackward{form + 3}" for form in range(3)},
}


def _with_foreign(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...]) -> Any:
    """Handle inputs that are neither Tensors nor plain numbers: numpy's, JAX's, or none that we know."""
    if not any(isinstance(x, Tensor) for x in inputs) and any(isinstance(x, jax.Array) for x in inputs):
        check_process()  # which sets products up to be as precise as those of Tensors
        with jax.enable_x64(True) if any(map(_is_wide, inputs)) else _narrow():
            results = op.call([_pure(x) for x in inputs], statics)
        return results[0] if len(results) == 1 else results
    return call(op, [_known(op, i, x) for i, x in enumerate(inputs)], statics)


def tensor_of_array(array: np.ndarray[Any, Any]) -> Tensor:
    """Return a tensor of the numbers that an array has now."""
    return Tensor._of(Variable(of_array(put(array))))


@contextmanager
def _narrow() -> Iterator[None]:
    """Let int64 results be int32 where JAX's x64 switch is off, as JAX has it, but without its warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Explicitly requested dtype")
        yield


def _is_wide(x: Any) -> bool:
    """Tell whether an array has 64 bits that must stay; numpy's float64 gives way, as everywhere in JAX."""
    if isinstance(x, np.ndarray):
        return x.dtype in (np.int64, np.uint64)
    return isinstance(x, jax.Array) and x.dtype in _WIDE


def _pure(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, np.ndarray) else x.item() if isinstance(x, np.generic) else x


def _plain(op: Op, x: Any) -> Any:
    known = x if type(x) in _PLAIN else _known(op, 1, x)
    return known._current() if isinstance(known, Tensor) else known


def _known(op: Op, position: int, x: Any) -> Any:
    if isinstance(x, Tensor) or type(x) in _PLAIN:
        return x
    if isinstance(x, np.generic):
        return number_of(x)
    if isinstance(x, jax.Array):
        return Tensor._of(Variable(of_array(x, shared=True)))
    for kind in (int, float, complex):
        if isinstance(x, kind):
            return kind(x)  # type: ignore[arg-type]  # x is of a subclass of this very kind
    name = op.inputs[min(position, len(op.inputs) - 1)].name
    raise NotATensor(
        f"{op.public_name}(): argument '{name}' (position {position + 1}) must be Tensor, not {c_class_name(x)}"
    )


def number_of(scalar: np.generic) -> Any:
    """Return a scalar of numpy's as a number of Python's; a truth value is a float, as torch takes it."""
    return float(scalar) if isinstance(scalar, np.bool_) else scalar.item()


__all__ = ["call", "call_in_place", "cast", "fitted", "number_of", "return_type", "write", "write_out"]
