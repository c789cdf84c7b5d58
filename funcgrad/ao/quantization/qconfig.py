"""torch.ao.quantization.qconfig: pairs of what watches a layer's results and what watches its weights."""

from __future__ import annotations

from typing import Any

from funcgrad._base import dtypes
from funcgrad._base.quantized_dtypes import qint8
from funcgrad.ao.quantization.fake_quantize import (
    FakeQuantize,
    FusedMovingAvgObsFakeQuantize,
    default_dynamic_fake_quant,
    default_embedding_fake_quant,
    default_fake_quant,
    default_fused_act_fake_quant,
    default_fused_per_channel_wt_fake_quant,
    default_fused_wt_fake_quant,
    default_per_channel_weight_fake_quant,
    default_weight_fake_quant,
    fused_per_channel_wt_fake_quant_range_neg_127_to_127,
    fused_wt_fake_quant_range_neg_127_to_127,
)
from funcgrad.ao.quantization.histogram import HistogramObserver
from funcgrad.ao.quantization.observer import (
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    NoopObserver,
    PlaceholderObserver,
    default_debug_observer,
    default_dynamic_quant_observer,
    default_float_qparams_observer,
    default_observer,
    default_per_channel_weight_observer,
    default_placeholder_observer,
    default_reuse_input_observer,
    default_weight_observer,
    per_channel_weight_observer_range_neg_127_to_127,
    weight_observer_range_neg_127_to_127,
)
from funcgrad.ao.stubs import QConfig
from funcgrad.nn.linear import Identity

__all__ = [
    "QConfig",
    "default_activation_only_qconfig",
    "default_debug_qconfig",
    "default_dynamic_qat_qconfig",
    "default_dynamic_qconfig",
    "default_embedding_qat_qconfig",
    "default_per_channel_qconfig",
    "default_per_channel_symmetric_qnnpack_qat_qconfig",
    "default_per_channel_symmetric_qnnpack_qconfig",
    "default_qat_qconfig",
    "default_qat_qconfig_v2",
    "default_qconfig",
    "default_quint8_weight_qconfig",
    "default_reuse_input_qconfig",
    "default_symmetric_qnnpack_qat_qconfig",
    "default_symmetric_qnnpack_qconfig",
    "default_weight_only_qconfig",
    "float16_dynamic_qconfig",
    "float16_static_qconfig",
    "float_qparams_weight_only_qconfig",
    "get_default_qat_qconfig",
    "get_default_qconfig",
    "per_channel_dynamic_qconfig",
]  # fmt: skip
_AS_HALF = PlaceholderObserver.with_args(dtype=dtypes.float16)

default_qconfig = QConfig(default_observer, default_weight_observer)
default_debug_qconfig = QConfig(default_debug_observer, default_weight_observer)
default_per_channel_qconfig = QConfig(default_observer, default_per_channel_weight_observer)
default_dynamic_qconfig = QConfig(default_dynamic_quant_observer, default_weight_observer)
float16_dynamic_qconfig = QConfig(PlaceholderObserver.with_args(dtype=dtypes.float16, is_dynamic=True), _AS_HALF)
float16_static_qconfig = QConfig(_AS_HALF, _AS_HALF)
per_channel_dynamic_qconfig = QConfig(default_dynamic_quant_observer, default_per_channel_weight_observer)
default_quint8_weight_qconfig = QConfig(HistogramObserver, MinMaxObserver)
float_qparams_weight_only_qconfig = QConfig(default_placeholder_observer, default_float_qparams_observer)
default_qat_qconfig = QConfig(default_fake_quant, default_weight_fake_quant)
default_dynamic_qat_qconfig = QConfig(default_dynamic_fake_quant, default_weight_fake_quant)
default_weight_only_qconfig = QConfig(Identity, default_weight_fake_quant)
default_activation_only_qconfig = QConfig(default_fake_quant, Identity)
default_reuse_input_qconfig = QConfig(default_reuse_input_observer, NoopObserver)
default_qat_qconfig_v2 = QConfig(default_fused_act_fake_quant, default_fused_wt_fake_quant)
default_embedding_qat_qconfig = QConfig(NoopObserver.with_args(dtype=dtypes.float32), default_embedding_fake_quant)
default_symmetric_qnnpack_qconfig = QConfig(
    HistogramObserver.with_args(dtype=qint8, reduce_range=False, eps=2**-12), weight_observer_range_neg_127_to_127
)
default_per_channel_symmetric_qnnpack_qconfig = QConfig(
    HistogramObserver.with_args(dtype=qint8, reduce_range=False, eps=2**-12),
    per_channel_weight_observer_range_neg_127_to_127,
)
_SIGNED = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=-128, quant_max=127, dtype=qint8, reduce_range=False, eps=2**-12
)
default_symmetric_qnnpack_qat_qconfig = QConfig(_SIGNED, fused_wt_fake_quant_range_neg_127_to_127)
default_per_channel_symmetric_qnnpack_qat_qconfig = QConfig(
    _SIGNED, fused_per_channel_wt_fake_quant_range_neg_127_to_127
)
_HALVED = {"fbgemm": True, "x86": True, "qnnpack": False, "onednn": False}


def _require_backend(backend: str) -> None:
    known = ["fbgemm", "x86", "qnnpack", "onednn"]
    if backend not in known:
        raise AssertionError(f"backend: {backend} not supported. backend must be one of {known}")


def get_default_qconfig(backend: str = "x86", version: int = 0) -> QConfig:
    """Return what watches a trained model: histograms of results, extremes of weights.

    backend: x86, fbgemm, qnnpack or onednn; the first two use half of the integers for results, and qnnpack has one
    scale for all of a weight. AssertionError for others, and for a version that is not 0.
    """
    _require_backend(backend)
    if version != 0:
        raise AssertionError(
            f"Version number: {version} in get_default_qconfig is not supported. Version number must be 0"
        )
    weight = default_weight_observer if backend == "qnnpack" else default_per_channel_weight_observer
    return QConfig(HistogramObserver.with_args(reduce_range=_HALVED[backend]), weight)


def get_default_qat_qconfig(backend: str = "x86", version: int = 1) -> QConfig:
    """Return what rounds a model in training.

    backend: as for `get_default_qconfig`. version: 1 watches and rounds as one kernel of PyTorch does, 0 as two.
    AssertionError for others.
    """
    _require_backend(backend)
    if version not in (0, 1):
        raise AssertionError(
            f"Version number: {version}in get_default_qat_qconfig is not supported. Version number must be 0 or 1"
        )
    options: dict[str, Any] = {"observer": MovingAverageMinMaxObserver, "quant_min": 0, "quant_max": 255}
    if backend != "onednn":
        options["reduce_range"] = _HALVED[backend]
    is_whole = backend == "qnnpack"
    if version == 0:
        weight = default_weight_fake_quant if is_whole else default_per_channel_weight_fake_quant
        return QConfig(FakeQuantize.with_args(**options), weight)
    weight = default_fused_wt_fake_quant if is_whole else default_fused_per_channel_wt_fake_quant
    return QConfig(FusedMovingAvgObsFakeQuantize.with_args(**options), weight)
