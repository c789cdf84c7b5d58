"""The plain functions of the public namespace: factories, hand-written fronts, and the table's, made at first use."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from funcgrad._base import dtypes, naming, promotion
from funcgrad._base.dtypes import dtype as DType
from funcgrad._tape.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from funcgrad._tensor import (
    assertions,
    aten_names,
    autocasting,
    build_facts,
    control_flow,
    copies,
    differences,
    filling,
    foreach,
    front,
    histograms,
    legacy,
    methods,
    old_names,
    overloads,
    pieces,
    places,
    pytree,
    scaled_products,
    selections,
    sparse,
    storage,
    strided,
    symbolic,
    tensor_lists,
    windows,
)
from funcgrad._tensor.creation import (
    arange,
    as_tensor,
    asarray,
    empty,
    empty_like,
    empty_permuted,
    empty_strided,
    eye,
    from_numpy,
    frombuffer,
    full,
    full_like,
    linspace,
    logspace,
    ones,
    ones_like,
    range,
    scalar_tensor,
    tensor,
    tril_indices,
    triu_indices,
    zeros,
    zeros_like,
)
from funcgrad._tensor.interop import from_dlpack
from funcgrad._tensor.mirrors import from_file
from funcgrad._tensor.overriding import all_ask, asks
from funcgrad._tensor.registry import FUNCTIONS
from funcgrad._tensor.tensor import Tensor

__all__ = [
    "Tensor", "arange", "as_tensor", "asarray", "can_cast", "empty", "empty_like", "empty_permuted",
    "empty_strided", "enable_grad", "eye", "from_dlpack", "from_file", "from_numpy", "frombuffer", "full",
    "full_like", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "is_storage", "is_tensor",
    "linspace", "logspace", "no_grad", "ones", "ones_like", "promote_types", "range", "result_type",
    "scalar_tensor", "set_grad_enabled", "tensor", "tril_indices", "triu_indices", "typename", "zeros",
    "zeros_like",
]  # fmt: skip

# they enter their functions when they are imported
HAND_WRITTEN = (
    assertions,
    aten_names,
    autocasting,
    build_facts,
    control_flow,
    copies,
    differences,
    filling,
    histograms,
    old_names,
    overloads,
    pieces,
    pytree,
    places,
    scaled_products,
    selections,
    sparse,
    storage,
    strided,
    symbolic,
    tensor_lists,
    windows,
)
methods.install()
Tensor.make = legacy.make


def is_tensor(obj: Any) -> bool:
    """Tell whether this is a Tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj: Any) -> bool:
    """Tell whether this is a storage."""
    return isinstance(obj, storage.UntypedStorage)


def typename(obj: Any) -> str:
    """Return the name of a tensor's type, or of another object's class with its module."""
    return obj.type() if isinstance(obj, Tensor) else naming.typename(obj)


def promote_types(type1: DType, type2: DType) -> DType:
    """Return the smallest dtype that holds both."""
    for position, given in enumerate((type1, type2), 1):
        _check_dtype(given, f"promote_types(): argument 'type{position}' (position {position})")
    return promotion.promote_types(type1, type2)


def can_cast(from_: DType, to: DType) -> bool:
    """Tell whether an in-place op or `out=` may put `from_` into `to`: the category must not sink."""
    _check_dtype(from_, "can_cast(): argument 'from_' (position 1)")
    _check_dtype(to, "can_cast(): argument 'to' (position 2)")
    return promotion.can_cast(from_, to)


def _check_dtype(given: Any, label: str) -> None:
    if not isinstance(given, DType):
        raise TypeError(f"{label} must be torch.dtype, not {type(given).__name__}")


def result_type(tensor: Any, other: Any) -> DType:
    """Return the dtype that an arithmetic op on both would compute in."""
    return promotion.result_type(_ranked(x, i) for i, x in enumerate((tensor, other), 1))


def _ranked(x: Any, position: int) -> tuple[int, DType]:
    if isinstance(x, Tensor):
        return (promotion.DIMENSIONED if x.ndim else promotion.ZERO_DIM), x.dtype
    if not isinstance(x, (bool, int, float, complex)):
        raise TypeError(f"result_type(): argument {position} must be Tensor or Number, not {type(x).__name__}")
    return promotion.NUMBER, dtypes.of_number(x)


def lookup(prefix: str, kept: dict[str, Any] | None = None) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that makes the functions under `prefix` ("", "nn.functional") at first use.

    kept: the module's globals, where they stay once they are made.
    """
    start = f"{prefix}." if prefix else ""
    kept = {} if kept is None else kept

    def get(name: str) -> Any:
        place = f"{start}{name}"
        found = FUNCTIONS.get(place)
        if found is None and place in front.places() and "." not in name:
            found = front.made(place)
        if found is None and not prefix:
            found = foreach.find(name)
        if found is None:
            module = f"torch.{prefix}" if prefix else "torch"
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        if not hasattr(builtins, name):  # a module that keeps `complex` would mean it by isinstance(x, complex)
            kept[name] = found
        return asks(found)

    return get


def names_under(prefix: str) -> list[str]:
    """Return the names of the table's functions under `prefix`."""
    start = f"{prefix}." if prefix else ""
    found = {p[len(start) :] for p in (*front.places(), *FUNCTIONS) if p.startswith(start)}
    return sorted(name for name in found if name and "." not in name)


def public(prefix: str) -> dict[str, Any]:
    """Return all of the table's functions under `prefix`, by name."""
    get = lookup(prefix)
    return {name: get(name) for name in names_under(prefix)}


__getattr__ = lookup("", globals())
all_ask(globals(), __all__)
