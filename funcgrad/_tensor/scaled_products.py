"""scaled_mm, grouped_mm, and what says how matrices were scaled; on a CPU torch has two of the ways, and so have we."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from funcgrad._base import dtypes
from funcgrad._ops.table import TABLE
from funcgrad._tensor.call import call
from funcgrad._tensor.registry import FUNCTIONS, function
from funcgrad._tensor.tensor import Tensor


class ScalingType(enum.IntEnum):
    """What shares a scale: a whole matrix, a row (of the second matrix: a column), or a block."""

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(enum.IntEnum):
    """In which order the scales of blocks lie in memory."""

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1


FUNCTIONS["nn.functional.ScalingType"], FUNCTIONS["nn.functional.SwizzleType"] = ScalingType, SwizzleType


@function("_scaled_mm_v2")
def scaled_mm_of_lists(
    input: Tensor, mat2: Tensor, scale_a: Sequence[Tensor], recipe_a: Sequence[int], swizzle_a: Sequence[int],
    scale_b: Sequence[Tensor], recipe_b: Sequence[int], swizzle_b: Sequence[int], bias: Tensor | None = None,
    out_dtype: Any = None, contraction_dim: Sequence[int] = (), use_fast_accum: bool = False,
) -> Any:  # fmt: skip
    """Return the product of two scaled matrices, where each has a list of scales, of kinds of them and of orders.

    ValueError: the lists are not of one scale for a whole matrix or for each row, in plain order.
    """
    recipes = [[ScalingType(x) for x in given] for given in (recipe_a, recipe_b)]
    plain = recipes[0] == recipes[1] and recipes[0] in ([ScalingType.TensorWise], [ScalingType.RowWise])
    if not plain or any((*swizzle_a, *swizzle_b)):
        raise ValueError(f"Invalid scaling configuration: {recipes[0]} and {recipes[1]}; a GPU's kernels take blocks")
    return call(TABLE["scaled_mm"], (input, mat2, scale_a[0], scale_b[0], bias, None), (out_dtype, use_fast_accum))


@function("nn.functional.scaled_mm")
def scaled_mm(
    mat_a: Tensor, mat_b: Tensor, scale_a: Any, scale_recipe_a: Any, scale_b: Any, scale_recipe_b: Any,
    swizzle_a: Any = None, swizzle_b: Any = None, bias: Tensor | None = None, output_dtype: Any = dtypes.bfloat16,
    contraction_dim: Sequence[int] = (), use_fast_accum: bool = False,
) -> Any:  # fmt: skip
    """(mat_a * scale_a) @ (mat_b * scale_b) + bias for matrices of 8-bit floats. Shape: (n, m), (m, p), result (n, p).

    scale_a, scale_b: one number (TensorWise), or of shapes (n, 1) and (1, p) (RowWise); so the recipes say.
    """
    first = (_listed(scale_a), _listed(scale_recipe_a), _listed(swizzle_a))
    second = (_listed(scale_b), _listed(scale_recipe_b), _listed(swizzle_b))
    return scaled_mm_of_lists(mat_a, mat_b, *first, *second, bias, output_dtype, contraction_dim, use_fast_accum)


@function("nn.functional.grouped_mm")
def grouped_mm(
    mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Tensor | None = None, out_dtype: Any = None
) -> Any:
    """Return a product for each group, as the experts of a mixture need them; `offs` (int32) says where groups end.

    Shape: mat_a (n, m) and mat_b (groups, m, p), result (n, p); also (groups, n, m) and (m, p), result (n, p), and
    (n, m) and (m, p), result (groups, n, p). Without `offs` both have a dimension of groups.

    >>> rows, experts = ones(3, 4), stack([ones(4, 4), 2 * ones(4, 4)])
    >>> grouped_mm(rows, experts, offs=tensor([1, 3], dtype=int32))
    tensor([[4., 4., 4., 4.],
            [8., 8., 8., 8.],
            [8., 8., 8., 8.]])
    """
    return call(TABLE["grouped_mm"], (mat_a, mat_b, offs, bias), (out_dtype,))


def _listed(given: Any) -> list[Any]:
    return [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
