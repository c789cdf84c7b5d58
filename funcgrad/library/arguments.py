"""What an operator's argument takes by its kind in the schema, "SymInt[]", and as what the function gets it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from funcgrad._base.devices import device
from funcgrad._base.dtypes import dtype
from funcgrad._tensor.tensor import Tensor

_Read = Callable[[Any], Any]
_WORDS = {"SymInt": "int", "Scalar": "number", "ScalarType": "int"}


def kind_word(kind: str) -> str:
    """Return the kind as torch's errors say it: List[int] for "SymInt[]", Optional[number] for "Scalar?"."""
    if kind.endswith("?"):
        return f"Optional[{kind_word(kind[:-1])}]"
    if kind.endswith("]"):
        return f"List[{kind_word(kind[: kind.rindex('[')])}]"
    return _WORDS.get(kind, kind)


def converted(kind: str, value: Any) -> Any:
    """Return the value as an argument of this kind: 1.0 for 1 where a float is expected, lists for tuples.

    TypeError: the kind does not take it.
    """
    if kind.endswith("?"):
        return None if value is None else converted(kind[:-1], value)
    if kind.endswith("]"):
        inner = kind[: kind.rindex("[")]
        if not isinstance(value, (list, tuple) if inner not in _WHOLE else Iterable):
            raise TypeError(f"{type(value).__name__!r} object is not a list")
        return [converted(inner, _given(each)) for each in value]
    read = _READ.get(kind)
    return value if read is None else read(value)


def _given(value: Any) -> Any:
    if value is None:
        raise TypeError("None in a list")
    return value


def _tensor(value: Any) -> Any:
    return value if value is None else _only(value, Tensor)


def _whole(value: Any) -> int:
    number = int(value.item() if isinstance(value, Tensor) and value.numel() == 1 else _only(value, (int, np.integer)))
    if not -(2**63) <= number < 2**63:
        raise TypeError("more than 64 bits")
    return number


def _float(value: Any) -> float:
    if isinstance(value, Tensor) and value.numel() == 1:
        return float(value)
    return float(_only(value, (int, float, np.integer, np.floating)))


def _bool(value: Any) -> bool:
    """Take what has a truth value of its own; a list has only a length."""
    is_one = not isinstance(value, Tensor) or value.numel() == 1
    if value is None or (is_one and hasattr(type(value), "__bool__")):
        return bool(value)
    raise TypeError("no truth value")


def _scalar(value: Any) -> Any:
    return _only(value, (int, float, complex))


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(_only(value, str))


def _dtype(value: Any) -> Any:
    return _only(value, (dtype, int))


def _device(value: Any) -> device:
    return device(_only(value, (device, str)))


def _only(value: Any, kinds: Any) -> Any:
    if not isinstance(value, kinds):
        raise TypeError(f"{type(value).__name__!r} object is none of {kinds}")
    return value


_WHOLE = ("int", "SymInt")
_READ: dict[str, _Read] = {
    "Tensor": _tensor, "int": _whole, "SymInt": _whole, "float": _float, "bool": _bool, "Scalar": _scalar,
    "str": _text, "ScalarType": _dtype, "Device": _device,
}  # fmt: skip
