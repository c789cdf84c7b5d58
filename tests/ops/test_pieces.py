"""Where split and its relatives cut: the pieces cover the dimension, and are torch's where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from funcgrad._ops import pieces

_CALLS: list[tuple[str, tuple[int, ...], Any, int]] = [
    ("split", (5, 2), 2, 0),
    ("split", (4, 2), 2, 0),
    ("split", (3, 4), [1, 3], -1),
    ("split", (3, 4), [0, 3], 0),
    ("split", (0, 2), 2, 0),
    ("split", (0, 2), 0, 0),
    ("split", (3,), -1, 0),
    ("split", (3,), 0, 0),
    ("split", (3,), [1, 1], 0),
    ("split", (3,), [1, -1, 3], 0),
    ("split", (), 1, 0),
    ("split", (3,), 1, 1),
    ("chunk", (5,), 2, 0),
    ("chunk", (5,), 4, 0),
    ("chunk", (2, 3), 7, 1),
    ("chunk", (0,), 3, 0),
    ("chunk", (3,), 0, 0),
    ("chunk", (), 1, 0),
    ("tensor_split", (7,), 3, 0),
    ("tensor_split", (2, 3), 5, 1),
    ("tensor_split", (7,), (1, 5), 0),
    ("tensor_split", (7,), (5, 1), 0),
    ("tensor_split", (7,), (-2, 9), 0),
    ("tensor_split", (7,), (), 0),
    ("tensor_split", (7,), 0, 0),
    ("tensor_split", (), 1, 0),
    ("hsplit", (4,), 2, 0),
    ("hsplit", (2, 4), (1, 3), 0),
    ("hsplit", (2, 4), 3, 0),
    ("hsplit", (), 1, 0),
    ("vsplit", (4, 2), 2, 0),
    ("vsplit", (4,), 2, 0),
    ("dsplit", (1, 2, 4), 2, 0),
    ("dsplit", (1, 2, 4), 3, 0),
]
_CUTTERS: dict[str, Callable[..., tuple[int, pieces.Pieces]]] = {
    "split": pieces.split_pieces,
    "chunk": pieces.chunk_pieces,
    "tensor_split": pieces.tensor_split_pieces,
}


def _cut(name: str, shape: tuple[int, ...], where: Any, dim: int) -> tuple[int, pieces.Pieces]:
    if name in _CUTTERS:
        return _CUTTERS[name](shape, where, dim)
    return pieces.named_split_pieces(name, shape, where)


@pytest.mark.parity
@pytest.mark.parametrize(("name", "shape", "where", "dim"), _CALLS)
def test_pieces_are_torchs(name: str, shape: tuple[int, ...], where: Any, dim: int) -> None:
    torch = pytest.importorskip("torch")
    whole = torch.zeros(shape)
    arguments = (whole, where) if name.endswith("split") and name[0] in "hvd" else (whole, where, dim)
    try:
        parts = getattr(torch, name)(*arguments)
    except (RuntimeError, IndexError) as error:
        with pytest.raises(type(error)) as caught:
            _cut(name, shape, where, dim)
        assert str(caught.value) == str(error)
        return
    place, cuts = _cut(name, shape, where, dim)
    assert [tuple(part.shape) for part in parts] == [(*shape[:place], n, *shape[place + 1 :]) for _, n in cuts]
    strides = whole.stride()
    assert all(p.storage_offset() == start * strides[place] for p, (start, n) in zip(parts, cuts, strict=True) if n)


def test_split_pieces_cover_the_dimension_without_overlap() -> None:
    for length in range(1, 12):
        for size in range(1, 13):
            dim, cuts = pieces.split_pieces((3, length), size, -1)
            assert dim == 1
            assert [i for start, n in cuts for i in range(start, start + n)] == list(range(length))


def test_unbind_counts_one_dimension() -> None:
    assert pieces.unbind_count((3, 4), -1) == (1, 4)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        pieces.unbind_count(())
