"""torch.ao.quantization.qconfig_mapping: which QConfig holds for which layers, by class, name or pattern."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad.ao.quantization.fake_quantize import FixedQParamsFakeQuantize, default_weight_fake_quant
from funcgrad.ao.quantization.observer import (
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
    default_placeholder_observer,
    default_weight_observer,
)
from funcgrad.ao.quantization.qconfig import (
    QConfig,
    default_quint8_weight_qconfig,
    default_reuse_input_qconfig,
    get_default_qat_qconfig,
    get_default_qconfig,
)
from funcgrad.nn import functional as F

__all__ = ["QConfigMapping", "get_default_qat_qconfig_mapping", "get_default_qconfig_mapping"]
_STYLES = (
    "global_qconfig", "object_type_qconfigs", "module_name_regex_qconfigs", "module_name_qconfigs",
    "module_name_object_type_order_qconfigs",
)  # fmt: skip


class QConfigMapping:
    """Which QConfig (None: none) holds where. What is said later in this list goes before what is said earlier.

    For all; for a class, function or method's name; for modules whose name matches a pattern; for a module's name; for
    the i-th call of a class or function in a module of this name. Each method returns the mapping.
    """

    def __init__(self) -> None:
        self.global_qconfig: Any = None
        self.object_type_qconfigs: OrderedDict[Any, Any] = OrderedDict()
        self.module_name_regex_qconfigs: OrderedDict[str, Any] = OrderedDict()
        self.module_name_qconfigs: OrderedDict[str, Any] = OrderedDict()
        self.module_name_object_type_order_qconfigs: OrderedDict[tuple[str, Any, int], Any] = OrderedDict()

    def set_global(self, global_qconfig: Any) -> QConfigMapping:
        """Say what holds where nothing else does."""
        self.global_qconfig = global_qconfig
        return self

    def set_object_type(self, object_type: Any, qconfig: Any) -> QConfigMapping:
        """Say what holds for a class of modules, a function, or a method's name."""
        self.object_type_qconfigs[object_type] = qconfig
        return self

    def set_module_name_regex(self, module_name_regex: str, qconfig: Any) -> QConfigMapping:
        """Say what holds for modules whose dotted name matches; the first pattern that does counts."""
        self.module_name_regex_qconfigs[module_name_regex] = qconfig
        return self

    def set_module_name(self, module_name: str, qconfig: Any) -> QConfigMapping:
        """Say what holds for a module of this dotted name, and what is in it."""
        self.module_name_qconfigs[module_name] = qconfig
        return self

    def set_module_name_object_type_order(
        self, module_name: str, object_type: Any, index: int, qconfig: Any
    ) -> QConfigMapping:
        """Say what holds for the call number `index` of a class or function in a module of this name."""
        self.module_name_object_type_order_qconfigs[module_name, object_type, index] = qconfig
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return what is said as a dictionary of lists."""
        return {
            "": self.global_qconfig,
            "object_type": [*self.object_type_qconfigs.items()],
            "module_name_regex": [*self.module_name_regex_qconfigs.items()],
            "module_name": [*self.module_name_qconfigs.items()],
            "module_name_object_type_order": [
                (*key, qconfig) for key, qconfig in self.module_name_object_type_order_qconfigs.items()
            ],
        }

    @classmethod
    def from_dict(cls, qconfig_dict: dict[str, Any]) -> QConfigMapping:
        """Return the mapping that `to_dict` wrote; what is not in the dictionary is not said."""
        made = cls()
        made.global_qconfig = qconfig_dict.get("")
        for name, say in (
            ("object_type", made.set_object_type), ("module_name_regex", made.set_module_name_regex),
            ("module_name", made.set_module_name),
            ("module_name_object_type_order", made.set_module_name_object_type_order),
        ):  # fmt: skip
            for entry in qconfig_dict.get(name, []):
                say(*entry)
        return made

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for style in _STYLES:
            said = getattr(self, style)
            lines.append(f" {style}")
            lines += [f"  {key}: {qconfig}" for key, qconfig in said.items()] if style != _STYLES[0] and said else []
            lines += [] if style != _STYLES[0] and said else [f"  {said}"]
        return "\n".join([*lines, ")"])


_FIXED = {
    **dict.fromkeys(
        (nn.Hardsigmoid, F.hardsigmoid, "hardsigmoid", "hardsigmoid_", nn.Sigmoid, fg.sigmoid, "sigmoid", "sigmoid_",
         nn.Softmax),
        default_fixed_qparams_range_0to1_observer,
    ),
    **dict.fromkeys((nn.Tanh, fg.tanh, "tanh", "tanh_"), default_fixed_qparams_range_neg1to1_observer),
}  # fmt: skip
_TRANSPOSED = (
    nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d, F.conv_transpose1d, F.conv_transpose2d,
    F.conv_transpose3d,
)  # fmt: skip


def _default(is_qat: bool, backend: str, version: int) -> QConfigMapping:
    qconfig = (get_default_qat_qconfig if is_qat else get_default_qconfig)(backend, version)
    weight = default_weight_fake_quant if is_qat else default_weight_observer
    transposed = QConfig(qconfig.activation, weight) if backend in ("fbgemm", "x86") else qconfig
    normed = QConfig(qconfig.activation, default_placeholder_observer)
    made = QConfigMapping().set_global(qconfig).set_object_type("reshape", default_reuse_input_qconfig)
    for kind in _TRANSPOSED:
        made.set_object_type(kind, transposed)
    for kind in (F.layer_norm, nn.LayerNorm):
        made.set_object_type(kind, normed)
    made.set_object_type(nn.PReLU, default_quint8_weight_qconfig)
    fixed = {
        observer: QConfig(FixedQParamsFakeQuantize.with_args(observer=observer) if is_qat else observer, weight)
        for observer in dict.fromkeys(_FIXED.values())
    }
    for kind, observer in _FIXED.items():
        made.set_object_type(kind, fixed[observer])
    return made


def get_default_qconfig_mapping(backend: str = "x86", version: int = 0) -> QConfigMapping:
    """Return what watches a trained model: arguments and errors as of `get_default_qconfig`."""
    return _default(False, backend, version)


def get_default_qat_qconfig_mapping(backend: str = "x86", version: int = 1) -> QConfigMapping:
    """Return what rounds a model in training: arguments and errors as of `get_default_qat_qconfig`."""
    return _default(True, backend, version)
