"""Sparse tensors are dense ones: built, multiplied and read, they have torch's numbers."""

from __future__ import annotations

import numpy as np
import pytest

import funcgrad as torch

INDICES, VALUES = [[0, 1, 1, 0], [2, 0, 2, 2]], [3.0, 4.0, 5.0, 1.0]


def test_values_that_meet_are_added_up() -> None:
    matrix = torch.sparse_coo_tensor(INDICES, VALUES, (2, 3))
    assert matrix.to_dense().tolist() == [[0.0, 0.0, 4.0], [4.0, 0.0, 5.0]]
    assert matrix.coalesce().indices().tolist() == [[0, 1, 1], [2, 0, 2]]
    assert matrix.values().tolist() == [4.0, 4.0, 5.0]
    assert torch.equal(torch.sparse_coo_tensor(INDICES, VALUES), matrix)


def test_compressed_rows_and_columns_say_the_same() -> None:
    by_row = torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [4.0, 4.0, 5.0], (2, 3))
    by_column = torch.sparse_csc_tensor([0, 1, 1, 3], [1, 0, 1], [4.0, 4.0, 5.0], (2, 3))
    assert torch.equal(by_row, by_column)
    assert by_row.crow_indices().tolist() == [0, 1, 3]
    assert by_column.ccol_indices().tolist() == [0, 1, 1, 3]
    assert by_row.col_indices().tolist() == [2, 0, 2]


def test_blocks_lie_where_their_layout_says() -> None:
    starts, places, blocks = [0, 1, 2], [1, 0], torch.arange(1.0, 9.0).reshape(2, 2, 2)
    by_row = torch.sparse_bsr_tensor(starts, places, blocks)
    by_column = torch.sparse_compressed_tensor(starts, places, blocks, layout=torch.sparse_bsc)
    assert by_row.tolist() == [[0, 0, 1, 2], [0, 0, 3, 4], [5, 6, 0, 0], [7, 8, 0, 0]]
    assert by_column.tolist() == [[0, 0, 5, 6], [0, 0, 7, 8], [1, 2, 0, 0], [3, 4, 0, 0]]
    assert torch.sparse_bsr_tensor(starts, places, blocks, (4, 6)).shape == (4, 6)


def test_gradients_flow_into_the_values() -> None:
    values = torch.tensor(VALUES, requires_grad=True)
    torch.sparse.mm(torch.sparse_coo_tensor(INDICES, values, (2, 3)), torch.eye(3)[:, :2]).sum().backward()
    assert values.grad is not None
    assert values.grad.tolist() == [0.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("reduce", ["mean", "amax", "amin", "max"])
def test_products_fold_what_is_stored(reduce: str) -> None:
    matrix, dense = torch.tensor([[0.0, 2.0, -1.0], [0.0, 0.0, 0.0]]), torch.tensor([[5.0], [1.0], [3.0]])
    expected = {"mean": -0.5, "amax": 2.0, "amin": -3.0, "max": 2.0}[reduce]
    assert torch.sparse.mm(matrix, dense, reduce).tolist() == [[expected], [0.0]]


def test_softmax_leaves_out_what_is_not_stored() -> None:
    found = torch.sparse.softmax(torch.tensor([[0.0, 1.0, 1.0]]), 1)
    np.testing.assert_allclose(found.numpy(), [[0.0, 0.5, 0.5]])


def test_indices_beyond_the_size_are_refused() -> None:
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        torch.sparse_coo_tensor([[0], [3]], [1.0], (2, 3))


@pytest.mark.parametrize("shape", [(9, 4), (4, 9)])
def test_low_rank_decompositions_give_back_a_matrix_of_low_rank(shape: tuple[int, int]) -> None:
    matrix = torch.randn(shape[0], 2) @ torch.randn(2, shape[1])
    u, s, v = torch.svd_lowrank(matrix, q=3)
    np.testing.assert_allclose((u * s @ v.mT).numpy(), matrix.numpy(), atol=1e-4)
    with pytest.raises(ValueError, match="q"):
        torch.pca_lowrank(matrix, q=5)
