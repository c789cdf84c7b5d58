"""The memory column of the table: in which order of its dimensions torch's result of a row lies in memory.

XLA lays out arrays as it likes. But torch's order can be seen: random numbers fill a tensor in the order of its memory,
`view` wants steps that fit, `stride()` tells them. So it is known of each array, as its shape is, and costs as little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from funcgrad._ops.dims import dim_of
from funcgrad._ops.strides import (
    PICTURES,
    Dims,
    Order,
    dense_strides,
    is_channels_last,
    order_of,
    strides_of_view,
    viewed,
)
from funcgrad._ops.table import TABLE

Operands: TypeAlias = Sequence[tuple[Dims, Order]]  # of each input, its shape and order
Rule: TypeAlias = Callable[[Operands, tuple[Any, ...], Dims], Order]  # (operands, statics, the result's shape)


def elementwise(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    """Return the order of what is computed element by element, as torch's TensorIterator chooses it.

    Two dimensions lie as the first operand says that steps through both. Source: ATen/TensorIterator.cpp.
    """
    if all(order is None for _, order in operands):
        return None
    fitting = [(shape, order) for shape, order in operands if len(shape) <= len(result)]
    return _iterated([_broadcast_strides(shape, order, result) for shape, order in fitting], result)


def _iterated(steps: Sequence[Dims], result: Dims) -> Order:
    """Return the order in which TensorIterator walks through operands with these strides (0: it stays there)."""
    quickest = list(range(len(result)))[::-1]
    for i in range(1, len(quickest)):
        moving = i
        for other in range(i - 1, -1, -1):
            comparison = _compare(steps, result, quickest[other], quickest[moving])
            if comparison < 0:
                break
            if comparison > 0:
                quickest[other], quickest[moving] = quickest[moving], quickest[other]
                moving = other
    return order_of(result, dense_strides(result, tuple(reversed(quickest))))


def _broadcast_strides(shape: Dims, order: Order, result: Dims) -> Dims:
    new = len(result) - len(shape)
    kept = zip(shape, result[new:], dense_strides(shape, order), strict=True)
    return (*[0] * new, *(0 if n == 1 != m else stride for n, m, stride in kept))


def _compare(steps: Iterable[Dims], shape: Dims, dim0: int, dim1: int) -> int:
    """Return 1 where dim0 has longer steps than dim1, -1 where it has shorter ones, 0 where nobody says."""
    for stride in steps:
        if stride[dim0] and stride[dim1]:
            if stride[dim0] != stride[dim1]:
                return 1 if stride[dim0] > stride[dim1] else -1
            if shape[dim0] > shape[dim1]:
                return 1
    return 0


def elementwise_of_batches(operands: Operands, mapped: Sequence[tuple[bool, ...]], result: Dims) -> Order:
    """Return the order of what is computed element by element of each entry of batches, which come first in `result`.

    mapped: of each operand, whether each batch is its own too: then that is one of its first dimensions.
    """
    whole = []
    for (shape, order), batches in zip(operands, mapped, strict=True):
        own = [d for d, is_mapped in enumerate(batches) if is_mapped]
        if len(shape) - len(own) > len(result) - len(batches):  # it is added up
            continue
        places = [*own, *range(len(result) - len(shape) + len(own), len(result))]
        new = [d for d in range(len(result)) if d not in places]
        sizes = dict(zip(places, shape, strict=True))
        inner = range(len(places)) if order is None else order
        whole.append((tuple(sizes.get(d, 1) for d in range(len(result))), (*new, *(places[d] for d in inner))))
    return elementwise(whole, (), result)


def like_first(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    """Return the order of a changed copy of the first tensor."""
    return elementwise(operands[:1], statics, result)


def of_pictures(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    """Return the order that torch keeps for pictures: channels last, or none."""
    shape, order = operands[0]
    return PICTURES.get(len(result)) if is_channels_last(shape, dense_strides(shape, order)) else None


def _of_convolution(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    """Return channels last where the pictures or the weights lie so; a single picture is taken for a batch of one."""
    is_single = len(result) == 3
    pictures, weight = operands[:2]
    if is_single:
        shape, order = pictures
        pictures = (1, *shape), order and (0, *(d + 1 for d in order))
    batch = (1, *result) if is_single else result
    order = of_pictures([pictures], statics, batch) or of_pictures([weight], statics, batch)
    return tuple(d - 1 for d in order[1:]) if order and is_single else order


def _of_padded(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    is_circular = len(statics) > 1 and statics[1] == "circular"
    return None if is_circular else of_pictures(operands, statics, result)


def _of_resized(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    is_volume_mean = len(result) == 5 and len(statics) > 2 and statics[2] == "area"
    return None if is_volume_mean else of_pictures(operands, statics, result)


def _of_joined(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    orders = [of_pictures([(shape, order)], statics, result) for shape, order in operands if shape != (0,)]
    return orders[0] if orders and None not in orders else None


def _of_rolled(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    """Return the order of two parts that are joined; None where all elements are moved on in one row."""
    return _of_joined(operands[:1], (), result) if statics[-1] else None


def _of_stacked(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    """Return the order of what torch joins along the dimension behind the new one, and parts there."""
    dim = dim_of(len(result), statics[0] if statics else 0)
    if dim == len(result) - 1 or not operands:
        return None
    joined = (*result[:dim], result[dim] * result[dim + 1], *result[dim + 2 :])
    strides = viewed(joined, dense_strides(joined, _of_joined(operands, (), joined)), result)
    return None if strides is None else order_of(result, strides)


def _in_columns(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    """Return the order of matrices that LAPACK has written: column by column."""
    rank = len(result)
    if rank < 2 or rank < len(operands[0][0]):
        return None
    return order_of(result, dense_strides(result, (*range(rank - 2), rank - 1, rank - 2)))


def _as_it_was(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    return operands[0][1] if operands[0][0] == result else None


def _of_powers(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    return elementwise(operands, statics, result) if operands[0][0] else None  # of a number: a new tensor


def _of_differences(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    is_joined = any(shape for shape, _ in operands[1:])
    return None if is_joined else like_first(operands, statics, result)


def _turned(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    k: int = statics[0] if statics else 1
    dims: Dims = statics[1] if len(statics) > 1 else (0, 1)
    if k % 4 == 0:
        return None
    shape = operands[0][0]
    steps = list(dense_strides(shape, like_first(operands, statics, shape)))
    if k % 2:
        first, second = dims
        steps[first], steps[second] = steps[second], steps[first]
    return order_of(result, tuple(steps))


def _indexed(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    """Return the order of input[i, :, j]: the input steps through its own dimensions, the indices through theirs."""
    (shape, order), *indices = operands
    layout: tuple[int | None, ...] = (*statics[0], *[None] * (len(shape) - len(statics[0])))
    taken = [d for d, which in enumerate(layout) if which is not None]
    if order is None or not taken:
        return order
    own = dense_strides(shape, order)
    count = len(result) - (len(shape) - len(taken))  # of the dimensions that the indices have together
    together = taken[-1] - taken[0] + 1 == len(taken)
    before = [d for d in range(taken[0]) if layout[d] is None] if together else []
    after = [d for d in range(len(shape)) if layout[d] is None and d not in before]
    steps = [(*(own[d] for d in before), *[0] * count, *(own[d] for d in after))]
    for other, other_order in indices:
        if len(other) <= count:
            inner = _broadcast_strides(other, other_order, result[len(before) : len(before) + count])
            steps.append((*[0] * len(before), *inner, *[0] * len(after)))
    return _iterated(steps, result)


def _transformed(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    """Return the order of a Fourier transform: the other dimensions first, each group by falling steps."""
    (shape, order), rank = operands[0], len(result)
    sizes, dims = (*statics, *(None, None)[len(statics) :])[:2]
    if dims is None:
        dims = range(-len(sizes), 0) if isinstance(sizes, tuple) else range(rank)
    along = [d % rank for d in ((dims,) if isinstance(dims, int) else dims)]
    lengths = (sizes,) if isinstance(sizes, int) else sizes or ()
    is_padded = any(n > shape[d] for n, d in zip(lengths, along, strict=False))
    steps = dense_strides(shape, None if is_padded else order)
    found = sorted(range(rank), key=lambda d: (d in along, -steps[d]))
    return order_of(result, dense_strides(result, tuple(found)))


def _summed(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    """Return the order of an einsum: what both factors of the last product share, what the left one has, the right one.

    The right one's come before where the result has them all there. Source: ATen/native/Linear.cpp, sumproduct_pair.
    """
    terms, _, wanted = statics[0].replace(" ", "").partition("->")
    if "." in terms or len(wanted) != len(result):
        return None
    if len(operands) == 1 and sorted(terms) == sorted(wanted):  # permute
        steps = dense_strides(*operands[0])
        return order_of(result, tuple(steps[terms.index(letter)] for letter in wanted))
    *lefts, right = terms.split(",")
    sizes = {letter: n for term, (shape, _) in zip(terms.split(","), operands, strict=True)
             for letter, n in zip(term, shape, strict=True)}  # fmt: skip
    left = {letter for term in lefts for letter in term if sizes[letter] != 1}
    kept_right = {letter for letter in right if sizes[letter] != 1}
    if not (left & kept_right) - set(wanted):  # nothing to add up: torch multiplies element by element
        return None

    shared = [d for d, letter in enumerate(wanted) if letter in left and letter in kept_right]
    of_left = [d for d, letter in enumerate(wanted) if letter in left and letter not in kept_right]
    of_right = [d for d, letter in enumerate(wanted) if letter not in left]
    groups = (of_right, of_left) if of_left and of_right and of_right[-1] < of_left[0] else (of_left, of_right)
    return order_of(result, dense_strides(result, tuple(d for group in (shared, *groups) for d in group)))


def _of_rows(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    """Return the order of what torch pools as pictures that are one pixel high."""
    shape, order = operands[0]
    return (0, 2, 1) if len(result) == 3 and shape[1] > 1 and order == (0, 2, 1) else None


def _attended(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    """Return the order of attention: the query's in torch's own kernel, whose rows are not strewn or dropped out."""
    (mask, _), (dropped, _) = (*operands[3:], ((), None), ((), None))[:2]
    order = like_first(operands, statics, result) if len(result) == 4 and not dropped else None
    return None if order is None or order[-1] != 3 or len(mask) not in (0, 2, 4) else order


def _of_spectra(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    """Return the order of spectra, which torch computes frame by frame."""
    has_parts = len(statics) > 7 and statics[7] is False
    rank = len(result) - has_parts
    order = (*range(rank - 2), rank - 1, rank - 2, *range(rank, len(result)))
    return order_of(result, dense_strides(result, order))


def _viewing(name: str) -> Rule:
    def of_view(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
        shape, order = operands[0]
        strides = strides_of_view(name, statics, shape, dense_strides(shape, order), result)
        return None if strides is None else order_of(result, strides)

    return of_view


def _given(operands: Operands, statics: tuple[Any, ...], result: Dims) -> Order:
    return statics[0]


_ELEMENTWISE = """
    relu relu6 hardtanh leaky_relu elu selu celu gelu silu mish hardsigmoid hardswish softplus softsign tanhshrink
    softshrink hardshrink threshold prelu glu
    add sub rsub mul div floor_divide remainder fmod neg positive reciprocal abs addcmul addcdiv lerp maximum minimum
    fmax fmin clamp clamp_min clamp_max hypot atan2 copysign logaddexp logaddexp2 ldexp
    eq ne lt le gt ge isclose isnan isinf isfinite isposinf isneginf isreal signbit logical_not logical_and logical_or
    logical_xor bitwise_not bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift gcd lcm where
    where_method
    exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid
    logit floor ceil trunc frac round deg2rad rad2deg sign sgn angle conj_physical resolve_conj complex polar
    nan_to_num frexp float_power square
    erf erfc erfinv lgamma digamma polygamma polygamma_method igamma igammac sinc i0 special_i0e special_i1 special_i1e
    special_ndtr special_ndtri special_log_ndtr special_entr special_erfcx xlogy special_xlog1py special_zeta heaviside
    nextafter bessel_j0 bessel_j1 bessel_y0 bessel_y1 spherical_bessel_j0 modified_bessel_k0 modified_bessel_k1
    scaled_modified_bessel_k0 scaled_modified_bessel_k1 airy_ai
    chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w
    shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
    shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l
    legendre_polynomial_p
    mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div
    poisson_nll_loss margin_ranking_loss hinge_embedding_loss gaussian_nll_loss native_dropout_backward
"""
_LIKE_FIRST = """
    clone to_dtype flip fliplr flipud fill fill_tensor zero fill_diagonal copy_over sort argsort msort index_fill
    index_put masked_set masked_move put select_scatter diagonal_scatter as_strided_scatter slice_scatter normalize
    local_response_norm addr
"""
_OF_PICTURES = """
    max_pool2d max_pool3d adaptive_max_pool2d avg_pool2d adaptive_avg_pool2d max_unpool2d batch_norm_train
    batch_norm_eval native_batch_norm_train native_batch_norm_eval constant_pad_nd pixel_shuffle pixel_unshuffle
    channel_shuffle group_norm lp_pool2d upsample_bilinear2d_aa max_pool2d_with_indices_backward
"""
_IN_COLUMNS = """
    linalg_cholesky cholesky cholesky_ex cholesky_inverse cholesky_solve inv inv_ex qr old_qr eig eigh geqrf
    householder_product ormqr ldl_factor ldl_factor_ex ldl_solve lu_factor lu_factor_ex solve solve_ex
    solve_triangular triangular_solve lstsq svd old_svd
"""
_FOURIER = "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 hfft2 ihfft2 fftn ifftn rfftn irfftn hfftn ihfftn"

_RULES: dict[Rule, str] = {
    elementwise: _ELEMENTWISE,
    like_first: _LIKE_FIRST,
    of_pictures: _OF_PICTURES,
    _of_convolution: "conv2d conv_transpose2d",
    _of_padded: "pad",
    _of_resized: "interpolate",
    _of_joined: "cat hstack vstack dstack column_stack",
    _of_rolled: "roll",
    _of_stacked: "stack",
    _of_powers: "pow",
    _of_differences: "diff",
    _as_it_was: "sum_to_size",
    _turned: "rot90",
    _indexed: "index",
    _summed: "einsum",
    _of_rows: "avg_pool1d adaptive_avg_pool1d adaptive_max_pool1d lp_pool1d",
    _attended: "scaled_dot_product_attention",
    _of_spectra: "stft",
    _transformed: " ".join(f"fft_{name}" for name in _FOURIER.split()),
    _in_columns: _IN_COLUMNS,
    _given: "in_order",
}

for _rule, _names in _RULES.items():
    for _name in _names.split():
        TABLE[_name].memory = _rule
for _name, _row in TABLE.items():
    if _row.write_back is not None:
        assert _row.memory is None, f"{_name} is a view: its order follows from its strides"
        _row.memory = _viewing(_name)
