"""Where funcgrad takes what torch refuses, or cannot see what torch sees: each with what happens instead."""

from __future__ import annotations

import numpy as np
import pytest

import funcgrad as torch
from funcgrad._base.errors import NotATensor


def test_numpy_arrays_on_the_left_give_tensors() -> None:
    product = np.array([1.0, 2.0]) * torch.tensor([3.0, 4.0])
    assert isinstance(product, torch.Tensor)
    assert product.dtype is torch.float64
    assert (np.array([1.0, 2.0]) < torch.tensor([1.5, 1.5])).tolist() == [True, False]


def test_lists_and_arrays_can_be_assigned() -> None:
    x = torch.zeros(4)
    x[:2] = [1, 2]
    x[2:] = np.array([3.0, 4.0])
    assert x.tolist() == [1, 2, 3, 4]


def test_arrays_with_negative_strides_are_copied_like_others() -> None:
    assert torch.from_numpy(np.arange(3)[::-1]).tolist() == [2, 1, 0]


def test_a_tensor_and_its_numpy_array_do_not_share_memory() -> None:
    array = np.zeros(2)
    x = torch.from_numpy(array)
    array[0] = 5
    x.numpy()[1] = 5
    assert x.tolist() == [0, 0]


def test_view_of_a_transposed_tensor_is_a_view_and_reshape_a_copy() -> None:
    x = torch.zeros(2, 3)
    x.t().view(6)[0] = 1
    x.t().reshape(6)[1] = 1
    assert x.tolist() == [[1, 0, 0], [0, 0, 0]]


def test_assigning_overlapping_parts_reads_before_it_writes() -> None:
    x = torch.arange(4)
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2]


def test_places_out_of_range_are_refused_at_once_where_the_numbers_are_known_else_when_they_are_read() -> None:
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 3"):
        torch.ones(3)[torch.tensor([0, 5])]
    chosen = torch.ones(3)[torch.tensor([0, 4]) + 1]
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 3"):
        chosen.tolist()


def test_what_is_no_tensor_is_refused_by_name() -> None:
    with pytest.raises(NotATensor, match=r"relu\(\): argument 'input' \(position 1\) must be Tensor, not float"):
        torch.relu(1.0)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'Tensor' and 'NoneType'"):
        torch.ones(2) + None  # type: ignore[operator]  # what is tested


@pytest.mark.xfail(reason="a view that repeats elements cannot be written to, not even where it does not repeat them")
def test_one_row_of_an_expanded_tensor_can_be_written() -> None:
    x = torch.zeros(3)
    x.expand(2, 3)[0] = 1
    assert x.tolist() == [1, 1, 1]
