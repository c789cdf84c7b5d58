"""What a sample is: one call of a public function, told so that torch and funcgrad can both make it from numbers alone.

A family's file, `tests/ops/samples/<family>.py`, has one dictionary from public names to samples:

    from tests.ops.samples import Sample, given, kind, sample, values

    SAMPLES: dict[str, list[Sample]] = {
        "add": [
            sample(given(2, 3), given(3)),                                   # broadcast; normal float32 numbers
            sample(given(2, 3, dtype="int64"), 2.5, alpha=2),                # promotion by a number
            sample(given(4, dtype="bool"), given(4, dtype="float16")),
        ],
        "sqrt": [sample(given(5, low=0.1, high=4)), sample(values([0.0, float("inf"), float("nan"), -1.0]))],
        "max": [sample(given(2, 3), 1).but(row="max_dim"), sample(given(2, 3)).but(row="max_all")],
        "mean": [sample(given(3, dtype="int64")).but(fails=True)],           # torch raises; so shall we
        "cat": [sample([given(2, 3), given(1, 3)], 0)],                      # tensors inside lists
        "sum": [sample(given(3, dtype="int32"), dtype=kind("float64"))],     # a dtype argument
        ".expand_as": [sample(given(1, 3), given(2, 3))],                    # a method only: leading dot
        "nn.functional.softmax": [sample(given(2, 3), dim=1)],
    }

`python -m tests.ops.record <family>` runs them in torch and writes `tests/ops/recorded/<family>.npz`;
`pytest tests/ops -k <family>` holds funcgrad to those numbers: value, shape, dtype, gradient (against fixed random
cotangents), `grad_fn`, method = function, in-place = out-of-place. Floating tensors want gradients unless `grad=False`.
Random numbers depend on the public name and the place of the argument only, so a sample can be added anywhere.
"""

from __future__ import annotations

import dataclasses
import zlib
from typing import Any

import ml_dtypes
import numpy as np

_FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


@dataclasses.dataclass(frozen=True)
class Given:
    """A tensor argument: drawn (`shape`, `low`, `high`) or written out (`numbers`)."""

    shape: tuple[int, ...]
    dtype: str
    grad: bool
    low: float | None = None
    high: float | None = None
    numbers: Any = None

    def array(self, key: str) -> np.ndarray:
        """Return the numbers, always the same for the same key."""
        kind = np.dtype(ml_dtypes.bfloat16 if self.dtype == "bfloat16" else self.dtype)
        if self.numbers is not None:
            return np.array(self.numbers, dtype=kind).reshape(self.shape)
        draw = np.random.RandomState(zlib.crc32(key.encode()))
        if kind.kind == "b":
            return draw.uniform(size=self.shape) < 0.5
        if kind.kind in "iu":
            low = self.low if self.low is not None else (-9 if kind.kind == "i" else 0)
            return draw.randint(int(low), int(10 if self.high is None else self.high), size=self.shape).astype(kind)
        if self.low is None:
            numbers = draw.normal(size=self.shape)
        else:
            numbers = draw.uniform(self.low, 1.0 if self.high is None else self.high, size=self.shape)
        if kind.kind == "c":
            numbers = numbers + 1j * draw.normal(size=self.shape)
        return np.asarray(numbers).astype(kind)


@dataclasses.dataclass(frozen=True)
class Kind:
    """A dtype argument, by name."""

    name: str


@dataclasses.dataclass(frozen=True)
class Sample:
    """One call. The fields after `kwargs` are set with `but`."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    row: str | None = None  # the table row behind it, where the public name is a hand-written front over several rows
    fails: bool = False  # torch raises, and funcgrad must raise the same exception class
    rtol: float | None = None  # instead of the dtype's own tolerance
    atol: float | None = None
    gradient: bool = True  # False: values only
    graph: bool = True  # False: the grad_fn name is not compared
    in_place: bool = True  # False: the twin is not tried (torch refuses it for these arguments, say)

    @property
    def dtypes(self) -> set[str]:
        """The dtypes of all tensors given: the least exact one sets the tolerance."""
        return {part.dtype for part in _parts([*self.args, *self.kwargs.values()]) if isinstance(part, Given)}

    def but(self, **fields: Any) -> Sample:
        """Return this sample with other fields."""
        return dataclasses.replace(self, **fields)


def _parts(nested: Any) -> list[Any]:
    if isinstance(nested, (list, tuple)):
        return [part for inner in nested for part in _parts(inner)]
    return [nested]


def given(
    *shape: int, dtype: str = "float32", low: float | None = None, high: float | None = None, grad: bool | None = None
) -> Given:
    """Describe a tensor of random numbers: normal, or uniform in [low, high); integers from -9 (uint8: 0) to 9."""
    return Given(shape, dtype, dtype in _FLOATS if grad is None else grad, low, high)


def values(numbers: Any, dtype: str = "float32", grad: bool | None = None) -> Given:
    """Describe a tensor of these very numbers (edge cases)."""
    return Given(np.shape(numbers), dtype, dtype in _FLOATS if grad is None else grad, numbers=numbers)


def kind(name: str) -> Kind:
    """Describe a dtype argument, `torch.<name>`."""
    return Kind(name)


def sample(*args: Any, **kwargs: Any) -> Sample:
    """Describe a call with these arguments; tensors are `given(...)` or `values(...)`, also inside lists and tuples."""
    return Sample(args, kwargs)
