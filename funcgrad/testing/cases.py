"""TestCase: unittest's, whose assertEqual compares tensors, numbers and collections of them as torch's own tests do."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.testing.comparison import assert_close

_NUMBERS = (bool, int, float, complex, np.number, np.bool_)
_OF_NUMBERS = {"rtol": 1.3e-6, "atol": 1e-5}  # torch.testing._internal.common_utils.RelaxedNumberPair


class TestCase(unittest.TestCase):
    """A case of unittest. By default dtypes are compared and devices are not; NaN equals NaN."""

    def assertEqual(  # noqa: N802 - unittest's name
        self, first: Any, second: Any, msg: str | Callable[[str], str] | None = None, *, atol: float | None = None,
        rtol: float | None = None, equal_nan: bool = True, exact_dtype: bool = True, exact_device: bool = False,
        exact_stride: bool = False,
    ) -> None:  # fmt: skip
        """Raise AssertionError unless both agree, part by part; tolerances are given both or neither.

        A tensor may be compared with a sequence of numbers, or with one number where it holds one.
        """
        options: dict[str, Any] = {
            "atol": atol, "rtol": rtol, "equal_nan": equal_nan, "check_dtype": exact_dtype,
            "check_device": exact_device, "check_stride": exact_stride, "msg": _after(msg),
        }  # fmt: skip
        self._compare(*_alike(first, second), options)

    def _compare(self, given: Any, wanted: Any, options: dict[str, Any]) -> None:
        if isinstance(given, Mapping) and isinstance(wanted, Mapping):
            super().assertEqual(given.keys(), wanted.keys())
            for key in wanted:
                self._compare(*_alike(given[key], wanted[key]), options)
        elif _is_sequence(given) and _is_sequence(wanted):
            super().assertEqual(len(given), len(wanted))
            for pair in zip(given, wanted, strict=True):
                self._compare(*_alike(*pair), options)
        elif isinstance(given, _NUMBERS) and isinstance(wanted, _NUMBERS):
            is_exact = all(isinstance(x, (bool, int, np.integer, np.bool_)) for x in (given, wanted))
            tolerances = _OF_NUMBERS if options["atol"] is None and not is_exact else {}
            assert_close(given, wanted, **{**options, **tolerances, "check_dtype": False})
        elif isinstance(given, (Tensor, np.ndarray)) and isinstance(wanted, (Tensor, np.ndarray)):
            assert_close(given, wanted, **options)
        else:
            super().assertEqual(given, wanted)

    def assertNotEqual(self, first: Any, second: Any, msg: str | None = None, **options: Any) -> None:  # noqa: N802
        """Raise AssertionError where `assertEqual` raises none."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(first, second, msg, **options)


def run_tests(argv: list[str] | None = None) -> None:
    """Run the tests of the script, as unittest.main does."""
    unittest.main(argv=argv)


def _alike(first: Any, second: Any) -> tuple[Any, Any]:
    """Return both; where one is a tensor, a sequence or an array is one too, and a number meets its only number."""
    if isinstance(second, Tensor) and not isinstance(first, Tensor):
        return _alike(second, first)[::-1]
    if isinstance(first, Tensor) and _is_sequence(second):
        return first, fg.tensor(second, dtype=first.dtype, device=first.device)
    if isinstance(first, Tensor) and isinstance(second, np.ndarray):
        return first, fg.from_numpy(second)
    if isinstance(first, Tensor) and isinstance(second, _NUMBERS):
        if first.numel() != 1:
            count = f"Got {first.numel()} elements instead."
            raise ValueError(f"Only single element tensor-likes can be compared against a number. {count}")
        return first.item(), second
    return first, second


def _is_sequence(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, (str, bytes))


def _after(msg: str | Callable[[str], str] | None) -> Callable[[str], str] | None:
    """Return what puts a message after the one that tells the difference."""
    return (lambda told: f"{told}\n{msg}") if isinstance(msg, str) else msg
