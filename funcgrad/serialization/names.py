"""What the globals of torch's pickles stand for here, and which of them a weights-only load accepts."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pickle import UnpicklingError
from typing import Any

from funcgrad._base import dtypes, layouts
from funcgrad._base.devices import device
from funcgrad._base.size import Size
from funcgrad._tensor.tensor import Tensor
from funcgrad.serialization import rebuild
from funcgrad.serialization.machine import checked_key
from funcgrad.serialization.storages import KINDS

SafeGlobal = Any  # a class or function, or a pair of one and its full name
BLOCKED_MODULES = ("sys", "os", "posix", "nt")


def _encode(text: str, encoding: str) -> bytes:
    """Give the bytes that protocol 2 wrote as text."""
    if encoding not in ("latin1", "latin-1", "utf-8", "ascii"):
        raise UnpicklingError(f"bytes are written as latin1, not as {encoding}")
    return text.encode(encoding)


def _bytes(data: bytes | bytearray = b"") -> bytes:
    return bytes(memoryview(data))


def _bytearray(data: bytes | str = b"", encoding: str = "latin1") -> bytearray:
    return bytearray(data.encode(encoding) if isinstance(data, str) else memoryview(data))


def _complex(real: float, imag: float = 0.0) -> complex:
    return complex(real, imag)


def _set(items: Sequence[Any] = ()) -> set[Any]:
    return set(map(checked_key, items))


def _ordered(pairs: Sequence[Sequence[Any]] = ()) -> OrderedDict[Any, Any]:
    return OrderedDict((checked_key(key), value) for key, value in pairs)


def _counter(counts: dict[Any, int] | None = None) -> Counter[Any]:
    if counts is not None and type(counts) is not dict:
        raise UnpicklingError(f"a Counter is made of a dict, but got {type(counts)}")
    return Counter(counts or {})


_FUNCTIONS: dict[str, Any] = {f"torch._utils.{name}": function for name, function in rebuild.FUNCTIONS.items()}
# What REDUCE and NEWOBJ may use: nothing here can do more than make the value it is named after.
CALLABLES: dict[str, Any] = {
    "_codecs.encode": _encode,
    "builtins.bytearray": _bytearray,
    "builtins.bytes": _bytes,  # how protocol 2 writes b""; torch refuses it
    "builtins.complex": _complex,
    "builtins.set": _set,
    "collections.Counter": _counter,
    "collections.OrderedDict": _ordered,
    "torch.Size": Size,
    "torch.device": device,
    "torch._tensor._rebuild_from_type_v2": rebuild.from_type,
    "torch.serialization._get_layout": layouts.layout_named,
    **_FUNCTIONS,
}
CONSTANTS: dict[str, Any] = {
    **{f"torch.{kind.name}": kind for kind in dtypes.ALL},
    **KINDS,
    "torch.Tensor": Tensor,
}
_registered: dict[str, Any] = {}
_safe: dict[str, Any] = {}
_torch_names: dict[int, tuple[str, str]] = {}


def _enter(full_name: str, known: Any) -> None:
    module, _, name = full_name.rpartition(".")
    _torch_names.setdefault(id(known), (module, name))


for _name, _known in (CALLABLES | CONSTANTS).items():
    if _name.startswith("torch"):
        _enter(_name, _known)


def torch_name(known: Any) -> tuple[str, str] | None:
    """Return the module and name under which torch knows one of our objects; None where it knows none."""
    return _torch_names.get(id(known))


def registered(full_name: str) -> Any:
    """Return what a higher floor has registered under torch's name; None where nobody did."""
    return _registered.get(full_name)


def register_globals(known: Mapping[str, Any]) -> None:
    """Let torch's full names ("torch.nn.modules.linear.Linear") stand for our classes and functions.

    A load with weights_only=False finds them; a save writes them under torch's name.
    """
    for full_name, value in known.items():
        _registered[full_name] = value
        _enter(full_name, value)


def torch_classes() -> dict[str, type]:
    """Return our classes that are known by torch's full names."""
    known = {**CALLABLES, **CONSTANTS, **_registered}
    return {name: kind for name, kind in known.items() if isinstance(kind, type) and name.startswith("torch.")}


def register_parameter(kind: type[Tensor]) -> None:
    """Load torch's parameters as `kind(data, requires_grad)`, and save instances of `kind` as parameters."""
    rebuild.register_parameter(kind)
    CONSTANTS["torch.nn.parameter.Parameter"] = kind
    _enter("torch.nn.parameter.Parameter", kind)


def add_safe_globals(safe_globals: Sequence[SafeGlobal]) -> None:
    """Let weights-only loads use these classes and functions, which the caller trusts with any arguments."""
    for given in safe_globals:
        _safe.update([_named(given)])


def get_safe_globals() -> list[SafeGlobal]:
    """Return what `add_safe_globals` was given."""
    return [known if _full_name(known) == name else (known, name) for name, known in _safe.items()]


def clear_safe_globals() -> None:
    """Forget all that `add_safe_globals` was given."""
    _safe.clear()


@contextmanager
def safe_globals(safe_globals: Sequence[SafeGlobal]) -> Iterator[None]:
    """Let weights-only loads use these classes and functions for the length of a `with` block."""
    before = dict(_safe)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _safe.clear()
        _safe.update(before)


def safe_by_name() -> Mapping[str, Any]:
    """Return what the user has declared safe, by full name."""
    return _safe


def _full_name(known: Any) -> str:
    return f"{known.__module__}.{known.__qualname__}"


def _named(given: SafeGlobal) -> tuple[str, Any]:
    if not isinstance(given, tuple):
        return _full_name(given), given
    if len(given) != 2:
        raise ValueError(f"Expected tuple of length 2 (global, its full name), but got tuple of length: {len(given)}")
    if not isinstance(given[1], str):
        raise TypeError(f"Expected second item in tuple to be the full name, but got: {type(given[1])}")
    return given[1], given[0]
