"""torch.ao.quantization: `quantize_dynamic`, which gives the layers of a trained model 8-bit weights.

`fuse_modules`, `prepare` and `prepare_qat` are there for training with rounded numbers; static models of integers are
not.

>>> model = nn.Sequential(nn.Linear(4, 2), nn.ReLU())
>>> quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
Sequential(
  (0): DynamicQuantizedLinear(in_features=4, out_features=2, dtype=torch.qint8, qscheme=torch.per_tensor_affine)
  (1): ReLU()
)
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from funcgrad import nn
from funcgrad._base.quantized_dtypes import qint8
from funcgrad._base.warning import warn
from funcgrad.ao.nn.quantized import dynamic
from funcgrad.ao.quantization import (
    fake_quantize,
    fusing,
    histogram,
    observer,
    preparing,
    qconfig,
    qconfig_mapping,
    quantize_fx,
)
from funcgrad.ao.quantization.fake_quantize import *  # noqa: F403
from funcgrad.ao.quantization.fusing import *  # noqa: F403
from funcgrad.ao.quantization.histogram import *  # noqa: F403
from funcgrad.ao.quantization.observer import *  # noqa: F403
from funcgrad.ao.quantization.preparing import *  # noqa: F403
from funcgrad.ao.quantization.preparing import DEPRECATED
from funcgrad.ao.quantization.qconfig import *  # noqa: F403
from funcgrad.ao.quantization.qconfig_mapping import *  # noqa: F403
from funcgrad.ao.stubs import DeQuantStub, QConfig, QuantStub, QuantWrapper
from funcgrad.nn.module import Module

__all__ = [
    "DeQuantStub", "QConfig", "QuantStub", "QuantWrapper", "get_default_dynamic_quant_module_mappings",
    "quantize_dynamic",
]  # fmt: skip
__all__ += fake_quantize.__all__
__all__ += fusing.__all__
__all__ += histogram.__all__
__all__ += observer.__all__
__all__ += preparing.__all__
__all__ += qconfig.__all__
__all__ += qconfig_mapping.__all__
__all__ += ["quantize_fx"]
_MAPPING: dict[type, type] = {
    nn.GRUCell: dynamic.GRUCell, nn.Linear: dynamic.Linear, nn.LSTM: dynamic.LSTM, nn.GRU: dynamic.GRU,
    nn.LSTMCell: dynamic.LSTMCell, nn.RNNCell: dynamic.RNNCell,
}  # fmt: skip


def get_default_dynamic_quant_module_mappings() -> dict[type, type]:
    """Return the quantised class of each class of modules that has one."""
    return dict(_MAPPING)


def quantize_dynamic(
    model: Module, qconfig_spec: Iterable[Any] | None = None, dtype: Any = qint8, mapping: Any = None,
    inplace: bool = False,
) -> Module:  # fmt: skip
    """Return a copy of the model, in evaluation, whose layers have 8-bit weights.

    qconfig_spec: classes of modules, and names of single ones with all that is below them; None: all that can be.
    ValueError for another dtype than qint8.
    """
    warn(DEPRECATED, DeprecationWarning)
    if dtype is not qint8:
        raise ValueError(
            f"Don't know how to quantize with default settings for {dtype}: weights are rounded to torch.qint8"
        )
    given = {*_MAPPING} if qconfig_spec is None else set(qconfig_spec)
    quantised = model if inplace else copy.deepcopy(model)
    quantised.eval()
    _convert(quantised, "", given, type(quantised) in given, _MAPPING if mapping is None else mapping)
    return quantised


def _convert(module: Module, prefix: str, given: set[Any], is_chosen: bool, mapping: Any) -> None:
    """Put quantised modules in the places of those that are chosen: by class, by name, or with what is around them."""
    for name, child in module.named_children():
        path = f"{prefix}{name}"
        chosen = is_chosen or type(child) in given or path in given
        if chosen and type(child) in mapping:
            setattr(module, name, mapping[type(child)].from_float(child))
        else:
            _convert(child, f"{path}.", given, chosen, mapping)
