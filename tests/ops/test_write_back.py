"""Writing through a view: what was written is read back, everything else stays, and gradients split accordingly."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from funcgrad._base import dtypes
from funcgrad._ops.table import TABLE, Op
from tests.ops.calling import built
from tests.ops.rows import bound
from tests.ops.samples.views import SAMPLES

pytestmark = pytest.mark.thorough

_SHARED = (".expand", "broadcast_to")  # several elements in one place: torch refuses to write there


def _view_calls() -> list[Any]:
    rows = {name: next(op for op in TABLE.values() if name in (*op.names, op.name)) for name in SAMPLES}
    return [
        pytest.param(rows[name], name, number, id=f"{name}-{number}")
        for name, listed in SAMPLES.items()
        for number, sample in enumerate(listed)
        if rows[name].write_back is not None and not sample.fails and name not in _SHARED
    ]


def _read_and_write(
    op: Op, name: str, number: int
) -> tuple[np.ndarray, Callable[[Any], Any], Callable[[Any, Any], Any]]:
    """Return the base's numbers, the view as a function of the base, and the write-back as one of base and new."""
    args, kwargs = built(name, SAMPLES[name][number], lambda array, given: array, lambda kind: getattr(dtypes, kind))
    base, *args = args
    inputs, statics = bound(op, [None, *args], kwargs)
    given: dict[str, Any] = dict(zip([p.name for p in op.inputs], inputs, strict=False))
    given.update(zip([p.name for p in op.statics], statics, strict=False))
    ordered = [given[p.name] for p in op.parameters if p is not op.inputs[0]]

    def read(array: Any) -> Any:
        return op.call([array, *inputs[1:]], statics)[0]

    assert op.write_back is not None
    return base, read, lambda array, new: op.write_back(array, new, *ordered)  # type: ignore[misc]  # as just asserted


@pytest.mark.parametrize(("op", "name", "number"), _view_calls())
def test_what_is_written_is_read_back_and_the_rest_stays(op: Op, name: str, number: int) -> None:
    with jax.enable_x64(True):
        base, read, write = _read_and_write(op, name, number)
        part = np.asarray(read(base))
        new = (part + 1 + np.arange(part.size).reshape(part.shape)).astype(part.dtype)
        if name in (".unfold", "as_strided"):  # windows overlap: one number for all
            new = np.full_like(part, 99)
        base, part, new = map(jnp.asarray, (base, part, new))
        written = np.asarray(jax.jit(write)(base, new))
        assert written.shape == base.shape
        assert written.dtype == base.dtype
        np.testing.assert_array_equal(read(written), new)
        np.testing.assert_allclose(write(base, part), base)
        ones = jnp.full_like(base, 1 + 1j if base.dtype.kind == "c" else 1)
        untouched = np.asarray(write(ones, jnp.zeros_like(part)) == ones)
        np.testing.assert_array_equal(written[untouched], np.asarray(base)[untouched])


@pytest.mark.parametrize(("op", "name", "number"), _view_calls())
def test_gradient_of_what_was_overwritten_is_zero(op: Op, name: str, number: int) -> None:
    with jax.enable_x64(True):
        base, read, write = _read_and_write(op, name, number)
        if base.dtype.kind != "f" or name == "view_as_complex":
            pytest.skip("the sample is no real tensor: writing complex parts is linear in real pairs")
        base = jnp.asarray(base)
        part = read(base)
        _, pull = jax.vjp(write, base, part)
        ones = jnp.ones_like(base)
        of_base, of_new = pull(ones)
        np.testing.assert_array_equal(of_base, write(ones, jnp.zeros_like(part)))
        if name not in (".unfold", "as_strided"):
            np.testing.assert_array_equal(of_new, np.ones_like(part))


@pytest.mark.parametrize("name", ["expand", "broadcast_to"])
def test_expanded_elements_cannot_be_written(name: str) -> None:
    write_back = TABLE[name].write_back
    assert write_back is not None
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        write_back(jnp.zeros((1, 3)), jnp.ones((2, 3)), (2, 3))
    np.testing.assert_array_equal(write_back(jnp.zeros((2, 1)), jnp.ones((2, 1)), (2, 1)), np.ones((2, 1)))


@pytest.mark.parametrize("start", [0, 2])
@pytest.mark.parametrize("length", [0, 1, 2, 3])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_slices_with_a_dynamic_start_equal_static_ones(start: int, length: int, step: int) -> None:
    op = TABLE["slice"]
    assert op.write_back is not None
    base = np.arange(20.0).reshape(2, 10)
    new = -np.ones((2, length))
    places = np.s_[:, start : start + length * step : step]
    read = partial(op.function, dim=1, length=length, step=step)
    np.testing.assert_array_equal(read(jnp.asarray(base), start=start), base[places])
    np.testing.assert_array_equal(jax.jit(lambda x, i: read(x, start=i))(base, start), base[places])
    changed = base.copy()
    changed[places] = new
    np.testing.assert_array_equal(op.write_back(jnp.asarray(base), new, 1, start, length, step), changed)
    dynamic = jax.jit(lambda x, y, i: op.write_back(x, y, 1, i, length, step))  # type: ignore[misc]  # as just asserted
    np.testing.assert_array_equal(dynamic(base, new, start), changed)


@pytest.mark.parametrize("index", [0, 2, -1])
def test_select_with_a_dynamic_index_equals_the_static_one(index: int) -> None:
    op = TABLE["select"]
    assert op.write_back is not None
    base = np.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(op.function(jnp.asarray(base), 1, index), base[:, index])
    np.testing.assert_array_equal(jax.jit(lambda x, i: op.function(x, 1, i))(base, np.int32(index)), base[:, index])
    changed = base.copy()
    changed[:, index] = 7
    write = jax.jit(lambda x, y, i: op.write_back(x, y, 1, i))  # type: ignore[misc]  # as just asserted
    np.testing.assert_array_equal(write(base, np.full(4, 7.0), np.int32(index)), changed)


@pytest.mark.parametrize(
    ("source", "target", "shape"),
    [
        ("float32", "int32", (2, 3)),
        ("float32", "float64", (3, 4)),
        ("float64", "int16", (2, 3)),
        ("complex64", "float32", (2, 3)),
        ("float32", "complex64", (3, 4)),
        ("bool", "uint8", (4,)),
        ("float32", "bfloat16", (2,)),
        ("int64", "complex64", (2,)),
    ],
)
def test_bits_read_as_another_dtype(source: str, target: str, shape: tuple[int, ...]) -> None:
    op = TABLE["view_dtype"]
    assert op.write_back is not None
    with jax.enable_x64(True):
        numbers = np.random.RandomState(0).normal(size=shape).astype(source)
        kind = getattr(dtypes, target)
        ours = np.asarray(op.function(jnp.asarray(numbers), kind))
        np.testing.assert_array_equal(ours.view(np.uint8), numbers.view(kind.numpy).view(np.uint8))
        np.testing.assert_array_equal(op.write_back(jnp.asarray(numbers), ours, kind), numbers)
