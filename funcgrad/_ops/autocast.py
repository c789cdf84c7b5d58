"""The autocast column of the table: in which precision a row computes under autocast, on accelerators and on CPUs.

The lists are torch's (2.13): what is bound by matrix products goes down, what adds up many numbers or has a wide range
goes up, and rows of several tensors that must agree go to the widest of them. What is not named takes what it gets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._ops.contractions import summed_letters
from funcgrad._ops.table import TABLE

LOWER = "lower"  # to autocast's own dtype
FLOAT32 = "float32"
FLOAT32_UNLESS_DTYPE = "float32 unless dtype"  # ... where the call says no dtype itself
WIDEST = "widest"  # to the widest floating dtype among the tensors
AS_STATE = "as the state"  # the widest of the first state, which comes second, and autocast's own
BANNED = "banned"  # its gradient does not fit into float16

Policy = str | Callable[[Sequence[Any], tuple[Any, ...]], str | None]  # or a function of a call's inputs and statics

_PRODUCTS = """
    conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d prelu matmul mm bmm linear addmm addbmm
    baddbmm chain_matmul multi_dot matrix_power inner vecdot scaled_dot_product_attention rnn_tanh rnn_relu
    rnn_tanh_cell rnn_relu_cell
"""
_LOSSES = """
    cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy_with_logits kl_div
    poisson_nll_loss hinge_embedding_loss margin_ranking_loss cosine_embedding_loss triplet_margin_loss soft_margin_loss
    multi_margin_loss multilabel_margin_loss cdist local_response_norm
"""


def _reflected(inputs: Sequence[Any], statics: tuple[Any, ...]) -> str | None:
    return None if len(statics) < 2 or statics[1] == "constant" else FLOAT32


def _unless_packed(inputs: Sequence[Any], statics: tuple[Any, ...]) -> str:
    """Return an LSTM's policy: sequences of several lengths, which come last, are no one kernel in torch."""
    return LOWER if inputs[-1] is None else AS_STATE


def _multiplies_matrices(inputs: Sequence[Any], statics: tuple[Any, ...]) -> str | None:
    """Return an einsum's policy: only one that sums over what two operands share is a matrix product."""
    terms = statics[0].partition("->")[0].split(",")
    is_product = any(sum(letter in term for term in terms) > 1 for letter in summed_letters(statics[0]))
    return LOWER if is_product else None


ON_ACCELERATORS: dict[Policy, str] = {
    LOWER: _PRODUCTS + "mv addmv addr lstm gru lstm_cell gru_cell",
    FLOAT32: _LOSSES
    + """
    acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow softplus layer_norm rms_norm
    group_norm native_layer_norm native_group_norm frobenius_norm nuclear_norm norm linalg_norm normalize
    pairwise_distance cosine_similarity gaussian_nll_loss dist pdist renorm logsumexp interpolate
    """,
    FLOAT32_UNLESS_DTYPE: "prod softmax softmin log_softmax cumprod cumsum sum vector_norm matrix_norm",
    _multiplies_matrices: "einsum",
    WIDEST: "addcdiv addcmul atan2 bilinear cross dot vdot grid_sample index_put tensordot scatter_add",
    BANNED: "binary_cross_entropy",
}
ON_CPUS: dict[Policy, str] = {
    LOWER: _PRODUCTS + "tensordot",
    _unless_packed: "lstm",
    AS_STATE: "gru lstm_cell gru_cell",
    FLOAT32: _LOSSES
    + """
    avg_pool3d adaptive_avg_pool3d max_pool3d adaptive_max_pool3d max_unpool2d max_unpool3d
    binary_cross_entropy ctc_loss grid_sample polar prod quantile nanquantile stft trace view_as_complex
    cholesky linalg_cholesky cholesky_ex cholesky_inverse cholesky_solve inv inv_ex lu_solve householder_product ormqr
    pinverse geqrf qr old_qr svd old_svd svdvals eig eigvals eigh eigvalsh cond matrix_rank lstsq solve
    triangular_solve tensorinv tensorsolve fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn fft_ifftn fft_rfft fft_irfft
    fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn fft_hfft fft_ihfft
    """,
    _reflected: "pad",
    _multiplies_matrices: "einsum",
    WIDEST: "cat stack index_copy",
}


def fill() -> None:
    """Enter both lists into the table."""
    for place, lists in enumerate((ON_ACCELERATORS, ON_CPUS)):
        for policy, names in lists.items():
            for name in names.split():
                both: list[Policy | None] = list(TABLE[name].autocast or (None, None))
                both[place] = policy
                TABLE[name].autocast = tuple(both)


fill()
