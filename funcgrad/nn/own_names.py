"""A layer of this package that inherits how it is made or run says torch's name where arguments do not fit."""

from __future__ import annotations

from types import FunctionType
from typing import Any

_PACKAGE = __name__.partition(".")[0]
_SHARED = {  # classes whose function torch's layers have in common, so that it is named after these
    "__init__": frozenset(
        (
            "_AdaptiveAvgPoolNd", "_AdaptiveMaxPoolNd", "_BatchNorm", "_DropoutNd", "_InstanceNorm", "_LPPoolNd",
            "_LazyNormBase", "_Loss", "_MaxPoolNd", "_WeightedLoss",
        )
    ),
    "forward": frozenset(
        (
            "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "Hardtanh", "Linear",
            "NLLLoss", "Upsample", "_BatchNorm", "_CircularPadNd", "_ConstantPadNd", "_InstanceNorm",
            "_ReflectionPadNd", "_ReplicationPadNd",
        )
    ),
}  # fmt: skip


def name_own_functions(layer: Any, root: Any) -> None:
    """Give a layer of this package that inherits a function, not from `root`, one that is named as torch's is."""
    if layer.__module__.partition(".")[0] != _PACKAGE:
        return
    for name, shared in _SHARED.items():
        inherited = getattr(layer, name)
        is_named = not layer.__name__.startswith("_") or layer.__name__ in shared
        is_own = name in vars(layer) or inherited is getattr(root, name)
        if is_named and not is_own and inherited.__qualname__.partition(".")[0] not in shared:
            setattr(layer, name, _named(inherited, layer.__name__))


def _named(function: Any, layer: str) -> FunctionType:
    """Return the same function, of this layer."""
    own = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    own.__kwdefaults__, own.__annotations__ = function.__kwdefaults__, function.__annotations__
    own.__doc__, own.__module__ = function.__doc__, function.__module__
    own.__qualname__ = f"{layer}.{function.__name__}"
    return own
