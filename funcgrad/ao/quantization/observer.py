"""torch.ao.quantization.observer: modules that watch what passes, and say by which scale it fits into integers.

>>> observer = MinMaxObserver()
>>> x = observer(torch.tensor([-1.0, 0.5, 3.0]))
>>> observer.calculate_qparams()
(tensor([0.0157]), tensor([64], dtype=torch.int32))
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import funcgrad._tensor.functions as torch
from funcgrad._base import dtypes
from funcgrad._base.info import finfo
from funcgrad._base.quantized_dtypes import (
    per_channel_affine,
    per_channel_affine_float_qparams,
    per_channel_symmetric,
    per_tensor_affine,
    per_tensor_symmetric,
    qint8,
    qint32,
    quint8,
)
from funcgrad._base.warning import warn
from funcgrad._tensor.creation import full, tensor, zeros
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.module import Module

__all__ = [
    "FixedQParamsObserver", "MinMaxObserver", "MovingAverageMinMaxObserver", "MovingAveragePerChannelMinMaxObserver",
    "NoopObserver", "ObserverBase", "PerChannelMinMaxObserver", "PlaceholderObserver", "RecordingObserver",
    "ReuseInputObserver", "UniformQuantizationObserverBase", "default_affine_fixed_qparams_observer",
    "default_debug_observer", "default_dynamic_quant_observer", "default_fixed_qparams_range_0to1_observer",
    "default_fixed_qparams_range_neg1to1_observer", "default_float_qparams_observer", "default_observer",
    "default_per_channel_weight_observer", "default_placeholder_observer", "default_reuse_input_observer",
    "default_symmetric_fixed_qparams_observer", "default_weight_observer",
    "per_channel_weight_observer_range_neg_127_to_127", "weight_observer_range_neg_127_to_127",
]  # fmt: skip
PER_TENSOR = (per_tensor_affine, per_tensor_symmetric)
PER_CHANNEL = (per_channel_affine, per_channel_affine_float_qparams, per_channel_symmetric)
_EPS = finfo(dtypes.float32).eps
_RANGES = {  # dtype -> the integers that there are, and half of them
    qint8: ((-128, 127), (-64, 63)), dtypes.int8: ((-128, 127), (-64, 63)), quint8: ((0, 255), (0, 127)),
    dtypes.uint8: ((0, 255), (0, 127)), qint32: ((-(2**31), 2**31 - 1),) * 2,
    dtypes.int32: ((-(2**31), 2**31 - 1),) * 2,
    dtypes.uint16: ((0, 2**16 - 1),) * 2, dtypes.int16: ((-(2**15), 2**15 - 1),) * 2,
}  # fmt: skip
_LONGEST = {qint8: 2**8, dtypes.int8: 2**8, qint32: 2**32, dtypes.int32: 2**32}
_ALLOWED = (*_RANGES, dtypes.float8_e5m2, dtypes.float8_e4m3fn)


class _PartialWrapper:
    """What makes observers of the same arguments; some of these are made anew for each, by functions."""

    def __init__(self, p: Callable[..., Any], callable_args: dict[str, Callable[[], Any]] | None = None) -> None:
        self.p, self.callable_args = p, callable_args or {}

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        made = {name: make() for name, make in self.callable_args.items() if name not in keywords}
        return self.p(*args, **keywords, **made)

    def __repr__(self) -> str:
        return f"{self.p!r}{self.callable_args!r}"

    def with_args(self, **kwargs: Any) -> _PartialWrapper:
        """Return what makes them with these arguments, too."""
        return _PartialWrapper(partial(self, **kwargs))

    def with_callable_args(self, **kwargs: Callable[[], Any]) -> _PartialWrapper:
        """Return what makes them with what these functions return each time, too."""
        return _PartialWrapper(self.p, {**self.callable_args, **kwargs})


class ObserverBase(Module, metaclass=ABCMeta):
    """What watches tensors. A subclass writes `forward`, which returns what it is given, and `calculate_qparams`.

    dtype: the integers that the numbers are to fit into. is_dynamic: whether that is settled anew for each tensor.
    """

    def __init__(self, dtype: Any, is_dynamic: bool = False) -> None:
        super().__init__()
        self.dtype, self.is_dynamic = dtype, is_dynamic

    @abstractmethod
    def forward(self, x: Any, /) -> Any:
        """Watch a tensor and return it."""

    @abstractmethod
    def calculate_qparams(self) -> Any:
        """Return the scale and the zero point."""

    @classmethod
    def with_args(cls, **kwargs: Any) -> _PartialWrapper:
        """Return what makes observers with these arguments."""
        return _PartialWrapper(partial(cls, **kwargs))

    @classmethod
    def with_callable_args(cls, **kwargs: Callable[[], Any]) -> _PartialWrapper:
        """Return what makes observers with what these functions return each time."""
        return _PartialWrapper(partial(cls), kwargs)


class UniformQuantizationObserverBase(ObserverBase):
    """What finds the smallest and the largest number, and from these the scale: one for all, or one for each channel.

    qscheme: symmetric ones have their zero in the middle of the integers. quant_min, quant_max: the integers to use
    (by default those of the dtype; of `reduce_range` half). eps: the smallest scale.
    AssertionError for a dtype, a scheme or a range that cannot be.
    """

    _version = 3
    eps: Tensor
    min_val: Tensor
    max_val: Tensor

    def __init__(
        self, dtype: Any = quint8, qscheme: Any = per_tensor_affine, reduce_range: bool = False,
        quant_min: int | None = None, quant_max: int | None = None, factory_kwargs: dict[str, Any] | None = None,
        eps: float = _EPS, is_dynamic: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.qscheme = qscheme
        if reduce_range:
            warn(
                "Please use quant_min and quant_max to specify the range for observers.                     "
                "reduce_range will be deprecated in a future release of PyTorch."
            )
        self.reduce_range = reduce_range
        self.register_buffer("eps", tensor([eps], **(factory_kwargs or {})))
        if qscheme not in PER_TENSOR + PER_CHANNEL:
            raise AssertionError(
                "Default Observer only works for per_tensor_affine, per_tensor_symmetric, per_channel_affine, "
                "per_channel_symmetric and per_channel_float_qparams quantization scheme"
            )
        if dtype not in _ALLOWED:
            raise AssertionError(f"Default Observer only works for {_ALLOWED} data type")
        self.has_customized_qrange = quant_min is not None and quant_max is not None
        self.quant_min, self.quant_max = self._range(quant_min, quant_max)

    def _range(self, lowest: int | None, highest: int | None) -> tuple[int, int]:
        """Return the integers to use: those that are given, of `reduce_range` half of them."""
        if lowest is None or highest is None:
            found = _RANGES.get(self.dtype)
            return found[self.reduce_range] if found else (0, 15)
        if not lowest <= 0 <= highest:
            raise AssertionError("Used-specified quantization range must include 0.")
        if lowest >= highest:
            raise AssertionError("qmin must be strictly less than qmax for user-specified quantization range.")
        longest = _LONGEST.get(self.dtype)
        if longest and highest - lowest + 1 > longest:
            raise AssertionError(
                f"quantization range should be positive and not exceed the maximum bit range (={longest})."
            )
        return (lowest // 2, highest // 2) if self.reduce_range else (lowest, highest)

    def _keep(self, lowest: Tensor, highest: Tensor) -> None:
        """Write the extremes into the buffers, which take their shape."""
        for buffer, found in ((self.min_val, lowest), (self.max_val, highest)):
            if buffer.shape != found.shape:
                buffer.resize_(found.shape)
            buffer.copy_(found)
        self._kept = (self.min_val._version, self.max_val._version)

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Return the scale and the zero point; 1 and 0, with a warning, before a tensor. Shape: (1,) or (channels,)."""
        return self._calculate_qparams(self.min_val, self.max_val)

    def _calculate_qparams(self, min_val: Tensor, max_val: Tensor) -> tuple[Tensor, Tensor]:
        if not self._is_known(min_val, max_val):
            return tensor([1.0], device=min_val.device), tensor([0], device=min_val.device)
        scale, zero_point = self._scale(min_val, max_val)
        return (scale, zero_point) if scale.ndim else (scale.reshape(1), zero_point.reshape(1))

    def _is_known(self, min_val: Tensor, max_val: Tensor) -> bool:
        """Tell whether there are extremes; what this wrote last is not looked at, which would wait for it."""
        if min_val.numel() == 0 or max_val.numel() == 0:
            warn("must run observer before calling calculate_qparams. Returning default values.")
            return False
        is_own = min_val is self.min_val and max_val is self.max_val
        if is_own and getattr(self, "_kept", None) == (min_val._version, max_val._version):
            return True
        if min_val.ndim == 0 and min_val == float("inf") and max_val == float("-inf"):
            warn("must run observer before calling calculate_qparams. Returning default values.")
            return False
        if (min_val > max_val).any():
            raise AssertionError(f"min {min_val} should be less than max {max_val}")
        return True

    def _scale(self, min_val: Tensor, max_val: Tensor) -> tuple[Tensor, Tensor]:
        steps = float(self.quant_max - self.quant_min)
        lowest, highest = min_val.clamp(max=0), max_val.clamp(min=0)
        if self.qscheme in (per_tensor_symmetric, per_channel_symmetric):
            scale = torch.maximum(torch.maximum(-lowest, highest) / (steps / 2), self.eps[0])
            return scale, full(scale.shape, self._middle(), dtype=dtypes.int64, device=scale.device)
        if self.qscheme == per_channel_affine_float_qparams:
            scale = (max_val - min_val) / steps
            scale = torch.where(scale > self.eps, scale, torch.ones_like(scale))
            return scale, -1 * min_val / scale
        scale = torch.maximum((highest - lowest) / steps, self.eps[0])
        zero_point = self.quant_min - torch.round(lowest / scale).to(dtypes.int32)
        return scale, zero_point.clamp(self.quant_min, self.quant_max)

    def _middle(self) -> int:
        if self.dtype in (quint8, dtypes.uint8):
            return (self.quant_min + self.quant_max) // 2 if self.has_customized_qrange else 128
        return 2**15 if self.dtype is dtypes.uint16 else 0

    def _refuse_half(self, qscheme: Any, words: str) -> None:
        if qscheme == self.qscheme and self.reduce_range and self.dtype is quint8:
            raise NotImplementedError(words)

    def extra_repr(self) -> str:
        """Return the extremes so far."""
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Any], prefix: str, local_metadata: dict[str, Any], strict: bool,
        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        version = local_metadata.get("version")
        if version is None or version == 1:
            state_dict = {**state_dict, f"{prefix}eps": tensor([_EPS])}
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class MinMaxObserver(UniformQuantizationObserverBase):
    """Watches the smallest and the largest of all numbers so far. NotImplementedError for schemes by channel."""

    def __init__(
        self, dtype: Any = quint8, qscheme: Any = per_tensor_affine, reduce_range: bool = False,
        quant_min: int | None = None, quant_max: int | None = None, factory_kwargs: dict[str, Any] | None = None,
        eps: float = _EPS, is_dynamic: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        if qscheme not in PER_TENSOR:
            raise NotImplementedError(
                "MinMaxObserver's qscheme only support torch.per_tensor_symmetric                     and "
                "torch.per_tensor_affine."
            )
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic, **kwargs)
        self.register_buffer("min_val", tensor(float("inf"), **(factory_kwargs or {})))
        self.register_buffer("max_val", tensor(float("-inf"), **(factory_kwargs or {})))
        words = "Cannot reduce range for symmetric                                        quantization for quint8"
        self._refuse_half(per_tensor_symmetric, words)

    def forward(self, x_orig: Tensor) -> Tensor:
        """Watch a tensor and return it."""
        if x_orig.numel():
            self._keep(*self._joined(*torch.aminmax(x_orig.detach().to(self.min_val.dtype))))
        return x_orig

    def _joined(self, lowest: Tensor, highest: Tensor) -> tuple[Tensor, Tensor]:
        return torch.minimum(lowest, self.min_val), torch.maximum(highest, self.max_val)

    def reset_min_max_vals(self) -> None:
        """Forget what was watched."""
        self.min_val.fill_(float("inf"))
        self.max_val.fill_(float("-inf"))


class MovingAverageMinMaxObserver(MinMaxObserver):
    """Watches the smallest and the largest of each tensor, averaged: each counts for `averaging_constant`."""

    def __init__(
        self, averaging_constant: float = 0.01, dtype: Any = quint8, qscheme: Any = per_tensor_affine,
        reduce_range: bool = False, quant_min: int | None = None, quant_max: int | None = None, eps: float = _EPS,
        is_dynamic: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        if qscheme not in PER_TENSOR:
            raise NotImplementedError(
                "MovingAverageMinMaxObserver's qscheme only support                 torch.per_tensor_symmetric and "
                f"torch.per_tensor_affine.                 but got: {qscheme}"
            )
        self.averaging_constant = averaging_constant
        if is_dynamic and averaging_constant != 1:
            raise NotImplementedError(
                "MovingAverageMinMaxObserver doesn't support dynamic quantization for averaging constant of "
                f"{averaging_constant}"
            )
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, eps=eps, is_dynamic=is_dynamic, **kwargs)

    def _joined(self, lowest: Tensor, highest: Tensor) -> tuple[Tensor, Tensor]:
        is_first = (self.min_val == float("inf")) & (self.max_val == float("-inf"))
        low, high = (
            torch.where(is_first, found, before + self.averaging_constant * (found - before))
            for before, found in ((self.min_val, lowest), (self.max_val, highest))
        )
        return low, high


class PerChannelMinMaxObserver(UniformQuantizationObserverBase):
    """Watches the smallest and the largest number of each channel, of which `ch_axis` is the dimension."""

    def __init__(
        self, ch_axis: int = 0, dtype: Any = quint8, qscheme: Any = per_channel_affine, reduce_range: bool = False,
        quant_min: int | None = None, quant_max: int | None = None, factory_kwargs: dict[str, Any] | None = None,
        eps: float = _EPS, is_dynamic: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        if qscheme not in PER_CHANNEL:
            raise NotImplementedError(
                f"{type(self).__name__}'s qscheme only support                     torch.per_channel_symmetric, "
                "torch.per_channel_affine and torch.per_channel_affine_float_qparams."
            )
        if is_dynamic:
            raise NotImplementedError(f"{type(self).__name__} doesn't support dynamic quantization")
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic, **kwargs)
        self.ch_axis = ch_axis
        self.register_buffer("min_val", zeros(0, **(factory_kwargs or {})))
        self.register_buffer("max_val", zeros(0, **(factory_kwargs or {})))
        self._refuse_half(per_channel_symmetric, "Cannot reduce range for symmetric quantization for quint8")

    def forward(self, x_orig: Tensor) -> Tensor:
        """Watch a tensor and return it."""
        if x_orig.numel():
            rows = x_orig.detach().transpose(0, self.ch_axis).to(self.min_val.dtype).flatten(1)
            found = torch.aminmax(rows, dim=1)
            is_first = self.min_val.numel() == 0 or self.max_val.numel() == 0
            self._keep(*(found if is_first else self._joined(*found)))
        return x_orig

    def _joined(self, lowest: Tensor, highest: Tensor) -> tuple[Tensor, Tensor]:
        return torch.minimum(lowest, self.min_val), torch.maximum(highest, self.max_val)

    def reset_min_max_vals(self) -> None:
        """Forget what was watched."""
        self.register_buffer("min_val", zeros(0))
        self.register_buffer("max_val", zeros(0))

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Any], prefix: str, local_metadata: dict[str, Any], strict: bool,
        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        version = local_metadata.get("version")
        ending = "s" if version is not None and version < 3 else ""
        for buffer, name in ((self.min_val, "min_val"), (self.max_val, "max_val")):
            key = f"{prefix}{name}{ending}"
            if key in state_dict:
                buffer.resize_(state_dict[key].shape)  # it is empty before the first tensor
            elif strict:
                missing_keys.append(key)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, False, missing_keys, unexpected_keys, error_msgs
        )


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """Watches the smallest and the largest number of each channel, averaged over tensors."""

    def __init__(
        self, averaging_constant: float = 0.01, ch_axis: int = 0, dtype: Any = quint8,
        qscheme: Any = per_channel_affine, reduce_range: bool = False, quant_min: int | None = None,
        quant_max: int | None = None, eps: float = _EPS, is_dynamic: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(
            ch_axis, dtype, qscheme, reduce_range, quant_min, quant_max, eps=eps, is_dynamic=is_dynamic, **kwargs
        )
        self.averaging_constant = averaging_constant

    def _joined(self, lowest: Tensor, highest: Tensor) -> tuple[Tensor, Tensor]:
        low, high = (
            before + self.averaging_constant * (found - before)
            for before, found in ((self.min_val, lowest), (self.max_val, highest))
        )
        return low, high


class _Passing(ObserverBase):
    """What does not watch."""

    def forward(self, x: Any) -> Any:
        """Return what is given."""
        return x

    def calculate_qparams(self) -> Any:
        """Refuse: nothing was watched."""
        raise Exception(f"calculate_qparams should not be called for {type(self).__name__}")


class FixedQParamsObserver(_Passing):
    """Has a scale and a zero point that nothing changes."""

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self, scale: float, zero_point: int, dtype: Any = quint8, qscheme: Any = per_tensor_affine, quant_min: int = 0,
        quant_max: int = 255, is_dynamic: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        if is_dynamic:
            raise NotImplementedError("FixedQParamsObserver doesn't support dynamic quantization")
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.quant_min, self.quant_max, self.qscheme = quant_min, quant_max, qscheme
        self.register_buffer("scale", tensor([scale], dtype=dtypes.float32))
        self.register_buffer("zero_point", tensor([zero_point], dtype=dtypes.int32))

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Return the scale and the zero point. Shape: both (1,)."""
        return self.scale, self.zero_point


class PlaceholderObserver(_Passing):
    """Watches nothing: says what a layer's numbers are to become."""

    def __init__(
        self, dtype: Any = dtypes.float32, custom_op_name: str = "", compute_dtype: Any = None,
        quant_min: int | None = None, quant_max: int | None = None, qscheme: Any = None, eps: float | None = None,
        is_dynamic: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(dtype=dtype, is_dynamic=is_dynamic)
        self.qscheme = per_tensor_affine if qscheme is None else qscheme
        self.quant_min, self.quant_max = quant_min, quant_max
        self.eps, self.custom_op = _EPS if eps is None else eps, custom_op_name
        if compute_dtype:
            warn(
                "Please use `is_dynamic` instead of `compute_dtype`.                     `compute_dtype` will be "
                "deprecated in a future release                     of PyTorch."
            )

    def extra_repr(self) -> str:
        """Return the dtype."""
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"


class RecordingObserver(_Passing):
    """Keeps a copy of each tensor."""

    def __init__(self, dtype: Any = quint8) -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.tensor_val: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        """Keep a copy of a tensor and return it."""
        self.tensor_val.append(x.clone())
        return x

    def get_tensor_value(self) -> Sequence[Tensor]:
        """Return the copies."""
        return self.tensor_val


class NoopObserver(_Passing):
    """Watches nothing: says that a layer's numbers are to become half as long."""

    def __init__(self, dtype: Any = dtypes.float16, custom_op_name: str = "") -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.custom_op = custom_op_name


class ReuseInputObserver(_Passing):
    """Watches nothing: says that a layer's results fit into what its input fits into."""

    def __init__(self) -> None:
        super().__init__(quint8, is_dynamic=False)


default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_placeholder_observer = PlaceholderObserver
default_debug_observer = RecordingObserver
default_weight_observer = MinMaxObserver.with_args(dtype=qint8, qscheme=per_tensor_symmetric)
weight_observer_range_neg_127_to_127 = MinMaxObserver.with_args(
    dtype=qint8, qscheme=per_tensor_symmetric, quant_min=-127, quant_max=127, eps=2**-12
)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(dtype=qint8, qscheme=per_channel_symmetric)
per_channel_weight_observer_range_neg_127_to_127 = PerChannelMinMaxObserver.with_args(
    dtype=qint8, qscheme=per_channel_symmetric, quant_min=-127, quant_max=127, eps=2**-12
)
default_dynamic_quant_observer = PlaceholderObserver.with_args(
    dtype=quint8, quant_min=0, quant_max=255, is_dynamic=True
)
default_float_qparams_observer = PerChannelMinMaxObserver.with_args(
    dtype=quint8, qscheme=per_channel_affine_float_qparams, ch_axis=0
)
default_fixed_qparams_range_neg1to1_observer = FixedQParamsObserver.with_args(
    scale=2.0 / 256.0, zero_point=128, dtype=quint8, quant_min=0, quant_max=255
)
default_fixed_qparams_range_0to1_observer = FixedQParamsObserver.with_args(
    scale=1.0 / 256.0, zero_point=0, dtype=quint8, quant_min=0, quant_max=255
)
default_symmetric_fixed_qparams_observer = default_fixed_qparams_range_neg1to1_observer
default_affine_fixed_qparams_observer = default_fixed_qparams_range_0to1_observer
default_reuse_input_observer = ReuseInputObserver
