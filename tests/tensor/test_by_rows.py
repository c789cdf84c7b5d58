"""Places that were expanded move whole rows, and give what the same places give that were written out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import funcgrad as torch
from funcgrad._ops.table import TABLE
from funcgrad._tensor.by_rows import BY_ROWS, _narrowed

PLACES = [0, 1, 1, 4, 2, 0, 0, 3]
Sent = Callable[[torch.Tensor, int, torch.Tensor, torch.Tensor], torch.Tensor]
WAYS: dict[str, Sent] = {
    "gather": lambda x, dim, index, src: x.gather(dim, index) * src,
    "scatter_add": lambda x, dim, index, src: x.scatter_add(dim, index, src),
    "scatter_add_": lambda x, dim, index, src: (x * 1).scatter_add_(dim, index, src),
    **{
        f"{reduce} {include}": lambda x, dim, index, src, reduce=reduce, include=include: x.scatter_reduce(
            dim, index, src, reduce, include_self=include
        )
        for reduce in ("sum", "prod", "mean", "amax", "amin")
        for include in (True, False)
    },
}


def places(dim: int, shape: tuple[int, ...]) -> torch.Tensor:
    column = torch.tensor(PLACES).view([-1 if d == dim else 1 for d in range(len(shape))])
    return column.expand(shape)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_rows_are_as_their_elements(way: str, dim: int) -> None:
    shape = [2, 3, 4]
    shape[dim] = 5
    x = torch.randn(shape, requires_grad=True)
    shape[dim] = len(PLACES)
    src = torch.randn(shape, requires_grad=True)
    index = places(dim % 3, tuple(shape))
    found = []
    for given in (index, index.contiguous()):
        result = WAYS[way](x, dim, given, src)
        slopes = torch.autograd.grad((result**3).sum(), (x, src), create_graph=True)
        curves = torch.autograd.grad((slopes[0] ** 2).sum() + (slopes[1] ** 2).sum(), (x, src))
        found.append([t.detach().numpy() for t in (result, *slopes, *curves)])
    for rows, elements in zip(*found, strict=True):
        np.testing.assert_allclose(rows, elements, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["gather", "scatter_add", "scatter_reduce"])
def test_only_columns_that_fit_move_rows(name: str) -> None:
    x, src = torch.randn(5, 3), torch.randn(8, 3)
    op, sent = TABLE[name], [] if name == "gather" else [src]

    def moved(index: torch.Tensor) -> bool:
        return _narrowed(op, (x, index, *sent), (0,))[0] is BY_ROWS[op]

    index = places(0, (8, 3))
    assert moved(index) and moved(torch.tensor(PLACES).unsqueeze(-1).expand_as(src))
    assert not moved(index.contiguous()) and not moved(index[:, :2]) and not moved(index[:, :1].expand(-1, 2))
    assert not moved(torch.tensor([[0, 1, 2]]).expand(8, 3))


def test_truth_values_and_no_places_at_all() -> None:
    x, src = torch.tensor([[True, False]] * 5), torch.tensor([[False, True]] * 8)
    index = places(0, (8, 2))
    for given in (index, index.contiguous()):
        assert x.scatter_add(0, given, src).all()
        assert x.scatter_reduce(0, given, src, "amin").tolist() == [[False, False]] * 5
        assert x.gather(0, given).tolist() == [[True, False]] * 8
    none = torch.zeros(0, 1, dtype=torch.long).expand(0, 2)
    assert x.gather(0, none).shape == (0, 2)
    assert torch.equal(x.scatter_add(0, none, src[:0]), x)


def test_what_is_written_into_the_column_counts() -> None:
    x, column = torch.arange(10.0).view(5, 2), torch.zeros(3, 1, dtype=torch.long)
    index = column.expand(3, 2)
    column[1] = 4
    assert x.gather(0, index).tolist() == [[0, 1], [8, 9], [0, 1]]


def test_places_that_do_not_exist_are_refused() -> None:
    x, index = torch.randn(5, 3), torch.tensor([[1], [5]]).expand(2, 3)
    for way in ("gather", "scatter_add", "scatter_add_", "mean True"):
        with pytest.raises(RuntimeError, match="index 5 is out of bounds for dimension 0 with size 5"):
            WAYS[way](x, 0, index, torch.ones(2, 3))
    with pytest.raises(RuntimeError, match=r"Expected self\.dtype to be equal to src.dtype"):
        x.scatter_add(0, index - 1, torch.ones(2, 3, dtype=torch.float64))
