"""Every row against torch's recorded numbers: value, shape, dtype, gradient and the name of the node.

FUNCGRAD_TEST_ROWS=1 calls the bare rows only, which is the quick check while writing one.
"""

from __future__ import annotations

import functools
import json
import os
from typing import Any

import numpy as np
import pytest

from tests.ops.calling import RECORDED, every_sample, fingerprint, numpy_dtype
from tests.ops.rows import call_row, row_of
from tests.ops.samples import Sample

ALL = [pytest.param(*each, id=f"{each[0]}-{each[1]}-{each[2]}") for each in every_sample()]
TOLERANCE = {
    "float16": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2), "float32": (3e-5, 1e-5), "float64": (1e-7, 1e-9),
    "complex64": (3e-5, 1e-5), "complex128": (1e-7, 1e-9),
}  # fmt: skip


@functools.cache
def recorded(family: str) -> tuple[dict[str, Any], Any]:
    """Return a family's index and arrays."""
    path = RECORDED / f"{family}.npz"
    if not path.exists():
        pytest.fail(f"{family} has no recorded numbers: run python -m tests.ops.record {family}")
    file = np.load(path)
    arrays = {key: file[key] for key in file.files}
    return json.loads(arrays["index"].tobytes()), arrays


def told_by_torch(family: str, name: str, number: int, sample: Sample) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """Return what torch said of a sample: its index entry, results and gradients (None where it has none)."""
    index, arrays = recorded(family)
    key = f"{name}|{number}"
    entry = index.get(key)
    if entry is None or entry["fingerprint"] != fingerprint(name, sample):
        pytest.fail(f"the record of {name} is stale: run python -m tests.ops.record {family}")
    results = [arrays[f"{key}|result{i}"] for i in range(len(entry.get("kinds", ())))]
    gradients = [arrays[f"{key}|grad{i}"] if has else None for i, has in enumerate(entry.get("grads", ()))]
    return entry, results, gradients


def assert_close(what: str, ours: np.ndarray, theirs: np.ndarray, kind: str, sample: Sample) -> None:
    """Hold an array to torch's: shape, dtype, numbers."""
    assert ours.shape == theirs.shape, f"{what}: shape {ours.shape}, torch {theirs.shape}"
    if kind in ("int", "float", "bool", "complex"):
        assert ours.tolist() == pytest.approx(theirs.tolist())
        return
    assert ours.dtype == numpy_dtype(kind), f"{what}: dtype {ours.dtype}, torch {kind}"
    if kind not in TOLERANCE:
        np.testing.assert_array_equal(ours, theirs.astype(ours.dtype), err_msg=what)
        return
    kinds = {kind, *sample.dtypes} & set(TOLERANCE)
    rtol, atol = max(TOLERANCE[each] for each in kinds)
    rtol, atol = sample.rtol or rtol, sample.atol or atol
    wide = np.complex128 if kind.startswith("complex") else np.float64
    np.testing.assert_allclose(ours.astype(wide), theirs.astype(wide), rtol, atol, equal_nan=True, err_msg=what)


@pytest.mark.parametrize(("family", "name", "number", "sample"), ALL)
def test_row_equals_torch(family: str, name: str, number: int, sample: Sample) -> None:
    op = row_of(name, sample)
    if op is None:
        pytest.skip(f"{name} is a hand-written front, no row")
    entry, results, gradients = told_by_torch(family, name, number, sample)
    if sample.fails:
        with pytest.raises((RuntimeError, IndexError, TypeError, ValueError)) as caught:
            call_row(op, name, sample)
        assert caught.typename == entry["error"], f"{caught.value!r}; torch: {entry['message']}"
        return
    ours, pulled, node = call_row(op, name, sample)
    assert len(ours) == len(results)
    for i, (mine, torchs) in enumerate(zip(ours, results, strict=True)):
        assert_close(f"result {i}", mine, torchs, entry["kinds"][i], sample)
    if gradients and sample.graph:
        shown = next(tree for tree in entry["nodes"] if tree)
        assert node == shown.partition("(")[0]
    if gradients:
        assert op.grad is not None, f"{op} has no gradient, torch has {entry['nodes']}"
        _assert_gradients(pulled, gradients, sample)


def _assert_gradients(ours: list[Any], torchs: list[Any], sample: Sample) -> None:
    assert len(ours) == len(torchs)
    for i, (mine, theirs) in enumerate(zip(ours, torchs, strict=True)):
        if theirs is None:
            assert mine is None or not np.any(mine)
        else:
            kind = "bfloat16" if mine.dtype == numpy_dtype("bfloat16") else str(theirs.dtype)
            assert_close(f"gradient {i}", mine, theirs, kind, sample)


def test_every_row_has_samples() -> None:
    """A row with a public name needs samples under one of its names."""
    raise AssertionError


if os.environ.get("FUNCGRAD_TEST_ROWS"):
    pass
