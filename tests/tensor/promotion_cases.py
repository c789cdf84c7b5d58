"""Every pair of dtypes, as tensor, 0-d tensor or number: which dtype comes of arithmetic, comparison and in place."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
    "complex128",
)  # fmt: skip
NUMBERS = (True, 2, 2.5, 1j)
FUNCTIONS = ("add", "mul", "div", "floor_divide", "pow", "eq", "lt", "maximum", "bitwise_and", "atan2", "result_type")
IN_PLACE = ("add_", "mul_", "div_", "pow_", "eq_", "copy_", "bitwise_or_")
OF_OUR_OWN = {  # torch's CPU kernels lack these; here they are computed, or refused by another error
    ("pow", "bool"), ("pow_", "bool"), ("floor_divide", "bool"), ("maximum", "complex"), ("lt", "complex"),
    ("atan2", "complex"), ("floor_divide", "complex"),
}  # fmt: skip


def cases(names: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield (name, left, right) with operands such as "int8", "0-d int8" and "2.5"."""
    operands = [prefix + kind for kind in DTYPES for prefix in ("", "0-d ")]
    for name in names:
        for left in operands:
            yield from ((name, left, right) for right in (*operands, *map(str, NUMBERS)))


def operand(torch: Any, words: str) -> Any:
    """Return the tensor or number that the words mean."""
    if words in map(str, NUMBERS):
        return next(number for number in NUMBERS if str(number) == words)
    kind = getattr(torch, words.removeprefix("0-d "))
    return torch.ones((), dtype=kind) if words.startswith("0-d ") else torch.ones(2, dtype=kind)


def outcome(torch: Any, case: tuple[str, str, str]) -> str:
    """Return the name of the dtype that comes of it, or of the error."""
    name, left, right = case
    a, b = operand(torch, left), operand(torch, right)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = getattr(a, name)(b) if name.endswith("_") else getattr(torch, name)(a, b)
    except Exception as error:
        return f"{_base_of(error)}"
    return str(found if name == "result_type" else found.dtype).removeprefix("torch.")


def _base_of(error: Exception) -> str:
    """Return the class of Python's own that the error is: two libraries may each have a name for it."""
    found = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
    return "RuntimeError" if found == "NotImplementedError" else found


def differs_on_purpose(case: tuple[str, str, str], expected: str) -> bool:
    """Tell whether torch refuses what works here, or this is complex32, which XLA does not have."""
    name, left, right = case
    words = " ".join((left, right, "complex" * (right == "1j"), "bool" * (right == "True")))
    takes_no_number = name in ("maximum", "atan2") and right in map(str, NUMBERS)
    is_half = "float16" in words and "complex" in words
    ours = any(name == n and kind in words for n, kind in OF_OUR_OWN)
    return expected == "complex32" or (expected.endswith("Error") and (takes_no_number or is_half or ours))
