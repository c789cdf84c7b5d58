"""torch.quantization: the older name of `torch.ao.quantization`."""

from __future__ import annotations

from funcgrad.ao.quantization import (
    DeQuantStub,
    QConfig,
    QuantStub,
    QuantWrapper,
    get_default_dynamic_quant_module_mappings,
    quantize_dynamic,
)

__all__ = [
    "DeQuantStub", "QConfig", "QuantStub", "QuantWrapper", "get_default_dynamic_quant_module_mappings",
    "quantize_dynamic",
]  # fmt: skip
