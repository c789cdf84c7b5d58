"""Makes the public functions, methods and operators of all rows: Python functions with the rows' own signatures.

Each is written as source and compiled at first use, as dataclasses does it, because then Python itself sorts the arguments.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._ops.table import TABLE, Op, Parameter
from funcgrad._tensor.call import call, call_in_place, write_out
from funcgrad._tensor.tensor import Tensor


def as_int(given: Any, name: str = "dim") -> int | None:
    """Return an int for whatever torch takes as one: numpy's, a 0-d integer tensor, a bool."""
    if given is None or type(given) is int:
        return given
    if isinstance(given, (int, np.integer)):
        return int(given)
    if isinstance(given, Tensor) and given.ndim == 0 and not given.dtype.is_floating_point:
        return int(given)
    raise TypeError(f"argument '{name}' must be int, not {type(given).__name__}")


def as_dims(given: Any) -> tuple[int, ...] | None:
    """Return a tuple of ints for an int, a list, a Size or a tuple."""
    if given is None:
        return None
    if isinstance(given, (tuple, list)):
        return tuple([x if type(x) is int else as_int(x) for x in given])  # type: ignore[misc]  # no None inside
    if isinstance(given, (range, np.ndarray)):
        return tuple(int(x) for x in given)
    return (as_int(given),)  # type: ignore[return-value]  # not None, as just seen


def as_spread_dims(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Return a tuple of ints for sizes given one by one, or as one tuple or list."""
    if len(given) == 1 and not isinstance(given[0], int):
        return as_dims(given[0]) or ()
    return as_dims(given) or ()


def as_float(given: Any) -> float | None:
    """Return a float for whatever torch takes as one."""
    if isinstance(given, str):
        raise TypeError(f"argument must be float, not {given!r}")
    return given if given is None else float(given)


def as_frozen(given: Any) -> Any:
    """Return a hashable form of a static argument."""
    if isinstance(given, (list, tuple)):
        return tuple(as_frozen(x) for x in given)
    return given


def as_dtype(given: Any) -> Any:
    """Return funcgrad's dtype for a dtype, or Python's own float, int, bool or complex."""
    if given is None or isinstance(given, dtypes.dtype):
        return given
    named = _PYTHON_TYPES.get(given)
    if named is None:
        raise TypeError(f"dtype must be torch.dtype, not {type(given).__name__}")
    return named


_PYTHON_TYPES = {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool_, complex: dtypes.complex128}

_CONVERTERS = {"int": "as_int", "Dims": "as_dims", "float": "as_float", "DType": "as_dtype"}
_BINARY = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}


class Form:
    """One public place of a row: `funcgrad.add`, `Tensor.add_`, `nn.functional.relu`, `Tensor.__radd__`."""

    def __init__(self, op: Op, place: str) -> None:
        self.op, self.place = op, place
        self.is_method = place.startswith(".")
        self.name = place.rpartition(".")[2]
        self.is_dunder = self.name.startswith("__")
        bare = self.name.strip("_")
        self.in_place = self.name.endswith("_") and not self.is_dunder or (self.is_dunder and _is_in_place(bare))
        self.reflected = self.is_dunder and _is_reflected(bare)
        self.takes_out = not self.is_method and not self.in_place and not place.startswith("nn.")
        self.takes_inplace = place.startswith("nn.") and not self.in_place and len(op.inputs) == 1

    def source(self) -> str:
        """Return the source of the function `made`, in which the row's Op is called `op`."""
        head, spread = self._head()
        inputs, statics = self._inputs(), self._statics(spread)
        function = "call_in_place" if self.in_place else "call"
        lines = [f"def made({head}):"]
        if self.takes_inplace:
            lines.append(f"    if inplace: return call_in_place(op, {inputs}, {statics})")
        if self.takes_out:
            lines.append(f"    result = {function}(op, {inputs}, {statics})")
            lines.append("    return result if out is None else write_out(out, result)")
        elif self.name in _BINARY:
            lines.append(f"    try: return {function}(op, {inputs}, {statics})")
            lines.append("    except TypeError: return NotImplemented")
        else:
            lines.append(f"    return {function}(op, {inputs}, {statics})")
        return "\n".join(lines)

    def _head(self) -> tuple[str, Parameter | None]:
        parameters = self._parameters()
        spread = self._spread()
        words, marked = [], False
        for p in parameters:
            if p is spread:
                words.append(f"*{p.name}")
                marked = True
                continue
            if p.keyword_only and not marked:
                words.append("*")
                marked = True
            words.append(p.name if p.is_required else f"{p.name}=_default_{p.name}")
        if self.takes_inplace:
            words.insert(words.index("*") if "*" in words else len(words), "inplace=False")
        if self.takes_out:
            words += ["out=None"] if marked else ["*", "out=None"]
        return ", ".join(words), spread

    def _parameters(self) -> list[Parameter]:
        parameters = list(self.op.parameters)
        if self.is_dunder:
            parameters = [p for p in parameters if p.is_required]
        return parameters

    def _spread(self) -> Parameter | None:
        """Return the parameter that may be given as varargs: sizes, last by position, of a method or of a plain function."""
        positional = [p for p in self.op.parameters if not p.keyword_only]
        last = positional[-1] if positional else None
        if last is None or last.kind != "Dims" or last.optional or not last.is_required or self.is_dunder:
            return None
        return last

    def _inputs(self) -> str:
        given = [p for p in self.op.inputs if p in self._parameters()]
        words = [f"*{p.name}" if p.kind == "Arrays" else p.name for p in given]
        if self.reflected:
            words[:2] = words[1::-1]
        full = f"({', '.join(words)},)" if words else "()"
        trailing = [p for p in given if p.kind == "Scalar" and not p.is_required]
        if trailing and given[-len(trailing) :] == trailing:
            short = words[: -len(trailing)]
            same = " and ".join(f"{p.name} is _default_{p.name}" for p in trailing)
            return f"(({', '.join(short)},) if {same} else {full})"
        return full

    def _statics(self, spread: Parameter | None) -> str:
        words = []
        for p in self.op.statics:
            if p not in self._parameters():
                continue
            if p is spread:
                words.append(f"as_spread_dims({p.name})")
            elif p.kind == "bool":
                words.append(p.name)
            elif p.kind == "int":
                words.append(f"({p.name} if type({p.name}) is int else as_int({p.name}, '{p.name}'))")
            else:
                words.append(f"{_CONVERTERS.get(p.kind, 'as_frozen')}({p.name})")
        return f"({', '.join(words)},)" if words else "()"


def _is_in_place(bare: str) -> bool:
    return bare.startswith("i") and bare not in ("invert",) and f"__{bare[1:]}__" in _ARITHMETIC


def _is_reflected(bare: str) -> bool:
    return bare.startswith("r") and f"__{bare[1:]}__" in _ARITHMETIC


_ARITHMETIC = {
    f"__{word}__" for word in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift div".split()
}


@functools.cache
def places() -> dict[str, Op]:
    """Return every public place of the table and the row behind it: "add", ".add_", "nn.functional.relu"."""
    return {place: op for op in TABLE.values() for place in op.names}


@functools.cache
def made(place: str) -> Any:
    """Return the function of a public place. Made at first use: making all at import would cost 0.2 ms for each of them."""
    op = places()[place]
    form = Form(op, place)
    scope = {f"_default_{p.name}": p.default for p in op.parameters}
    scope.update(_SCOPE, op=op)
    exec(compile(form.source(), f"<funcgrad row {op.name}>", "exec"), scope)
    function = scope["made"]
    function.__name__ = function.__qualname__ = form.name
    function.__doc__ = op.function.__doc__
    function.__module__ = "funcgrad"
    return function


_SCOPE = {
    f.__name__: f
    for f in (call, call_in_place, write_out, as_int, as_dims, as_spread_dims, as_float, as_frozen, as_dtype)
}
