"""torch.onnx: named so that scripts can import it; funcgrad writes no ONNX."""

from __future__ import annotations

from enum import IntEnum
from typing import Any


class TrainingMode(IntEnum):
    """In which mode a model is exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(IntEnum):
    """Which operators an export may use."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


def is_in_onnx_export() -> bool:
    """Tell that no export is going on."""
    return False


def export(*_: Any, **__: Any) -> Any:
    """Raise RuntimeError, and say what can be done instead."""
    raise RuntimeError(
        "torch.onnx.export: funcgrad writes no ONNX. Save the state_dict with torch.save and export from PyTorch, or "
        "take the pure function from funcgrad.func.export and serialise it with jax.export."
    )


dynamo_export = export
