"""The column of dtypes that torch has no kernel for, and the words in which it refuses them.

XLA adds up, compares and rounds numbers of any dtype; torch does for those it has a kernel for. A row is refused before
it computes: by its first tensor, or by the dtype that its tensors are promoted to. What depends on options or on sizes,
the row sees to itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import scalar_type_name
from funcgrad._base.dtypes import dtype as DType
from funcgrad._ops.table import TABLE, Op

# b: bool, u: uint8, n: int8, int16 and int32, l: int64, c: complex numbers, h: floats of 16 bits.
_LETTERS = {dtypes.bool_: "b", dtypes.uint8: "u", dtypes.int64: "l"}

KERNELS = """
    ceil                    b       ceil_vml_cpu
    floor                   b       floor_vml_cpu
    trunc                   b       trunc_vml_cpu
    frac                    bunl    frac_cpu
    trace                   b       trace
    logcumsumexp            bunl    logcumsumexp_out_cpu
    igamma                  bunlc   igamma_cpu
    igammac                 bunlc   igammac_cpu
    logaddexp2              c       logaddexp2_cpu
    xlogy                   c       xlogy_cpu
    copysign                c       copysign_cpu
    digamma                 c       digamma
    hypot                   c       hypot_cpu
    nextafter               c       nextafter_cpu
    amax                    c       max_values_cpu
    amin                    c       min_values_cpu
    searchsorted            c       searchsorted_out_cpu
    bucketize               c       searchsorted_out_cpu
    segment_reduce          bunlc   _segment_reduce_cpu
    softsign                b       abs_cpu
    cross_entropy           c       log_softmax_lastdim_kernel_impl
    group_norm              bunlc   GroupNormKernelImpl
    native_group_norm       bunlc   GroupNormKernelImpl
    layer_norm              c       LayerNormKernelImpl
    avg_pool1d              bunc    avg_pool2d
    avg_pool2d              bunc    avg_pool2d
    avg_pool3d              bunc    avg_pool3d_out_frame
    max_pool1d              bunlc   max_pool1d_impl
    max_pool2d              bc      max_pool2d
    max_pool3d              bc      max_pool3d
    adaptive_max_pool1d     bunlc   adaptive_max_pool2d
    adaptive_max_pool2d     bunlc   adaptive_max_pool2d
    adaptive_max_pool3d     bunlc   adaptive_max_pool3d_cpu
    max_unpool1d            bunlc   max_unpool2d
    max_unpool2d            bunlc   max_unpool2d
    max_unpool3d            bunlc   max_unpool3d
    conv_transpose1d        bun     slow_conv_transpose2d_out_cpu
    conv_transpose2d        bun     slow_conv_transpose2d_out_cpu
    conv_transpose3d        bun     slow_conv_transpose3d_out_cpu
    im2col                  unl     im2col_out_cpu
    fold                    unl     col2im_out_cpu
    upsample_bilinear2d_aa  bnlc    compute_index_ranges_weights
    bilinear                b       bmm
    bitwise_left_shift      b       lshift_cpu
    bitwise_right_shift     b       rshift_cpu
    i0                      c       i0_vml_cpu
    cross                   b       cross
    cholesky_inverse        bunl    cholesky_inverse_out_cpu
    cholesky_solve          bunl    cholesky_solve_cpu
    special_xlog1py         c       xlog1py_cpu
    special_i0e             c       i0e_cpu
    special_i1              c       i1_cpu
    special_i1e             c       i1e_cpu
    special_ndtri           c       ndtri_cpu
    special_zeta            hc      zeta_cpu
    special_entr            c       entr_cpu
    special_erfcx           hc      erfcx_cpu
    special_log_ndtr        hc      log_ndtr_cpu
    airy_ai                 c       airy_ai_cpu
    bessel_j0               c       bessel_j0_cpu
    bessel_j1               c       bessel_j1_cpu
    bessel_y0               c       bessel_y0_cpu
    bessel_y1               c       bessel_y1_cpu
    modified_bessel_k0      c       modified_bessel_k0_cpu
    modified_bessel_k1      c       modified_bessel_k1_cpu
    scaled_modified_bessel_k0       c   scaled_modified_bessel_k0_cpu
    scaled_modified_bessel_k1       c   scaled_modified_bessel_k1_cpu
    spherical_bessel_j0             c   spherical_bessel_j0_cpu
    chebyshev_polynomial_t          c   chebyshev_polynomial_t_cpu
    chebyshev_polynomial_u          c   chebyshev_polynomial_u_cpu
    chebyshev_polynomial_v          c   chebyshev_polynomial_v_cpu
    chebyshev_polynomial_w          c   chebyshev_polynomial_w_cpu
    shifted_chebyshev_polynomial_t  c   shifted_chebyshev_polynomial_t_cpu
    shifted_chebyshev_polynomial_u  c   shifted_chebyshev_polynomial_u_cpu
    shifted_chebyshev_polynomial_v  c   shifted_chebyshev_polynomial_v_cpu
    shifted_chebyshev_polynomial_w  c   shifted_chebyshev_polynomial_w_cpu
    hermite_polynomial_h            c   hermite_polynomial_h_cpu
    hermite_polynomial_he           c   hermite_polynomial_he_cpu
    laguerre_polynomial_l           c   laguerre_polynomial_l_cpu
    legendre_polynomial_p           c   legendre_polynomial_p_cpu
"""
CHECKS = """
    max_dim            c      max(): does not support complex input
    min_dim            c      min(): does not support complex input
    frexp              bunlc  torch.frexp() only supports floating-point dtypes
    deg2rad            c      deg2rad is not supported for complex tensors.
    rad2deg            c      rad2deg is not supported for complex tensors.
    isposinf           c      isposinf does not support complex inputs.
    isneginf           c      isneginf does not support complex inputs.
    heaviside          c      heaviside is not yet implemented for complex tensors.
    isin               bc     Unsupported input type encountered for isin(): {}
    nansum             c      nansum on CPU does not support complex inputs
    nanmean            c      nansum on CPU does not support complex inputs
    cov                b      cov(): bool dtype is not supported for input
    corrcoef           b      cov(): bool dtype is not supported for input
    mvlgamma           b      The input tensor may not be a boolean tensor.
    cosine_similarity  bunlc  expected common dtype to be floating point, yet common dtype is {}
    cdist              bunlc  cdist only supports floating-point dtypes, X1 got: {}
    dist               unl    norm(): input dtype should be either floating point or complex. Got {} instead.
    pdist              bunlc  pdist only supports floating-point dtypes
    vecdot             bunl   linalg.vecdot: Expected a floating point or complex tensor as input. Got {}
    renorm             bunl   linalg.vector_norm: Expected a floating point or complex tensor as input. Got {}
"""


class Lacking(NamedTuple):
    """The dtypes that one row does not take, by their letters, and the error with which torch refuses them."""

    letters: str
    error: type[Exception]
    words: str

    def refuse(self, row: Op, inputs: Sequence[Any]) -> None:
        """Raise the error where a row's tensors have, or are promoted to, such a dtype."""
        given = [x for x in inputs if hasattr(x, "dtype")]
        if not given:
            return
        as_given = row.promote is None or row.promote == "float"  # which makes floats of integers
        first = next((x for x in given if x.dtype.kind == "c"), given[0]) if row.promote == "float" else given[0]
        kind = dtypes.of_numpy(first.dtype) if as_given else row.common_dtype(inputs)
        if _letter(kind) in self.letters:
            raise self.error(self.words.format(scalar_type_name(kind)))


def _letter(kind: DType) -> str:
    if kind.is_differentiable:
        return "c" if kind.is_complex else "h" if kind.itemsize == 2 else "f"
    return _LETTERS.get(kind, "n")


def _lines(table: str) -> list[list[str]]:
    return [line.split(maxsplit=2) for line in table.strip().splitlines()]


def fill() -> None:
    """Enter the lists into the table."""
    for name, letters, kernel in _lines(KERNELS):
        words = f"\"{kernel}\" not implemented for '{{}}'"
        TABLE[name].lacks = Lacking(letters, NotImplementedError, words).refuse
    for name, letters, words in _lines(CHECKS):
        TABLE[name].lacks = Lacking(letters, RuntimeError, words).refuse
