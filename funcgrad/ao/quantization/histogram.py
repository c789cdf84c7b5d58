"""The observer that keeps a histogram of what passes, and leaves out the tails that cost more than they hold.

Source: NormMinimization::NonlinearQuantizationParamsSearch of Caffe2, caffe2/quantization/server/norm_minimization.cc.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import funcgrad._tensor.functions as torch
from funcgrad._base import dtypes
from funcgrad._base.info import finfo, iinfo
from funcgrad._base.quantized_dtypes import per_tensor_affine, quint8
from funcgrad._base.warning import warn
from funcgrad._tensor.creation import linspace, tensor, zeros
from funcgrad._tensor.tensor import Tensor
from funcgrad.ao.quantization.observer import PER_TENSOR, UniformQuantizationObserverBase

__all__ = ["HistogramObserver", "default_histogram_observer"]
_STEP = 1e-5  # by how much of all numbers the search narrows at a time


class HistogramObserver(UniformQuantizationObserverBase):
    """Watches how often which numbers come, in `bins` equal parts between the smallest and the largest.

    The scale is that of the part between two of them for which the squared error is least. Numbers have to be looked
    at to say it, and where the range grows.
    """

    histogram: Tensor

    def __init__(
        self, bins: int = 2048, dtype: Any = quint8, qscheme: Any = per_tensor_affine, reduce_range: bool = False,
        quant_min: int | None = None, quant_max: int | None = None, factory_kwargs: dict[str, Any] | None = None,
        eps: float = finfo(dtypes.float32).eps, is_dynamic: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        if qscheme not in PER_TENSOR:
            raise NotImplementedError(
                "HistogramObserver's qscheme only support torch.per_tensor_symmetric                     and "
                "torch.per_tensor_affine."
            )
        if is_dynamic:
            raise NotImplementedError("HistogramObserver doesn't support dynamic quantization")
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic, **kwargs)
        made = factory_kwargs or {}
        self.bins = bins
        self.register_buffer("histogram", zeros(bins, **made))
        self.register_buffer("min_val", tensor(float("inf"), **made))
        self.register_buffer("max_val", tensor(float("-inf"), **made))
        self.dst_nbins = 2 ** iinfo(dtype).bits
        self.upsample_rate = 16

    def forward(self, x_orig: Tensor) -> Tensor:
        """Watch a tensor and return it. Infinities are left out, with a warning."""
        x = x_orig.detach()
        if x.numel() and not x.isfinite().all() and x.isinf().any():
            warn("torch.inf detected in input tensor, ignoring input")
            x = x[~x.isinf()]
        if not x.numel():
            return x_orig
        lowest, highest = torch.aminmax(x)
        if self._is_new():
            self.reset_histogram(x, lowest, highest)
            return x_orig
        low, high = torch.minimum(self.min_val, lowest), torch.maximum(self.max_val, highest)
        found = self._counted(x, low, high)
        if bool((low == self.min_val) & (high == self.max_val)):
            self.histogram.copy_(self.histogram + found)
        else:
            self.histogram.copy_(found + self._spread(low, high))
            self._keep(low, high)
        return x_orig

    def _is_new(self) -> bool:
        return bool((self.min_val == float("inf")) | (self.max_val == float("-inf")))

    def _counted(self, x: Tensor, low: Tensor, high: Tensor) -> Tensor:
        return torch.histc(x, self.bins, min=low.item(), max=high.item()).to(self.histogram.device)

    def reset_histogram(self, x: Tensor, min_val: Tensor, max_val: Tensor) -> None:
        """Forget what was watched, and count the numbers of `x` between these two."""
        self._keep(min_val, max_val)
        if min_val.numel() != 1 or max_val.numel() != 1:
            raise AssertionError("histogram min/max values must be scalar.")
        found = self._counted(x, min_val, max_val)
        self.histogram.resize_(found.shape)
        self.histogram.copy_(found)

    def _spread(self, low: Tensor, high: Tensor) -> Tensor:
        """Return the histogram as one of a wider range: each bin in 16 parts, which go where their middles are."""
        if bool(self.min_val == self.max_val):
            return self._counted(self.min_val, low, high) * self.histogram.sum()
        rate, count = self.upsample_rate, self.bins * self.upsample_rate
        fine = self.histogram.repeat_interleave(rate) / rate
        width = (self.max_val - self.min_val) / count
        middles = linspace(self.min_val, self.max_val, count + 1)[:-1] + 0.5 * width
        places = torch.bucketize(middles, linspace(low, high, self.bins + 1), right=True) - 1
        return torch.bincount(places.clamp(0, self.bins - 1), weights=fine, minlength=self.bins)

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Return the scale and the zero point; 1 and 0, with a warning, before a tensor. Shape: both (1,)."""
        if bool((self.min_val == float("inf")) & (self.max_val == float("-inf"))):
            warn(
                "must run observer before calling calculate_qparams.                                    Returning "
                "default scale and zero point "
            )
            return tensor([1.0], device=self.min_val.device), tensor([0], device=self.min_val.device)
        if self.bins != len(self.histogram):
            raise AssertionError(
                "The number of bins in histogram should be equal to the number of bins supplied while making this "
                "observer"
            )
        first, last = self._best()
        width = (self.max_val - self.min_val) / self.bins
        return self._calculate_qparams(self.min_val + width * first, self.min_val + width * (last + 1))

    def _best(self) -> tuple[int, int]:
        """Return the first and the last bin of the range that loses least.

        It narrows by a hundred thousandth of all numbers at a time, at the end at which more bins go, while the error
        becomes less.
        """
        counts = self.histogram.numpy()
        sums, total = np.cumsum(counts, dtype=counts.dtype), float(counts.sum())
        alpha, beta, first, last, least = 0.0, 1.0, 0, self.bins - 1, float("inf")
        while alpha < beta:
            below, above = (counts.dtype.type(x * total) for x in (alpha + _STEP, beta - _STEP))
            left = min(max(int(np.searchsorted(sums, below, "left")), first), last)
            right = max(min(int(np.searchsorted(sums, above, "right")) - 1, last), first)
            begin, end = first, last
            if left - first > last - right:
                begin, alpha = left, alpha + _STEP
            else:
                end, beta = right, beta - _STEP
            if (begin, end) == (first, last):
                continue
            error = self._error(counts, begin, end)
            if error > least:
                break
            first, last, least = begin, end, error
        return first, last

    def _error(self, counts: Any, first: int, last: int) -> float:
        """Return the squared error of all numbers, each bin's spread evenly, if these bins are what integers span."""
        width = (self.max_val.item() - self.min_val.item()) / self.bins
        step = width * (last - first + 1) / self.dst_nbins
        if step == 0.0:
            return 0.0
        single = counts.dtype.type
        begins = (np.arange(self.bins) - first).astype(single) * single(width)
        ends = begins + single(width)
        highest = self.dst_nbins - 1
        at_begin, at_end = (np.clip(np.floor(x / single(step)), 0, highest).astype(single) for x in (begins, ends))
        density = counts / single(width)
        norm = _norm(begins - (at_begin + single(0.5)) * single(step), single(step / 2), density)
        norm = norm + (at_end - at_begin - 1) * _norm(single(-step / 2), single(step / 2), density)
        norm = norm + _norm(single(-step / 2), ends - (at_end * single(step) + single(step / 2)), density)
        return float(norm.sum())

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[f"{prefix}min_val"], destination[f"{prefix}max_val"] = self.min_val, self.max_val

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Any], prefix: str, local_metadata: dict[str, Any], strict: bool,
        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        is_old = local_metadata.get("version") is None or local_metadata["version"] < 3
        for name, none in (("min_val", float("inf")), ("max_val", float("-inf"))):
            key = f"{prefix}{name}"
            if key in state_dict:
                is_empty = is_old and state_dict[key].shape == (0,)
                setattr(self, name, tensor(none) if is_empty else state_dict[key])
            elif strict:
                missing_keys.append(key)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def extra_repr(self) -> str:
        """Return the smallest and the largest number."""
        return f"min_val={self.min_val}, max_val={self.max_val}"


def _norm(begin: Any, end: Any, density: Any) -> Any:
    """Return density * integral of x^2 from `begin` to `end`."""
    return density * ((end * end * end - begin * begin * begin) / 3)


default_histogram_observer = HistogramObserver.with_args(quant_min=0, quant_max=127)
