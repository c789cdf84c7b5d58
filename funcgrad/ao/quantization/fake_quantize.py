"""torch.ao.quantization.fake_quantize: modules that round to the multiples of a scale, so that training sees it.

>>> fake = FakeQuantize(quant_min=0, quant_max=15)
>>> fake(torch.tensor([0.0, 0.33, 1.5]))
tensor([0.0000, 0.3000, 1.5000])
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from typing import Any

import funcgrad._tensor.functions as torch
from funcgrad._base import dtypes
from funcgrad._base.info import iinfo
from funcgrad._base.quantized_dtypes import (
    per_channel_affine_float_qparams,
    per_channel_symmetric,
    per_tensor_affine,
    per_tensor_symmetric,
    qint8,
    quint8,
)
from funcgrad._tensor.creation import tensor
from funcgrad._tensor.tensor import Tensor
from funcgrad.ao.quantization.observer import (
    PER_CHANNEL,
    PER_TENSOR,
    FixedQParamsObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    _PartialWrapper,
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
)
from funcgrad.nn.module import Module

__all__ = [
    "FakeQuantize",
    "FakeQuantizeBase",
    "FixedQParamsFakeQuantize",
    "FusedMovingAvgObsFakeQuantize",
    "default_affine_fixed_qparams_fake_quant",
    "default_dynamic_fake_quant",
    "default_embedding_fake_quant",
    "default_fake_quant",
    "default_fixed_qparams_range_0to1_fake_quant",
    "default_fixed_qparams_range_neg1to1_fake_quant",
    "default_fused_act_fake_quant",
    "default_fused_per_channel_wt_fake_quant",
    "default_fused_wt_fake_quant",
    "default_per_channel_weight_fake_quant",
    "default_symmetric_fixed_qparams_fake_quant",
    "default_weight_fake_quant",
    "disable_fake_quant",
    "disable_observer",
    "enable_fake_quant",
    "enable_observer",
    "fused_per_channel_wt_fake_quant_range_neg_127_to_127",
    "fused_wt_fake_quant_range_neg_127_to_127",
]  # fmt: skip


class FakeQuantizeBase(Module, metaclass=ABCMeta):
    """What rounds, and watches what it rounds, while either is enabled. A subclass writes how."""

    fake_quant_enabled: Tensor
    observer_enabled: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("fake_quant_enabled", tensor([1], dtype=dtypes.uint8))
        self.register_buffer("observer_enabled", tensor([1], dtype=dtypes.uint8))
        self._read: dict[str, tuple[Tensor, int, bool]] = {}

    def _is_on(self, switch: Tensor, name: str) -> bool:
        """Read a switch, once until it is written to: reading it at each call would run each step in pieces."""
        found = self._read.get(name)
        if found is None or found[0] is not switch or found[1] != switch._version:
            found = self._read[name] = (switch, switch._version, bool(switch[0] == 1))
        return found[2]

    @abstractmethod
    def forward(self, x: Any, /) -> Any:
        """Watch and round a tensor."""

    @abstractmethod
    def calculate_qparams(self) -> Any:
        """Return the scale and the zero point."""

    def enable_fake_quant(self, enabled: bool = True) -> None:
        """Let this round, or not."""
        self.fake_quant_enabled[0] = 1 if enabled else 0

    def disable_fake_quant(self) -> None:
        """Let this pass numbers on as they are."""
        self.enable_fake_quant(False)

    def enable_observer(self, enabled: bool = True) -> None:
        """Let this watch, or not."""
        self.observer_enabled[0] = 1 if enabled else 0

    def disable_observer(self) -> None:
        """Let this keep the scale that it has."""
        self.enable_observer(False)

    @classmethod
    def with_args(cls, **kwargs: Any) -> _PartialWrapper:
        """Return what makes such modules with these arguments."""
        return MovingAverageMinMaxObserver.with_args.__func__(cls, **kwargs)  # type: ignore[attr-defined]


class FakeQuantize(FakeQuantizeBase):
    """(clamp(round(x / scale + zero_point), quant_min, quant_max) - zero_point) * scale, which fits what was seen.

    observer: the class of what watches, which is made of `observer_kwargs`. The gradient passes where nothing was
    clamped. AssertionError for a range that the dtype does not have.
    """

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self, observer: Any = MovingAverageMinMaxObserver, quant_min: int | None = None, quant_max: int | None = None,
        is_dynamic: bool = False, **observer_kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        if quant_min is not None and quant_max is not None:
            if quant_min > quant_max:
                raise AssertionError("quant_min must be less than or equal to quant_max")
            kind = observer_kwargs.get("dtype", quint8)
            if hasattr(observer, "p"):
                kind = getattr(observer.p, "keywords", {}).get("dtype", kind)
            if iinfo(kind).min > quant_min:
                raise AssertionError("quant_min out of bound")
            if quant_max > iinfo(kind).max:
                raise AssertionError("quant_max out of bound")
            observer_kwargs.update(quant_min=quant_min, quant_max=quant_max)
        watching = self.activation_post_process = observer(**observer_kwargs, is_dynamic=is_dynamic)
        self.quant_min, self.quant_max = watching.quant_min, watching.quant_max
        self.is_dynamic, self.dtype, self.qscheme = watching.is_dynamic, watching.dtype, watching.qscheme
        self.ch_axis = getattr(watching, "ch_axis", -1)
        is_float = self.qscheme == per_channel_affine_float_qparams
        self.register_buffer("scale", tensor([1.0], dtype=dtypes.float32))
        self.register_buffer("zero_point", tensor([0], dtype=dtypes.float32 if is_float else dtypes.int32))
        if self.qscheme not in PER_CHANNEL + PER_TENSOR:
            raise AssertionError(
                "Only per channel and per tensor quantization are supported in fake quantize got qscheme: "
                f"{self.qscheme}"
            )
        self.is_per_channel = self.qscheme in PER_CHANNEL

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Return the scale and the zero point of what was seen. Shape: both (1,) or (channels,)."""
        return self.activation_post_process.calculate_qparams()

    def forward(self, X: Tensor) -> Tensor:
        """Watch and round a tensor. Shape: that of X."""
        if self._is_on(self.observer_enabled, "observer"):
            self._observe(X.detach())
        if not self._is_on(self.fake_quant_enabled, "rounding"):
            return X
        lowest, highest = self.activation_post_process.quant_min, self.activation_post_process.quant_max
        if self.is_per_channel:
            return torch.fake_quantize_per_channel_affine(X, self.scale, self.zero_point, self.ch_axis, lowest, highest)
        return torch.fake_quantize_per_tensor_affine(X, self.scale, self.zero_point, lowest, highest)

    def _observe(self, X: Tensor) -> None:
        self.activation_post_process(X)
        for buffer, found in zip((self.scale, self.zero_point), self.calculate_qparams(), strict=True):
            if buffer.shape != found.shape:
                buffer.resize_(found.shape)
            buffer.copy_(found)

    def extra_repr(self) -> str:
        """Return what is enabled, the range, the dtype and the scale."""
        watching = self.activation_post_process
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
            f"quant_min={watching.quant_min}, quant_max={watching.quant_max}, dtype={self.dtype}, "
            f"qscheme={self.qscheme}, ch_axis={self.ch_axis}, scale={self.scale}, zero_point={self.zero_point}"
        )

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Any], prefix: str, local_metadata: dict[str, Any], strict: bool,
        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        for buffer, name in ((self.scale, "scale"), (self.zero_point, "zero_point")):
            key = f"{prefix}{name}"
            if key in state_dict:
                buffer.resize_(state_dict[key].shape)  # of channels, which are not counted before the first tensor
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class FixedQParamsFakeQuantize(FakeQuantize):
    """Rounds to the multiples of a scale that nothing changes. AssertionError unless a FixedQParamsObserver says it."""

    def __init__(self, observer: Any) -> None:
        super().__init__(observer=observer)
        watching = self.activation_post_process
        if type(watching) is not FixedQParamsObserver:
            raise AssertionError(f"{type(self).__name__}'s observer must be a FixedQParamsObserver")
        self._observer_ctr = observer
        self.scale, self.zero_point = watching.scale, watching.zero_point
        if self.qscheme not in PER_TENSOR:
            raise AssertionError(
                f"Only per tensor quantization is supported FixedQParamsFakeQuantize module, got qscheme:{self.qscheme}"
            )

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Return the scale and the zero point. Shape: both (1,)."""
        return self.scale, self.zero_point

    def extra_repr(self) -> str:
        """Return what is enabled, the scale, the dtype and the range."""
        watching = self.activation_post_process
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
            f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}, quant_min={watching.quant_min}, "
            f"quant_max={watching.quant_max}, qscheme={self.qscheme}"
        )


class FusedMovingAvgObsFakeQuantize(FakeQuantize):
    """Watches a moving average of the extremes and rounds by it, as one kernel of PyTorch does.

    The scale of symmetric schemes is that for which the farther end fits, and zero points are those that round the
    nearer end best: `MovingAverageMinMaxObserver` says others, by a little.
    """

    def __init__(
        self, observer: Any = MovingAverageMinMaxObserver, quant_min: int = 0, quant_max: int = 255,
        **observer_kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(observer, quant_min, quant_max, **observer_kwargs)
        kinds = (MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver)
        if not isinstance(self.activation_post_process, kinds):
            raise AssertionError("Fused observer+fake_quant module only works with MovingAverageMinMaxObserver")
        self.register_buffer("fake_quant_enabled", tensor([1], dtype=dtypes.int64))
        self.register_buffer("observer_enabled", tensor([1], dtype=dtypes.int64))
        self.is_symmetric_quant = self.qscheme in (per_tensor_symmetric, per_channel_symmetric)

    def _observe(self, X: Tensor) -> None:
        watching = self.activation_post_process
        watching(X)
        lowest, highest = watching.min_val.detach(), watching.max_val.detach()
        found = chosen_scale(lowest, highest, self.quant_min, self.quant_max, self.is_symmetric_quant)
        for buffer, numbers in zip((self.scale, self.zero_point), found, strict=True):
            numbers = numbers if self.is_per_channel else numbers.reshape(1)
            if buffer.shape != numbers.shape:
                buffer.resize_(numbers.shape)
            buffer.copy_(numbers)

    def extra_repr(self) -> str:
        """Return what is enabled, the scale, the dtype and the range."""
        watching = self.activation_post_process
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
            f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}, quant_min={watching.quant_min}, "
            f"quant_max={watching.quant_max}, qscheme={self.qscheme}, reduce_range={watching.reduce_range}"
        )


_SMALLEST = 6.1e-5  # scale: the smallest normal float of 16 bits


def chosen_scale(
    lowest: Tensor, highest: Tensor, quant_min: int, quant_max: int, is_symmetric: bool
) -> tuple[Tensor, Tensor]:
    """Return the scale and the zero point that PyTorch's kernels choose for numbers between two extremes.

    Shape: all (), or (channels,). The range is widened to have 0 in it. is_symmetric: zero is to be in the middle.
    Source: ChooseQuantizationParams, aten/src/ATen/native/quantized/cpu/QuantUtils.h.
    """
    low, high = lowest.to(dtypes.float64), highest.to(dtypes.float64)
    has_both = (low < 0) & (high > 0)
    if is_symmetric:
        half = (quant_max - quant_min) // 2
        farther = torch.maximum((low / -(half + 1)).abs(), (high / half).abs())
        low, high = (
            torch.where(has_both, farther * end, x).to(dtypes.float32).to(dtypes.float64)
            for end, x in ((-(half + 1), low), (half, high))
        )
    low, high = low.clamp(max=0), high.clamp(min=0)
    scale = (high - low) / (quant_max - quant_min)
    scale = torch.where(scale.to(dtypes.float32) == 0, 0.1, scale)
    is_small = scale < _SMALLEST
    larger, steps = _SMALLEST / scale, _SMALLEST * (quant_max - quant_min)
    small_low = torch.where(low == 0, low, torch.where(high == 0, -steps, low * larger))
    small_high = torch.where(low == 0, steps, torch.where(high == 0, high, high * larger))
    low, high = torch.where(is_small, small_low, low), torch.where(is_small, small_high, high)
    scale = torch.where(is_small, _SMALLEST, scale)
    from_low, from_high = quant_min - low / scale, quant_max - high / scale
    errors = abs(quant_min) - (low / scale).abs(), abs(quant_max) - (high / scale).abs()
    zero = torch.where(errors[0] < errors[1], from_low, from_high)
    if is_symmetric:
        zero = torch.where((low < 0) & (high > 0), (quant_min + quant_max) / 2, zero)
    return scale.to(dtypes.float32), zero.clamp(quant_min, quant_max).round().to(dtypes.int32)


default_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, dtype=quint8, qscheme=per_tensor_affine,
    reduce_range=True,
)  # fmt: skip
default_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=-128, quant_max=127, dtype=qint8, qscheme=per_tensor_symmetric,
    reduce_range=False,
)  # fmt: skip
default_dynamic_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, is_dynamic=True, dtype=quint8,
    averaging_constant=1,
)  # fmt: skip
default_fixed_qparams_range_neg1to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_neg1to1_observer
)
default_fixed_qparams_range_0to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_0to1_observer
)
default_symmetric_fixed_qparams_fake_quant = default_fixed_qparams_range_neg1to1_fake_quant
default_affine_fixed_qparams_fake_quant = default_fixed_qparams_range_0to1_fake_quant
default_per_channel_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver, quant_min=-128, quant_max=127, dtype=qint8,
    qscheme=per_channel_symmetric, reduce_range=False, ch_axis=0,
)  # fmt: skip
default_embedding_fake_quant = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver, qscheme=per_channel_affine_float_qparams, dtype=quint8,
    quant_min=0, quant_max=255, ch_axis=0, averaging_constant=1,
)  # fmt: skip
default_fused_act_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, dtype=quint8
)
default_fused_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=-128, quant_max=127, dtype=qint8, qscheme=per_tensor_symmetric
)
default_fused_per_channel_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver, quant_min=-128, quant_max=127, dtype=qint8,
    qscheme=per_channel_symmetric,
)  # fmt: skip
fused_wt_fake_quant_range_neg_127_to_127 = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=-127, quant_max=127, dtype=qint8, qscheme=per_tensor_symmetric,
    eps=2**-12,
)  # fmt: skip
fused_per_channel_wt_fake_quant_range_neg_127_to_127 = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver, quant_min=-127, quant_max=127, dtype=qint8,
    qscheme=per_channel_symmetric, eps=2**-12,
)  # fmt: skip


def disable_fake_quant(mod: Any) -> None:
    """Let a module pass numbers on as they are, if it rounds: `model.apply(disable_fake_quant)`."""
    if isinstance(mod, FakeQuantizeBase):
        mod.disable_fake_quant()


def enable_fake_quant(mod: Any) -> None:
    """Let a module round, if it can."""
    if isinstance(mod, FakeQuantizeBase):
        mod.enable_fake_quant()


def disable_observer(mod: Any) -> None:
    """Let a module keep the scale that it has, if it rounds."""
    if isinstance(mod, FakeQuantizeBase):
        mod.disable_observer()


def enable_observer(mod: Any) -> None:
    """Let a module watch what it rounds, if it does."""
    if isinstance(mod, FakeQuantizeBase):
        mod.enable_observer()
