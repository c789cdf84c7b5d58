"""What functions warn of before they call their row: what is hardly ever meant, and torch's older spellings."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.warning import warn, warn_once
from funcgrad._ops.checks import size_text
from funcgrad._ops.loss_reduction import reduction_of
from funcgrad._tensor.tensor import Tensor


def warn_of_sizes(input: Any, target: Any) -> None:
    """Warn where sizes differ, (N, 1) against (N) say: a mean over all pairs is hardly ever what was meant."""
    sizes, wanted = getattr(target, "shape", None), getattr(input, "shape", None)
    if sizes != wanted and sizes is not None and wanted is not None:
        warn(
            f"Using a target size ({size_text(sizes)}) that is different to the input size "
            f"({size_text(wanted)}). This will likely lead to incorrect results due to broadcasting. Please "
            "ensure they have the same size."
        )


def warn_of_lost_history() -> None:
    """Warn, once, that a number has no history."""
    warn_once(
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
        "Consider using tensor.detach() first."
    )


def warn_of_many_arrays() -> None:
    """Warn, once, that a tensor is made of many arrays."""
    warn_once(
        "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a "
        "single numpy.ndarray with numpy.array() before converting to a tensor."
    )


def warn_of_old_scatter(src: Any, reduce: str | None) -> None:
    """Warn, once, of tensors that `scatter` adds or multiplies."""
    if reduce is not None and isinstance(src, Tensor):
        warn_once(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future "
            "PyTorch release. Use torch.scatter_reduce instead for more reduction options."
        )


def warn_of_beta() -> None:
    """Warn, once, that torch may change what `index_reduce` is."""
    warn_once("index_reduce() is in beta and the API may change at any time.")


def warn_of_old_norm(name: str, instead: str) -> None:
    """Warn, once, of a norm that `instead` gives too."""
    warn_once(
        f"at::{name} is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch "
        f"release. Please use `linalg.{instead}, dim, keepdim)` instead"
    )


def warn_of_scattered(boundaries: Any, input: Any) -> None:
    """Warn, once of each, of numbers to search, or to search in, that do not lie in a row."""
    for given, what in ((input, "input value"), (boundaries, "boundary")):
        if isinstance(given, Tensor) and given._alias is not None and not given.is_contiguous():
            warn_once(
                f"torch.searchsorted(): {what} tensor is non-contiguous, this will lower the performance due to extra "
                f"data copy when converting non-contiguous tensor to contiguous, please use contiguous {what} tensor "
                "if possible. This message will only appear once per program."
            )


def warn_of_old_reduction(size_average: bool | None, reduce: bool | None) -> None:
    """Warn where a loss is told how to reduce by torch's older arguments."""
    if size_average is not None or reduce is not None:
        reduction = reduction_of("mean", size_average, reduce)
        warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.")


def warn_of_mean(reduction: str) -> None:
    """Warn that a mean over all elements is not the divergence of whole distributions."""
    if reduction == "mean":
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the "
            "same as 'batchmean' in the next major release."
        )


def warn_of_corners(align_corners: bool | None) -> None:
    """Warn where a grid is not told whether its ends are the corners' centres or edges."""
    if align_corners is None:
        warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
            "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
            "details."
        )


def warn_of_freedom(name: str, input: Any, dim: Any, unbiased: bool | None, correction: float | None) -> None:
    """Warn of a spread of too few numbers, which is NaN: of one, unless `correction` is 0, or of none."""
    if not isinstance(input, Tensor) or not input.dtype.is_differentiable:
        return
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    freedom = (1 if unbiased is None or unbiased else 0) if correction is None else correction
    if (count := _count(input, dim)) is not None and count <= freedom:
        warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel)."
        )


def warn_of_few_observations(input: Any, correction: int = 1) -> None:
    """Warn of a covariance of too few observations, which is NaN or infinite."""
    if isinstance(input, Tensor) and input.ndim <= 2 and (input.shape[-1] if input.ndim else 1) <= correction:
        warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.")


def _count(input: Tensor, dim: Any) -> int | None:
    """Return how many numbers go into one, 0 where there is none; None where the row is to refuse `dim`."""
    shape = input.shape or (1,)
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return input.shape.numel()
    count = 1
    for d in dim if isinstance(dim, (tuple, list)) else (dim,):
        if not isinstance(d, (int, np.integer)) or not -len(shape) <= d < len(shape):
            return None
        count *= shape[d]
    return count if input.shape.numel() else 0


def warn_of_bytes(condition: Any) -> None:
    """Warn of a condition of bytes, which torch took before it had booleans."""
    if isinstance(condition, Tensor) and condition.dtype.name == "uint8":
        warn_once(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future "
            "version of PyTorch. Use a boolean condition instead."
        )


def warn_of_first_three(dim: int | None) -> None:
    """Warn where a cross product takes the first dimension of size 3."""
    if dim is None:
        warn_once(
            "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or "
            "simply use torch.linalg.cross.\nThe default value of dim will change to agree with that of linalg.cross "
            "in a future release."
        )


def warn_of_reversal(input: Tensor) -> None:
    """Warn of `x.T` where x is no matrix."""
    if input.ndim == 0:
        warn_once("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    elif input.ndim != 2:
        warn_once(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
        )


def warn_of_copy(data: Any, call: str) -> None:
    """Warn where a tensor is made of a tensor."""
    if isinstance(data, Tensor):
        warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            f"sourceTensor.detach().clone().requires_grad_(True), rather than {call}(sourceTensor)."
        )


def warn_of_fixed(array: np.ndarray[Any, Any], kind: str) -> None:
    """Warn, once, of numbers that nobody may write to, though torch would through a tensor. kind: what holds them."""
    if not array.flags.writeable:
        word, meaning = ("array", _WRITES) if kind == "NumPy array" else ("buffer", _WRITES_BUFFER)
        warn_once(
            f"The given {kind} is not writable, and PyTorch does not support non-writable tensors. This means "
            f"{meaning}. You may want to copy the {word} to protect its data or make it writable before converting it "
            "to a tensor. This type of warning will be suppressed for the rest of this program."
        )


_WRITES = "writing to this tensor will result in undefined behavior"
_WRITES_BUFFER = "you can write to the underlying (supposedly non-writable) buffer using the tensor"


def warn_of_discarded(given: DType, wanted: DType) -> None:
    """Warn where complex numbers are made real."""
    if given.is_complex and not wanted.is_complex and wanted.name != "bool":
        warn_once("Casting complex values to real discards the imaginary part")


def warn_of_old_name(name: str) -> None:
    """Warn, once, that a function has a newer name, and say what to write."""
    warn_once(_OLD_NAMES[name])


def warn_of_spectra(window: Any, return_complex: bool | None) -> None:
    """Warn, once, of frames that are cut out without a window, and of spectra as pairs of real numbers."""
    if window is None:
        warn_once(
            "A window was not provided. A rectangular window will be applied,which is known to cause spectral leakage. "
            f"Other windows such as torch.hann_window or torch.hamming_window are recommended to reduce spectral "
            f"leakage.{_OF_ONES}"
        )
    if return_complex is False:
        warn_once(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex "
            "tensors for all inputs, and return_complex=False will raise an error.\nNote: you can still call "
            "torch.view_as_real on the complex output to recover the old return format."
        )


def warn_of_inversion(window: Any) -> None:
    """Warn, once, of spectra put together without a window."""
    if window is None:
        warn_once(
            "A window was not provided. A rectangular window will be applied.Please provide the same window used by "
            f"stft to make the inversion lossless.{_OF_ONES}"
        )


_OF_ONES = (
    "To suppress this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
)
_FUTURE = "and will be removed in a future PyTorch release."
_OLD_NAMES = {
    "old_qr": (
        f"torch.qr is deprecated in favor of torch.linalg.qr {_FUTURE}\n"
        "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\n"
        "Q, R = torch.qr(A, some)\n"
        "should be replaced with\n"
        "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
    ),
    "cholesky": (
        f"torch.cholesky is deprecated in favor of torch.linalg.cholesky {_FUTURE}\n"
        "L = torch.cholesky(A)\n"
        "should be replaced with\n"
        "L = torch.linalg.cholesky(A)\n"
        "and\n"
        "U = torch.cholesky(A, upper=True)\n"
        "should be replaced with\n"
        "U = torch.linalg.cholesky(A).mH\n"
        "This transform will produce equivalent results for all valid (symmetric positive definite) inputs."
    ),
    "lu": (
        f"torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex {_FUTURE}\n"
        "LU, pivots = torch.lu(A, compute_pivots)\n"
        "should be replaced with\n"
        "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)\n"
        "and\n"
        "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\n"
        "should be replaced with\n"
        "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
    ),
    "chain_matmul": (
        f"torch.chain_matmul is deprecated {_FUTURE} Use torch.linalg.multi_dot instead, which accepts a list of "
        "two or more tensors rather than multiple parameters."
    ),
    "old_lu_solve": (
        f"torch.lu_solve is deprecated in favor of torch.linalg.lu_solve{_FUTURE}\n"
        "Note that torch.linalg.lu_solve has its arguments reversed.\n"
        "X = torch.lu_solve(B, LU, pivots)\n"
        "should be replaced with\n"
        "X = torch.linalg.lu_solve(LU, pivots, B)"
    ),
    "triangular_solve": (
        f"torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangular{_FUTURE}\n"
        "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of the "
        "inputs.\n"
        "X = torch.triangular_solve(B, A).solution\n"
        "should be replaced with\n"
        "X = torch.linalg.solve_triangular(A, B)."
    ),
}
