"""The rows behind x[tensor] and x[tensor] = y, against numpy; and what happens at places out of range."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import funcgrad as torch
from funcgrad._ops.table import TABLE

_BASE = np.arange(4 * 3 * 5 * 2, dtype=np.float32).reshape(4, 3, 5, 2)
_A, _B, _WIDE = np.array([0, 3, -1]), np.array([1, 0, 2]), np.array([[1], [-3]])

_LAYOUTS = [
    ((_A,), (0,)),
    ((_A,), (None, None, 0)),
    ((_WIDE,), (None, 0)),
    ((_A, _B), (0, 1)),
    ((_A, _B), (None, 1, 0)),
    ((_A, _B), (0, None, 1)),  # parted by a full dimension: the selected dimension comes first
    ((_A, _WIDE), (0, 1, None)),
    ((_B, _A, _WIDE), (1, 0, 2)),
]


def _places(indices: tuple[np.ndarray, ...], layout: tuple[int | None, ...]) -> Any:
    return tuple(np.s_[:] if which is None else indices[which] for which in layout)


@pytest.mark.parametrize(("indices", "layout"), _LAYOUTS)
def test_index_reads_as_numpy(indices: Any, layout: Any) -> None:
    op = TABLE["index"]
    ours = op.call([jnp.asarray(_BASE), *map(jnp.asarray, indices)], [layout])[0]
    np.testing.assert_array_equal(ours, _BASE[_places(indices, layout)])


@pytest.mark.parametrize(("indices", "layout"), _LAYOUTS)
@pytest.mark.parametrize("accumulate", [False, True])
def test_index_put_writes_as_numpy(indices: Any, layout: Any, accumulate: bool) -> None:
    op, places = TABLE["index_put"], _places(indices, layout)
    expected = _BASE.copy()
    value = np.float32(7.5)
    if accumulate:
        np.add.at(expected, places, value)
    else:
        expected[places] = value
    inputs = [jnp.asarray(_BASE), *map(jnp.asarray, indices), jnp.asarray(value)]
    np.testing.assert_array_equal(op.call(inputs, [layout, accumulate])[0], expected)


@pytest.mark.parametrize(("indices", "layout"), _LAYOUTS)
def test_index_put_takes_values_of_the_selected_shape(indices: Any, layout: Any) -> None:
    op, places = TABLE["index_put"], _places(indices, layout)
    values = -_BASE[places]
    expected = _BASE.copy()
    expected[places] = values
    inputs = [jnp.asarray(_BASE), *map(jnp.asarray, indices), jnp.asarray(values)]
    np.testing.assert_array_equal(op.call(inputs, [layout, False])[0], expected)
    leading = [*inputs[:-1], jnp.asarray(values)[None, None]]
    np.testing.assert_array_equal(op.call(leading, [layout, False])[0], expected)


def test_index_put_gives_the_gradient_to_every_value_also_where_another_one_won() -> None:
    op = TABLE["index_put"]
    places = jnp.array([1, 1])
    _, pull = jax.vjp(lambda x, v: op.call([x, places, v], [(0,)])[0], jnp.zeros(3), jnp.ones(2))
    of_input, of_values = pull(jnp.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(of_input, [1, 0, 3])
    np.testing.assert_array_equal(of_values, [2, 2])


@pytest.mark.parametrize("dim", [0, 1])
def test_masked_set_writes_as_numpy(dim: int) -> None:
    base = _BASE[:, 0]  # (4, 5, 2)
    mask = np.arange(base.shape[dim] * base.shape[dim + 1]).reshape(base.shape[dim : dim + 2]) % 3 == 0
    for value in (
        np.float32(9),
        np.full(base.shape[dim + 2 :], 8, np.float32),
        np.full((1, *base.shape[dim + 2 :]), 6),
    ):
        expected = base.copy()
        expected[(*(np.s_[:],) * dim, mask)] = value
        ours = TABLE["masked_set"].call([jnp.asarray(base), jnp.asarray(mask), jnp.asarray(value)], [dim])[0]
        np.testing.assert_array_equal(ours, expected)


def test_shapes_that_do_not_fit_are_refused() -> None:
    base = jnp.asarray(_BASE)
    with pytest.raises(IndexError, match=r"indexing tensors could not be broadcast together with shapes \[3\], \[2\]"):
        TABLE["index"].call([base, _A, _A[:2]], [(0, 1)])
    with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or bool tensors"):
        TABLE["index"].call([base, jnp.ones(2)], [(0,)])
    with pytest.raises(
        RuntimeError, match=r"value tensor of shape \[2\] cannot be broadcast to indexing result of shape \[3\]"
    ):
        TABLE["index_put"].call([jnp.zeros(5), _A, jnp.ones(2)], [(0,)])
    with pytest.raises(IndexError, match=r"The shape of the mask \[2\] at index 0 does not match"):
        TABLE["masked_set"].call([base, jnp.ones(2, bool), jnp.ones(())], [])


def test_reading_out_of_range_gives_nan_and_no_gradient() -> None:
    places = jnp.array([0, 5])
    read, pull = jax.vjp(lambda x: TABLE["index"].call([x, places], [(0,)])[0], jnp.ones(3))
    np.testing.assert_array_equal(read, [1, np.nan])
    np.testing.assert_array_equal(pull(jnp.ones(2))[0], [1, 0, 0])
    for row, inputs in (
        ("index_select", [jnp.ones(3), jnp.array([-1, 2])]),
        ("gather", [jnp.ones(3), jnp.array([-1, 2])]),
    ):
        np.testing.assert_array_equal(TABLE[row].call(inputs, [0])[0], [np.nan, 1])


def test_writing_out_of_range_does_nothing() -> None:
    places = jnp.array([5, 1])
    put = TABLE["index_put"].call([jnp.zeros(3), places, jnp.ones(2)], [(0,)])[0]
    np.testing.assert_array_equal(put, [0, 1, 0])
    scattered = TABLE["scatter"].call([jnp.zeros(3), jnp.array([-1, 1]), jnp.ones(2), None], [0])[0]
    np.testing.assert_array_equal(scattered, [0, 1, 0])


def test_nothing_is_scattered_from_an_empty_source() -> None:
    x = torch.ones(2, 1, requires_grad=True)
    nothing = torch.zeros(2, 1, dtype=torch.bool)
    y = torch.masked_scatter(x, nothing, torch.zeros(0))
    y.sum().backward()
    assert y.tolist() == [[1], [1]] and x.grad.tolist() == [[1], [1]]
    with pytest.raises(RuntimeError, match="Number of elements of source < number of ones in mask"):
        torch.masked_scatter(torch.ones(2), ~nothing[0], torch.zeros(0)).tolist()
