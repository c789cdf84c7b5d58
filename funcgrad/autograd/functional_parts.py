"""The parts of torch.autograd.functional that libraries build Jacobians of their own with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor


def _as_tuple(inp: Any, arg_name: str | None = None, fn_name: str | None = None) -> tuple[bool, tuple[Any, ...]]:
    """Return whether tensors are given as a tuple, and the tuple. TypeError: something else than tensors, if named."""
    many = isinstance(inp, tuple)
    tensors = inp if many else (inp,)
    for place, given in enumerate(tensors if arg_name is not None or fn_name is not None else ()):
        if not isinstance(given, Tensor):
            where = f"the value at index {place}" if many else f"the given {arg_name}"
            raise TypeError(
                f"The {arg_name} given to {fn_name} must be either a Tensor or a tuple of Tensors but {where} has type "
                f"{type(given)}."
            )
    return many, tensors


def _construct_standard_basis_for(tensors: Sequence[Tensor], tensor_numels: Sequence[int]) -> tuple[Tensor, ...]:
    """Return, of each tensor, the columns of one identity matrix that are its elements', in its dtype."""
    total = sum(tensor_numels)
    basis = []
    for tensor, size, end in zip(tensors, tensor_numels, accumulate(tensor_numels), strict=True):
        whole = fg.eye(total, dtype=tensor.dtype, device=tensor.device)
        basis.append(whole[:, end - size : end])
    return tuple(basis)


def _grad_postprocess(inputs: Any, create_graph: bool) -> Any:
    """Return the tensors, in tuples as they are, without a history unless `create_graph`."""
    if isinstance(inputs, Tensor):
        return inputs if create_graph else inputs.detach()
    return tuple(_grad_postprocess(inner, create_graph) for inner in inputs)


def _tuple_postprocess(res: Any, to_unpack: bool | tuple[bool, bool]) -> Any:
    """Return results as they were given: where an input was no tuple, its only result instead of a tuple of it."""
    if not isinstance(to_unpack, tuple):
        return res if to_unpack else res[0]
    outer, inner = to_unpack
    found = res if inner else tuple(each[0] for each in res)
    return found if outer else found[0]
