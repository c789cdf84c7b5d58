"""Every differentiable row against numeric derivatives, to second order, forward and reverse."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from funcgrad._ops.table import Op
from tests.ops.calling import built, family_names, samples_of
from tests.ops.rows import Slot, bound, row_of
from tests.ops.samples import Given, Kind, Sample

pytestmark = pytest.mark.thorough


def _is_smooth(part: Any) -> bool:
    """Only drawn float32 tensors: written-out ones are edge cases, where no numeric derivative exists."""
    if isinstance(part, (list, tuple)):
        return all(_is_smooth(inner) for inner in part)
    if isinstance(part, Kind):
        return part.name == "float64"
    return not isinstance(part, Given) or (part.dtype == "float32" and part.numbers is None) or not part.grad


def _as_double(part: Any) -> Any:
    if isinstance(part, (list, tuple)):
        return type(part)(_as_double(inner) for inner in part)
    return dataclasses.replace(part, dtype="float64") if isinstance(part, Given) and part.dtype == "float32" else part


def _has_gradient(part: Any) -> bool:
    if isinstance(part, (list, tuple)):
        return any(_has_gradient(inner) for inner in part)
    return isinstance(part, Given) and part.grad and 0 not in part.shape


def _chosen(name: str, listed: list[Sample]) -> Sample | None:
    for sample in listed:
        parts = [*sample.args, *sample.kwargs.values()]
        op = row_of(name, sample)
        usable = op is not None and op.grad is not None and sample.gradient and not sample.fails
        if usable and _has_gradient(parts) and _is_smooth(parts):
            kwargs = {key: _as_double(part) for key, part in sample.kwargs.items()}
            return dataclasses.replace(sample, args=tuple(map(_as_double, sample.args)), kwargs=kwargs)
    return None


CASES = [
    pytest.param(name, sample, id=f"{family}-{name}")
    for family in family_names()
    for name, listed in samples_of(family).items()
    if (sample := _chosen(name, listed)) is not None
]


@pytest.mark.parametrize(("name", "sample"), CASES)
def test_derivatives_equal_numeric_ones(name: str, sample: Sample) -> None:
    op = row_of(name, sample)
    assert op is not None
    args, kwargs = built(name, sample, lambda array, given: Slot(array, given.grad), lambda kind: None)
    inputs, statics = bound(op, args, kwargs, name.startswith(".__r"))
    with jax.enable_x64(True):
        places = [i for i, x in enumerate(inputs) if isinstance(x, Slot) and x.grad]
        full = [jnp.asarray(x.array) if isinstance(x, Slot) else x for x in inputs]
        # Traced once: numeric derivatives evaluate it some twenty times.
        check_grads(jax.jit(_of(op, full, statics, places)), [full[i] for i in places], order=2, rtol=2e-4, atol=2e-4)


def _of(op: Op, inputs: list[Any], statics: list[Any], places: list[int]) -> Any:
    """Return the row as a function of the inputs at `places`, to its differentiable results."""

    def function(*primals: jax.Array) -> list[jax.Array]:
        full = list(inputs)
        for place, primal in zip(places, primals, strict=True):
            full[place] = primal
        return [r for r in op.call(full, statics) if np.issubdtype(r.dtype, np.inexact)]

    return function
