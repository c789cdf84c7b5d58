"""Rows that multiply and sum over chosen dimensions: einsum, tensordot, chains of products, cross, powers."""

from __future__ import annotations

import string
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base import promotion
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.dtypes import int64, of_numpy
from funcgrad._base.promotion import promote_types
from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.checks import c_name, require_scalar_type, scalar_name
from funcgrad._ops.dims import dim_of
from funcgrad._ops.table import Array, Arrays, op

_LETTERS = string.ascii_uppercase + string.ascii_lowercase  # torch sorts the letters of an implicit result so


def _terms(left: str, operands: Arrays) -> list[str]:
    """Return the letters of each operand, with "." in the place of an ellipsis."""
    start, terms = 0, []
    for place, term in enumerate(left.split(",")):
        if place == len(operands):
            raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
        terms.append(_letters(term, start, place))
        start += len(term) + 1
    if len(terms) != len(operands):
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    return terms


def _letters(term: str, start: int, operand: int | None) -> str:
    """Return the letters of one term. start: its place in the equation; operand: which one's, None for the result."""
    owner, again, which = f"operand {operand}", "for which an ellipsis", ""
    if operand is None:
        owner, again, which = "output", "but an ellipsis (...)", " (...)"
    found, place = "", 0
    while place < len(term):
        letter = term[place]
        if letter == ".":
            if "." in found:
                raise RuntimeError(f"einsum(): found '.' for {owner} {again} was already found")
            if term[place : place + 3] != "...":
                raise RuntimeError(f"einsum(): found '.' for {owner} that is not part of any ellipsis{which}")
            place += 2
        elif letter not in _LETTERS + " ":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {start + place} in the equation string, subscripts must "
                "be in [a-zA-Z]"
            )
        found += letter.strip()
        place += 1
    return found


def _spelled_out(terms: Sequence[str], operands: Arrays) -> tuple[list[str], str]:
    """Replace each ellipsis by letters that the equation does not use; return the terms, and the longest ellipsis."""
    unused = [letter for letter in _LETTERS if not any(letter in term for term in terms)]
    longest, spelled = "", []
    for place, (term, operand) in enumerate(zip(terms, operands, strict=True)):
        extra = operand.ndim - len(term.replace(".", ""))
        if extra < 0 or (extra > 0 and "." not in term):
            are, end = ("is more than", "") if "." in term else ("does not match", " and no ellipsis was given")
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(term.replace('.', ''))}) {are} the "
                f"number of dimensions ({operand.ndim}) for operand {place}{end}"
            )
        letters = "".join(unused[:extra][::-1])
        longest = max(longest, letters, key=len)
        spelled.append(term.replace(".", letters))
    return spelled, longest


def _sizes(terms: Sequence[str], operands: Arrays) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for place, (term, operand) in enumerate(zip(terms, operands, strict=True)):
        own: dict[str, int] = {}
        for letter, size in zip(term, operand.shape, strict=True):
            if own.setdefault(letter, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {letter} is repeated for operand {place} but the sizes don't match, {size} "
                    f"!= {own[letter]}"
                )
            seen = sizes.get(letter, 1)
            if size != seen and 1 not in (size, seen):
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {size} for operand {place} which does not broadcast with "
                    f"previously seen size {seen}"
                )
            sizes[letter] = seen if size == 1 else size
    return sizes


def _result_letters(terms: Sequence[str], result: str | None, ellipsis: str) -> str:
    everything = "".join(terms)
    if result is None:
        return ellipsis + "".join(x for x in _LETTERS if everything.count(x) == 1 and x not in ellipsis)
    for letter in result.replace(".", ""):
        if result.count(letter) > 1:
            raise RuntimeError(f"einsum(): output subscript {letter} appears more than once in the output")
        if letter not in everything:
            raise RuntimeError(
                f"einsum(): output subscript {letter} does not appear in the equation for any input operand"
            )
    return result.replace(".", ellipsis)


def summed_letters(equation: str) -> set[str]:
    """Return the letters of an einsum that its result lacks."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    return {x for x in left if x not in ",." and (x not in right if arrow else left.count(x) > 1)}


def _einsum_node(shapes: Sequence[Any], statics: Sequence[Any]) -> Any:
    summed = summed_letters(statics[0])
    if len(shapes) > 1:
        return "ViewBackward0" if summed else "MulBackward0"
    return ("SumBackward1", ("PermuteBackward0", "operands")) if summed else "PermuteBackward0"


@op(grad=_einsum_node, names="einsum")
def einsum(equation: str, operands: Arrays) -> Array:
    """Multiply tensors and sum over the letters of `equation` that its result lacks: "bij,bjk->bik".

    A letter may be repeated in one operand (a diagonal); "..." stands for all dimensions without a letter, which
    broadcast, as do dimensions of size 1. Without "->" the result has the letters that occur once, sorted.
    Operands of several dtypes are promoted where no letter is summed over that two of them have: there is no matrix
    product then.
    """
    left, arrow, right = equation.partition("->")
    terms, ellipsis = _spelled_out(_terms(left, operands), operands)
    result = _result_letters(terms, _letters(right, len(left) + 2, None) if arrow else None, ellipsis)
    sizes = _sizes(terms, operands)
    kept_terms, kept = [], []
    for term, operand in zip(terms, operands, strict=True):
        broadcast = [d for d, letter in enumerate(term) if operand.shape[d] == 1 != sizes[letter]]
        kept_terms.append("".join(letter for d, letter in enumerate(term) if d not in broadcast))
        kept.append(operand.reshape([n for d, n in enumerate(operand.shape) if d not in broadcast]))
    return jnp.einsum(f"{','.join(kept_terms)}->{result}", *_of_one_dtype(kept_terms, kept, sizes, result))


def _of_one_dtype(terms: Sequence[str], operands: Arrays, sizes: dict[str, int], result: str) -> Arrays:
    """Promote what is multiplied number by number, with integers that are summed to int64; matrix products refuse."""
    summed = {letter for letter in sizes if letter not in result and (sizes[letter] != 1 or len(terms) == 1)}
    if any(sum(letter in term for term in terms) > 1 for letter in summed):
        for operand in operands[1:]:
            if operand.dtype != operands[0].dtype:
                raise RuntimeError(f"expected scalar type {scalar_name(operands[0])} but found {scalar_name(operand)}")
        return operands
    common = reduce(promote_types, (of_numpy(operand.dtype) for operand in operands))
    if summed and not (common.is_floating_point or common.is_complex):
        common = int64
    return [operand.astype(common.numpy) for operand in operands]


@op(grad="ViewBackward0", names="tensordot")
def tensordot(a: Array, b: Array, dims: Any = 2) -> Array:
    """Multiply and sum over pairs of dimensions: the last `dims` of `a` with the first of `b`, or dims=(of a, of b)."""
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        left, right = tuple(range(-dims, 0)), tuple(range(dims))
    else:
        left, right = ((d,) if isinstance(d, int) else tuple(d) for d in dims)
    if len(left) != len(right):
        raise RuntimeError("both dimension lists should have same length")
    if a.dtype != b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    lefts, rights = [dim_of(a.ndim, d) for d in left], [dim_of(b.ndim, d) for d in right]
    for given_left, given_right, d, e in zip(left, right, lefts, rights, strict=True):
        n, m = a.shape[d], b.shape[e]
        if n == m:
            continue
        if 1 not in (n, m):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {n} in dim {given_left} and second has size "
                f"{m} in dim {given_right}"
            )
        a = a.sum(d, keepdims=True, dtype=a.dtype) if m == 1 else a
        b = b.sum(e, keepdims=True, dtype=b.dtype) if n == 1 else b
    return lax.dot_general(a, b, ((lefts, rights), ((), ())))


def _as_dimensioned(ranked: Sequence[tuple[int, DType]]) -> DType:
    return promotion.result_type([(promotion.DIMENSIONED, dtype) for _, dtype in ranked])


@op(grad="UnsafeViewBackward0", promote=_as_dimensioned)
def kron(input: Array, other: Array) -> Array:
    """Return the Kronecker product: each element of `input` times the whole of `other`.

    Shape: input (a, b), other (c, d), result (a c, b d); a missing leading dimension counts as 1.
    """
    ndim = max(input.ndim, other.ndim)
    left, right = ((1,) * (ndim - x.ndim) + x.shape for x in (input, other))
    grid = input.reshape([n for size in left for n in (size, 1)]) * other.reshape([n for m in right for n in (1, m)])
    return grid.reshape([n * m for n, m in zip(left, right, strict=True)])


def _chain(tensors: Arrays, name: str) -> Array:
    if len(tensors) < 2:
        raise RuntimeError(f"{name}(): expected at least 2 tensors but got {len(tensors)}")
    for place, tensor in enumerate(tensors):
        ends = place in (0, len(tensors) - 1)
        if tensor.ndim != 2 and not (ends and tensor.ndim == 1):
            which = {0: "the first tensor", len(tensors) - 1: "the last tensor"}.get(place, f"tensor {place}")
            expected = "1D or 2D" if ends else "2D"
            raise RuntimeError(f"{name}(): {which} must be {expected} but got {tensor.ndim}D")
        if tensor.dtype != tensors[0].dtype:
            raise RuntimeError(f"{name}(): all tensors must have be the same dtype but tensor 0 is "
                               f"{c_name(tensors[0])} and tensor {place} {c_name(tensor)}")  # fmt: skip
    for place, (a, b) in enumerate(pairwise(tensors)):
        if a.shape[-1] != b.shape[0]:
            raise RuntimeError(
                f"{name}(): tensors {place} and {place + 1} with shapes {list(a.shape)} and {list(b.shape)} cannot be "
                "multiplied"
            )
    if len(tensors) == 2:
        return jnp.matmul(*tensors)
    return jnp.linalg.multi_dot(tensors)


@op(grad="ViewBackward0", names="chain_matmul")
def chain_matmul(matrices: Arrays) -> Array:
    """Multiply matrices in the order that costs least."""
    return matrices[0] if len(matrices) == 1 else _chain(matrices, "multi_dot")


@op(grad="ViewBackward0", names="linalg.multi_dot")
def multi_dot(tensors: Arrays) -> Array:
    """Multiply two or more matrices in the order that costs least; the first and the last may be vectors."""
    return _chain(tensors, "multi_dot")


def _crossed(input: Array, other: Array, dim: int) -> Array:
    if input.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    place = dim_of(input.ndim, dim)
    if input.shape[place] != 3 or other.shape[place] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[place]} and "
            f"{other.shape[place]}"
        )
    broadcast_shape(input.shape, other.shape)
    require_scalar_type(input, other)
    return jnp.cross(input, other, axis=place)


@op(grad="LinalgCrossBackward0")
def cross(input: Array, other: Array, dim: int | None = None) -> Array:
    """Return the cross product of vectors of size 3 along `dim`, or else along the first dimension of size 3."""
    if dim is None:
        dim = next((d for d, length in enumerate(input.shape) if length == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return _crossed(input, other, dim)


@op(grad="LinalgCrossBackward0", names="linalg.cross")
def linalg_cross(input: Array, other: Array, *, dim: int = -1) -> Array:
    """Return the cross product of vectors of size 3 along `dim`."""
    if input.ndim == 0 and other.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return _crossed(input, other, dim)


def _power_node(shapes: Sequence[Any], statics: Sequence[Any]) -> str:
    n, rank = statics[0], len(shapes[0])
    if n < 0:
        return "LinalgInvExBackward0" if n == -1 else "MmBackward0" if rank == 2 else "UnsafeViewBackward0"
    return "CloneBackward0" if n < 2 else "MmBackward0" if rank == 2 else "UnsafeViewBackward0"


@op(grad=_power_node, names="matrix_power .matrix_power linalg.matrix_power")
def matrix_power(input: Array, n: int) -> Array:
    """Return the `n`-th power of square matrices; of their inverses where `n` is negative.

    Shape: input (*, n, n), result the same.
    """
    if input.ndim < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    if input.shape[-1] != input.shape[-2]:
        raise RuntimeError(
            f"linalg.matrix_power: A must be batches of square matrices, but they are {input.shape[-2]} by "
            f"{input.shape[-1]} matrices"
        )
    if n == 0:
        return jnp.broadcast_to(jnp.eye(input.shape[-1], dtype=input.dtype), input.shape) + 0 * input
    return jnp.linalg.matrix_power(input, n)


@op(grad="TraceBackward0")
def trace(input: Array) -> Array:
    """Return the sum of a matrix's diagonal; integers give int64."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    return jnp.trace(input, dtype=np.int64 if input.dtype.kind in "biu" else input.dtype)


def _bilinear_node(shapes: Sequence[Any], statics: Sequence[Any]) -> Any:
    factors = (("ViewBackward0", "input1"), "weight", ("ViewBackward0", "input2"))
    product = ("ViewBackward0", ("TrilinearBackward0", *factors))
    return product if shapes[3] is None else ("AddBackward0", product, "bias")


@op(grad=_bilinear_node, names="nn.functional.bilinear bilinear")
def bilinear(input1: Array, input2: Array, weight: Array, bias: Array | None = None) -> Array:
    """Return input1 @ weight[k] @ input2 + bias[k] for each k. Shape: (*, n), (*, m), (k, n, m), (k,) -> (*, k)."""
    if input1.ndim != input2.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}")
    for d, (n, m) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if n != m:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {d}: got {n} and {m}")
    for place, x in enumerate((input1, input2), 1):
        if x.shape[-1] != weight.shape[place]:
            raise RuntimeError(
                f"bilinear(): input{place} size does not match weight size: got {x.shape[-1]} but expected "
                f"{weight.shape[place]}"
            )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {weight.shape[0]}"
        )
    given = {"input1": input1, "input2": input2, "weight": weight, "bias": bias}
    kinds = {name: c_name(x) for name, x in given.items() if x is not None}
    if len(set(kinds.values())) > 1:
        listed = ", ".join(f"{name}: {kind}" for name, kind in kinds.items())
        raise RuntimeError(f"All tensors must have the same dtype, got {listed}")
    product = jnp.einsum("...n,knm,...m->...k", input1, weight, input2)
    return product if bias is None else product + bias
