"""What torch takes as an int, as sizes, as a dtype, as tensors: arguments brought into the form that rows take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.errors import NotATensor
from funcgrad._base.naming import c_class_name
from funcgrad._base.warning import warn_once
from funcgrad._tensor.aliases import View
from funcgrad._tensor.refused_sizes import refused_absence, refused_size
from funcgrad._tensor.tensor import Tensor


def is_real(given: Any) -> bool:
    """Tell whether it is a tensor of real numbers, which is its own real part and its own conjugate."""
    return isinstance(given, Tensor) and not given.dtype.is_complex


def refuse_complex(given: Any, what: str) -> None:
    """RuntimeError for a tensor of complex numbers."""
    if isinstance(given, Tensor) and given.dtype.is_complex:
        raise RuntimeError(f"{what} is not supported for complex tensors.")


def is_conjugate(input: Tensor) -> bool:
    """Tell whether it is a view of what it is the conjugate of, which torch marks by a bit; twice is not at all."""
    view, found = input._alias, False
    while input.dtype.is_complex and type(view) is View:
        found ^= view.op.name in _CONJUGATING
        view = view.base._alias
    return found


def is_negative(input: Tensor) -> bool:
    """Tell whether it is the imaginary part of a conjugate, or a view of it, which torch marks by another bit."""
    view = input._alias
    while not input.dtype.is_complex and type(view) is View:
        if view.op.name == "imag":
            return is_conjugate(view.base)
        view = view.base._alias
    return False


def refuse_marked(tensor: Any, function: str = "") -> None:
    """RuntimeError for a conjugate whose parts a function would show: resolved they are another tensor's."""
    if not isinstance(tensor, Tensor) or not is_conjugate(tensor):
        return
    if function:
        raise RuntimeError(
            f"{function} doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can "
            "view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the "
            "original."
        )
    raise RuntimeError(
        "torch.Tensor.view is not supported for conjugate view tensors when converting to a different dtype."
    )


_CONJUGATING = ("conj", "mH", "adjoint", "H")


def as_int(given: Any, label: str = "argument 'dim'") -> int | None:
    """Return an int for whatever torch takes as one: numpy's, a 0-d integer tensor. None stays."""
    return None if given is None else as_some_int(given, label)


def as_some_int(given: Any, label: str = "argument 'dim'") -> int:
    """Return an int where there must be one. TypeError for None, and for a bool."""
    if type(given) is int:
        return given
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        return int(given)
    if isinstance(given, Tensor) and given.ndim == 0 and not given.dtype.is_floating_point:
        return int(given)
    if label.partition(" (")[0] in _SYMBOLIC and _is_one_int(given):
        return int(given)
    raise TypeError(f"{label} must be int, not {c_class_name(given)}")


_SYMBOLIC = {  # what may be a symbol in torch, so that a tensor of one whole number will do in whatever shape
    *(f"{name}(): argument 'k'" for name in ("topk", "kthvalue")),
    *(f"{name}(): argument 'diagonal'" for name in ("tril", "triu")),
    *(f"{name}(): argument 'index'" for name in ("select", "select_copy", "select_scatter")),
    *(f"conv{kind}{n}d(): argument 'groups'" for kind in ("", "_transpose") for n in (1, 2, 3)),
    *(f"fft_{kind}(): argument 'n'" for kind in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")),
    *(f"slice_scatter(): argument '{name}'" for name in ("start", "end", "step")),
    *("eye(): argument 'n'", "eye(): argument 'm'"),
    *(f"narrow(): argument '{name}'" for name in ("start", "length")),
    *(f"randint(): argument '{name}'" for name in ("low", "high")),
    *("multinomial(): argument 'num_samples'", "repeat_interleave(): argument 'repeats'"),
}


def as_bool(given: Any, label: str) -> bool:
    """Return a bool; torch takes nothing else for one, least of all the second of two dimensions."""
    if type(given) is not bool:
        raise TypeError(f"{label} must be bool, not {c_class_name(given)}")
    return given


def as_dims(given: Any, label: str = "argument 'size'") -> tuple[int, ...] | None:
    """Return a tuple of ints for an int, a list, a Size or a tuple. None stays."""
    return None if given is None else as_some_dims(given, label)


def as_some_dims(given: Any, label: str = "argument 'size'") -> tuple[int, ...]:
    """Return a tuple of ints where there must be one. TypeError for None, and for a bool that is the first."""
    if isinstance(given, (tuple, list)):
        return tuple([x if type(x) is int else _as_size(x, label, given) for x in given])
    return (_as_size(given, label),)


def as_listed_dims(given: Any, label: str = "argument 'size'") -> tuple[int, ...]:
    """Return a tuple of ints for a list, a Size or a tuple. TypeError for an int."""
    if not isinstance(given, (tuple, list)):
        raise refused_size(given, label)
    return as_some_dims(given, label)


def _is_one_int(given: Any) -> bool:
    """Tell whether it is a tensor of one whole number, in whatever shape, or such an array without dimensions.

    Among sizes torch takes it for that.
    """
    if isinstance(given, np.ndarray):
        return given.ndim == 0 and given.dtype.kind in "iu"
    return isinstance(given, Tensor) and given.shape.numel() == 1 and not given.dtype.is_differentiable


def _as_size(given: Any, label: str, among: Sequence[Any] = (), *, is_spread: bool = False) -> int:
    if _is_one_int(given):
        return int(given)
    if type(given) is bool and among and given is not among[0]:
        return int(given)  # of several sizes, the parser looks at the first
    try:
        return as_some_int(given)
    except TypeError:
        raise refused_size(given, label, among, is_spread=is_spread) from None


def as_spread_dims(given: tuple[Any, ...], label: str = "argument 'size'") -> tuple[int, ...]:
    """Return a tuple of ints for sizes given one by one, or as one tuple or list."""
    for x in given:
        if type(x) is not int:
            return _as_spread(given, label)
    if not given:
        raise refused_absence(label)
    return given


def _as_spread(given: tuple[Any, ...], label: str) -> tuple[int, ...]:
    if len(given) > 1:
        return tuple([x if type(x) is int else _as_size(x, label, given, is_spread=True) for x in given])
    return as_some_dims(next(iter(given)), label)


def by_name(spread: tuple[Any, ...], named: dict[str, Any], name: str) -> tuple[Any, ...]:
    """Return sizes given one by one or, as keyword `name`, as one sequence; TypeError for any other keyword."""
    if not named:
        return spread
    if spread or list(named) != [name]:
        raise TypeError(f"got an unexpected keyword argument '{next(iter(named))}'; '{name}' or single sizes are taken")
    return (named[name],)


def as_float(given: Any, label: str = "argument") -> float | None:
    """Return a float for whatever torch takes as one: of tensors those of one number that want no gradient."""
    if isinstance(given, str) or (isinstance(given, Tensor) and (given.ndim or given.requires_grad)):
        raise TypeError(f"{label} must be float, not {type(given).__name__}")
    return given if given is None else float(given)


def as_number(given: Any, label: str) -> Any:
    """Return what torch takes as a number. TypeError for a tensor that wants a gradient, which would be lost."""
    if isinstance(given, Tensor):
        if given.requires_grad:
            raise TypeError(f"{label} must be Number, not Tensor")
    elif not isinstance(given, (int, float, complex, np.generic, jax.Array)):
        raise TypeError(f"{label} must be Number, not {c_class_name(given)}")
    return given


def tensors_of(given: Any, label: str) -> Any:
    """Return the sequence of tensors that a function like `cat` was given."""
    if isinstance(given, Tensor) or not isinstance(given, Iterable):
        raise TypeError(f"{label} must be tuple of Tensors, not {type(given).__name__}")
    listed = given if isinstance(given, (list, tuple)) else tuple(given)
    for position, x in enumerate(listed):
        if not isinstance(x, (Tensor, jax.Array)):
            raise TypeError(f"expected Tensor as element {position} in argument 0, but got {c_class_name(x)}")
    return listed


def named(label: str, given: Any, axis: Any) -> Any:
    """Return the dimension that was given as `dim`, or by numpy's name for it."""
    found = given if axis is None else axis
    if found is MISSING:
        raise TypeError(f'{label.partition("(")[0]}() missing 1 required positional arguments: "dim"')
    return found


def no_tensor(operator: str, given: Any) -> TypeError:
    """Return the error for a reflected operator that is called unbound, on what is no tensor."""
    return TypeError(f"descriptor '{operator}' for 'Tensor' objects doesn't apply to a '{type(given).__name__}' object")


def require_tensor(given: Any, label: str) -> None:
    """Raise NotATensor for what is no tensor, nor an array of JAX."""
    if not isinstance(given, (Tensor, jax.Array)):
        raise NotATensor(f"{label} must be Tensor, not {c_class_name(given)}")


def refused_dim(name: str) -> TypeError:
    """Return the error for a function whose twin in `nn.functional` alone chooses a dimension itself."""
    return TypeError(f'{name}() missing 1 required positional arguments: "dim"')


def require_value(given: Any) -> None:
    """Raise NotATensor where there is nothing to fill with."""
    if given is None:
        raise NotATensor("masked_fill(): argument 'value' (position 2) must be Tensor, not NoneType")


def in_order(name: str, is_method: bool, labels: Sequence[str], *inputs: Any) -> tuple[Any, ...]:
    """Return tensors before numbers, where all tensors are there: old scripts write add(x, 2, y).

    labels: what errors call the numbers, which come last.
    """
    count = len(inputs) - len(labels)
    if sum(isinstance(x, Tensor) for x in inputs) != count:
        return *inputs[:count], *map(as_number, inputs[count:], labels)
    ordered = tuple(sorted(inputs, key=lambda x: not isinstance(x, Tensor)))
    if any(x is not y for x, y in zip(inputs, ordered, strict=True)):
        warn_once(_old_order(name, is_method, count - 1), key="old order")
    return *ordered[:count], *map(as_number, ordered[count:], labels)


def _old_order(name: str, is_method: bool, count: int) -> str:
    number = "alpha" if count == 1 else "value"
    tensors = "Tensor other" if count == 1 else "Tensor tensor1, Tensor tensor2"
    first, out = ("", "") if is_method else ("Tensor input, ", "Tensor out = None")
    old = f"{first}Number {number}, {tensors}" + f", *, {out}" * bool(out)
    new = f"{first}{tensors}, *, Number {number} = 1" + f", {out}" * bool(out)
    signatures = f"\n\t{name}({old})\nConsider using one of the following signatures instead:\n\t{name}({new})"
    return f"This overload of {name} is deprecated:{signatures}"


def as_frozen(given: Any) -> Any:
    """Return a hashable form of a static argument; a tensor in the place of numbers is read."""
    if isinstance(given, (list, tuple)):
        return tuple(int(x) if _is_one_int(x) else as_frozen(x) for x in given)
    if isinstance(given, np.integer):
        return int(given)
    return as_frozen(given.tolist()) if isinstance(given, Tensor) else given


def as_dtype(given: Any, label: str = "argument 'dtype'") -> Any:
    """Return funcgrad's dtype for a dtype, or Python's own float, int, bool or complex."""
    if given is None or isinstance(given, dtypes.dtype):
        return given
    if isinstance(given, type) and given in dtypes.PYTHON_TYPES:
        return dtypes.PYTHON_TYPES[given]
    raise TypeError(f"{label} must be torch.dtype, not {type(given).__name__}")


class _Missing:
    """Stands as default where torch needs an argument that may come under another name."""

    def __repr__(self) -> str:
        return "<required>"


MISSING = _Missing()
