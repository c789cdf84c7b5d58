"""Sparse tensors in use; what they print, answer and refuse, `scripts/sparse.txt` compares with torch."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._program.counters import counted

MANY = 300_000


def ring(count: int) -> torch.Tensor:
    """Return the adjacency of a ring, each node with half of each neighbour."""
    nodes = torch.arange(count)
    places = torch.stack([nodes.repeat(2), torch.cat([(nodes + 1) % count, (nodes - 1) % count])])
    return torch.sparse_coo_tensor(places, torch.full((2 * count,), 0.5), (count, count)).coalesce()


def test_a_graph_of_many_nodes_takes_the_memory_of_its_edges() -> None:
    features = torch.arange(float(MANY)).unsqueeze(1).requires_grad_()
    mixed = torch.sparse.mm(ring(MANY), features)  # dense, the matrix would take 360 GB
    mixed[10:20].sum().backward()
    assert mixed[10:13, 0].tolist() == [10.0, 11.0, 12.0]
    assert features.grad is not None
    assert features.grad[8:13, 0].tolist() == [0.0, 0.5, 0.5, 1.0, 1.0]
    assert (ring(MANY) @ ring(MANY))._nnz() == 3 * MANY


def test_steps_with_a_sparse_adjacency_compile_once() -> None:
    torch.manual_seed(0)
    adjacency, features, labels = ring(20), torch.randn(20, 4), torch.arange(20) % 2
    layers = nn.ModuleList([nn.Linear(4, 8), nn.Linear(8, 2)])
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.05)
    losses = []

    def step() -> None:
        optimizer.zero_grad()
        hidden = torch.relu(torch.spmm(adjacency, layers[0](features)))
        loss = nn.functional.cross_entropy(torch.spmm(adjacency, layers[1](hidden)), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    step()
    step()
    with counted() as counts:
        for _ in range(5):
            step()
    assert counts.compiles == 0
    assert losses[-1] < losses[0]


def test_a_sparse_leaf_is_trained_where_it_stores_something() -> None:
    weight = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2)).coalesce().requires_grad_()
    optimizer = torch.optim.SGD([weight], lr=0.5)
    torch.sparse.mm(weight, torch.ones(2, 1)).sum().backward()
    optimizer.step()
    assert weight.to_dense().tolist() == [[0.0, 0.5], [1.5, 0.0]]


def test_a_module_keeps_a_sparse_buffer() -> None:
    class Mixing(nn.Module):
        adjacency: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("adjacency", ring(4))
            self.layer = nn.Linear(3, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            mixed: torch.Tensor = self.adjacency @ self.layer(x)
            return mixed

    first, second = Mixing().double(), Mixing().double()
    second.load_state_dict(first.state_dict())
    x = torch.randn(4, 3, dtype=torch.float64)
    assert second.adjacency.is_sparse
    assert second.adjacency.dtype is torch.float64
    np.testing.assert_array_equal(first(x).detach().numpy(), second(x).detach().numpy())


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc"])
def test_copies_and_pickles_keep_layout_and_numbers(layout: str) -> None:
    given = ring(4).to_sparse(layout=getattr(torch, layout))
    for found in (copy.copy(given), copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
        assert found.layout is given.layout
        assert found.to_dense().tolist() == given.to_dense().tolist()


def test_what_is_written_in_place_stays_sparse() -> None:
    given = ring(4)
    given.mul_(2).add_(ring(4))
    assert given.values().tolist() == [1.5] * 8
    given.zero_()
    assert (given._nnz(), given.to_dense().sum().item()) == (0, 0.0)
    assert given.copy_(ring(4)).values().tolist() == [0.5] * 8


def test_programs_without_sparse_tensors_ask_nobody() -> None:
    script = "import funcgrad as fg; from funcgrad._tensor import overriding; fg.ones(2) + 1; print(overriding._armed)"
    assert run(script) == "False"


def run(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("shape", [(9, 4), (4, 9)])
def test_low_rank_decompositions_give_back_a_matrix_of_low_rank(shape: tuple[int, int]) -> None:
    matrix = torch.randn(shape[0], 2) @ torch.randn(2, shape[1])
    u, s, v = torch.svd_lowrank(matrix, q=3)
    np.testing.assert_allclose((u * s @ v.mT).numpy(), matrix.numpy(), atol=1e-4)
    with pytest.raises(ValueError, match="q"):
        torch.pca_lowrank(matrix, q=5)


def test_a_sparse_gradient_can_be_set_to_zero_and_detached_in_place() -> None:
    layer = nn.Embedding(4, 2, sparse=True)
    layer(torch.tensor([1])).sum().backward()
    gradient = layer.weight.grad
    assert gradient is not None
    gradient.zero_()
    assert gradient.detach_() is gradient
    assert gradient.is_sparse and gradient._nnz() == 0


def test_detaching_a_sparse_tensor_in_place_makes_it_a_leaf() -> None:
    product = torch.eye(2).to_sparse().requires_grad_() * 2
    product.detach_()
    assert product.is_leaf and not product.requires_grad


def test_an_empty_tensor_is_made_of_its_size_alone() -> None:
    empty = torch.sparse_coo_tensor(size=(2, 3))
    assert empty.shape == (2, 3) and empty._nnz() == 0


@pytest.mark.filterwarnings("ignore:torch.sparse.SparseTensor")
def test_old_names_make_sparse_tensors_of_parts_or_of_sizes() -> None:
    x = torch.eye(3).to_sparse()
    indices, values = torch.tensor([[0, 1]]), torch.tensor([1.0, 2.0])
    for make in (x.new, torch.sparse.FloatTensor):
        assert make().shape == (0,) and make(2, 3).shape == (2, 3) and make(torch.Size([2])).shape == (2,)
        assert make(indices, values).to_dense().tolist() == [1.0, 2.0]
        assert make(indices, values, torch.Size([3])).to_dense().tolist() == [1.0, 2.0, 0.0]
    assert x.double().new(2).dtype is torch.float64


def test_a_sparse_tensor_takes_the_size_of_another() -> None:
    x = torch.eye(3).to_sparse()
    assert x.new().resize_as_(x).shape == (3, 3) and x.new().resize_as_(x)._nnz() == 0
    assert x.clone().resize_as_(torch.zeros(4, 4).to_sparse()).to_dense().sum() == 3
    with pytest.raises(RuntimeError, match="shrinking the size of sparse dimensions"):
        x.clone().resize_as_(torch.zeros(2, 2).to_sparse())
    with pytest.raises(RuntimeError, match=r"changing the number of dense dimensions \(from 0 to 1\)"):
        x.clone().resize_as_(torch.zeros(3, 3, 2).to_sparse(2))
    with pytest.raises(NotImplementedError, match="aten::resize_as"):
        x.resize_as_(torch.zeros(3, 3))


def test_values_share_what_is_written() -> None:
    dense = torch.tensor([0.0, 5.0, 0.0, 7.0])
    stored, cut = dense.to_sparse(), torch.ones(4)
    detached = stored.detach()
    stored._values().mul_(2)
    detached.values().add_(1)
    assert stored.to_dense().tolist() == detached.to_dense().tolist() == [0, 11, 0, 15]
    masked = cut.sparse_mask(stored)
    masked._values().add_(stored._values(), alpha=-1)
    assert cut.add_(masked).tolist() == [1, -9, 1, -13]
    rows = torch.eye(2).to_sparse_csr()
    rows.values()[0] = 5
    assert rows.to_dense().tolist() == [[5, 0], [0, 1]]


def test_what_it_was_made_of_shares_its_values() -> None:
    row, rows = torch.tensor([1.0, 2.0]), torch.ones(3, 2)
    columns = torch.sparse_coo_tensor([[0, 2]], row, (3,))
    blocks = torch.sparse_coo_tensor([[0, 1]], rows[1:], (2, 2))
    row.mul_(7)
    rows[1:].mul_(3)
    columns._values()[0] = 4
    assert (row.tolist(), columns.to_dense().tolist()) == ([4, 14], [4, 0, 14])
    assert blocks.to_dense().tolist() == [[3, 3], [3, 3]]


def test_in_place_writes_the_values_or_makes_new_ones_where_torch_does() -> None:
    def shares(name: str, *given: Any) -> bool:
        changed = torch.sparse_coo_tensor([[0, 2]], [-1.0, 2.0], (4,), is_coalesced=True)
        values, version = changed._values(), changed._version
        getattr(changed, name)(*given)
        assert changed._version == version + 1
        now = changed.to_dense().tolist()
        values.add_(100)
        return changed.to_dense().tolist() != now

    other = torch.sparse_coo_tensor([[0, 2]], [5.0, 6.0], (4,), is_coalesced=True)
    assert shares("neg_") and shares("abs_") and shares("div_", 2)
    assert not any((shares("mul_", 2), shares("mul_", other), shares("add_", other), shares("copy_", other)))
    assert not shares("zero_")


def test_a_gradient_is_scaled_by_its_values() -> None:
    table = nn.Embedding(3, 2, sparse=True)
    table(torch.tensor([1, 2, 1])).sum().backward()
    assert table.weight.grad is not None
    table.weight.grad._values().mul_(0.5)
    assert table.weight.grad.to_dense().tolist() == [[0, 0], [1, 1], [0.5, 0.5]]
