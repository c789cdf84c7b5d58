"""Functions of any number of tensors, given one by one or as one sequence: meshgrid, einsum, block_diag and others."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from funcgrad._base.dtypes import get_default_dtype
from funcgrad._base.size import Size
from funcgrad._base.warning import warn_once
from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.table import TABLE
from funcgrad._tensor.arguments import as_dims, tensors_of
from funcgrad._tensor.call import call
from funcgrad._tensor.on_arrays import on_arrays
from funcgrad._tensor.registry import function
from funcgrad._tensor.tensor import Tensor
from funcgrad._tensor.warned import warn_of_old_name


def _listed(name: str, given: tuple[Any, ...]) -> Any:
    alone = len(given) == 1 and isinstance(given[0], (list, tuple))
    return tensors_of(given[0] if alone else given, f"{name}(): argument 'tensors' (position 1)")


@function()
def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape that all these broadcast to. RuntimeError: they do not; ValueError: a negative length."""
    listed = [as_dims(shape) or () for shape in shapes]
    result: tuple[int, ...] = (1,) * max(map(len, listed), default=0)
    for index, shape in enumerate(listed):
        if any(length < 0 for length in shape):
            raise ValueError("Attempting to broadcast a dimension with negative length!")
        for place, (length, wanted) in enumerate(zip(reversed(shape), reversed(result), strict=False), 1):
            if length != wanted and 1 not in (length, wanted):
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {length} at -{place}! Mismatching argument at "
                    f"index {index} had {tuple(shape)}; but expected shape should be broadcastable to {list(result)}"
                )
        result = broadcast_shape(result, shape)
    return Size(result)


@function()
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Return views of all tensors in the shape that they broadcast to; a tensor that has it already is itself."""
    listed = _listed("broadcast_tensors", tensors)
    if len({t.shape for t in listed}) > 1:
        call(TABLE["broadcast_tensors"], tuple(listed))  # refuses shapes that do not fit together
    shape = np.broadcast_shapes(*(tuple(t.shape) for t in listed))
    return tuple(t if t.shape == shape else t.expand(shape) for t in listed)


@function()
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Return the coordinates of a grid, one for each tensor: the first varies along rows ("ij") or columns ("xy")."""
    if indexing is None:
        warn_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
    grid = call(TABLE["meshgrid"], tuple(_listed("meshgrid", tensors)), (indexing or "ij",))
    return grid if isinstance(grid, tuple) else (grid,)


@function()
def block_diag(*tensors: Any) -> Tensor:
    """Return a matrix with the given matrices along its diagonal and zeros elsewhere. Without any: of shape (1, 0)."""
    if not tensors:
        return call(TABLE["full"], (0.0,), ((1, 0), get_default_dtype()))
    return call(TABLE["block_diag"], tuple(tensors_of(tensors, "block_diag(): argument 'tensors' (position 1)")))


@function()
def einsum(equation: Any, *operands: Any) -> Tensor:
    """Multiply tensors and sum over the letters that the result lacks; or einsum(a, [0, 1], b, [1, 2], [0, 2])."""
    if not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    if isinstance(equation, str):
        return call(TABLE["einsum"], tuple(_listed("einsum", operands)), (equation,))
    pairs = [equation, *operands]
    result = pairs.pop() if len(pairs) % 2 else None
    words = ["".join(_letter(number) for number in numbers) for numbers in pairs[1::2]]
    arrow = "" if result is None else "->" + "".join(_letter(number) for number in result)
    return call(TABLE["einsum"], tuple(pairs[::2]), (",".join(words) + arrow,))


def _letter(number: Any) -> str:
    if number is Ellipsis:
        return "..."
    if not 0 <= number < 52:
        raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return (string.ascii_uppercase + string.ascii_lowercase)[number]


@function()
def chain_matmul(*matrices: Any) -> Tensor:
    """Multiply matrices one after the other, in the order that costs least."""
    warn_of_old_name("chain_matmul")
    return call(TABLE["chain_matmul"], tuple(_listed("chain_matmul", matrices)))


@function()
def cartesian_prod(*tensors: Any) -> Tensor:
    """Return all combinations of the elements of vectors, a row each."""
    return call(TABLE["cartesian_prod"], tuple(_listed("cartesian_prod", tensors)))


def _at_least(rank: int) -> Any:
    def at_least(*tensors: Any) -> Any:
        """Return the tensors as views with dimensions of size 1 put before, up to the rank that the name says."""
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return _with_rank(tensors[0], rank)
        return tuple(_with_rank(t, rank) for t in _listed(f"atleast_{rank}d", tensors))

    at_least.__name__ = f"atleast_{rank}d"
    return at_least


def _with_rank(tensor: Tensor, rank: int) -> Tensor:
    if tensor.ndim >= rank:
        return tensor
    if rank == 3 and tensor.ndim == 2:
        return tensor.unsqueeze(-1)
    if rank == 3 and tensor.ndim == 1:
        return tensor.unsqueeze(0).unsqueeze(-1)
    return tensor.view((1,) * rank) if tensor.ndim == 0 else tensor.unsqueeze(0)


for _rank in (1, 2, 3):
    function(f"atleast_{_rank}d")(on_arrays(_at_least(_rank)))
