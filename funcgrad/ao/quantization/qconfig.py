"""torch.ao.quantization.qconfig: pairs of what watches a layer's results and what watches its weights."""

from __future__ import annotations

from funcgrad._base import dtypes
from funcgrad.ao.quantization.fake_quantize import (
    default_dynamic_fake_quant,
    default_fake_quant,
    default_weight_fake_quant,
)
from funcgrad.ao.quantization.observer import (
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
)
from funcgrad.ao.stubs import QConfig
from funcgrad.nn.linear import Identity

__all__ = [
    "QConfig", "default_activation_only_qconfig", "default_debug_qconfig", "default_dynamic_qat_qconfig",
    "default_dynamic_qconfig", "default_per_channel_qconfig", "default_qat_qconfig", "default_qconfig",
    "default_reuse_input_qconfig", "default_weight_only_qconfig", "float16_dynamic_qconfig", "float16_static_qconfig",
    "float_qparams_weight_only_qconfig", "per_channel_dynamic_qconfig",
]  # fmt: skip
_AS_HALF = PlaceholderObserver.with_args(dtype=dtypes.float16)

default_qconfig = QConfig(default_observer, default_weight_observer)
default_debug_qconfig = QConfig(default_debug_observer, default_weight_observer)
default_per_channel_qconfig = QConfig(default_observer, default_per_channel_weight_observer)
default_dynamic_qconfig = QConfig(default_dynamic_quant_observer, default_weight_observer)
float16_dynamic_qconfig = QConfig(PlaceholderObserver.with_args(dtype=dtypes.float16, is_dynamic=True), _AS_HALF)
float16_static_qconfig = QConfig(_AS_HALF, _AS_HALF)
per_channel_dynamic_qconfig = QConfig(default_dynamic_quant_observer, default_per_channel_weight_observer)
float_qparams_weight_only_qconfig = QConfig(default_placeholder_observer, default_float_qparams_observer)
default_qat_qconfig = QConfig(default_fake_quant, default_weight_fake_quant)
default_dynamic_qat_qconfig = QConfig(default_dynamic_fake_quant, default_weight_fake_quant)
default_weight_only_qconfig = QConfig(Identity, default_weight_fake_quant)
default_activation_only_qconfig = QConfig(default_fake_quant, Identity)
default_reuse_input_qconfig = QConfig(default_reuse_input_observer, NoopObserver)
