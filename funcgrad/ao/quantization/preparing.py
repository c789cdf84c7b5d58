"""Models whose layers are watched, or rounded as they are trained: `prepare`, `prepare_qat`, and what they are made of.

>>> model = nn.Sequential(nn.Linear(4, 2), nn.ReLU())
>>> model.qconfig = default_qconfig
>>> prepare(model)[0].activation_post_process
MinMaxObserver(min_val=inf, max_val=-inf)
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from funcgrad import nn
from funcgrad._base.warning import warn
from funcgrad.ao.nn import intrinsic, qat
from funcgrad.ao.nn.intrinsic import _FusedModule
from funcgrad.ao.nn.intrinsic import qat as fused_qat
from funcgrad.ao.nn.quantized import FloatFunctional
from funcgrad.ao.quantization.fake_quantize import (
    FakeQuantizeBase,
    default_fixed_qparams_range_0to1_fake_quant,
    default_fixed_qparams_range_neg1to1_fake_quant,
)
from funcgrad.ao.quantization.observer import (
    MovingAveragePerChannelMinMaxObserver,
    ObserverBase,
    PerChannelMinMaxObserver,
)
from funcgrad.ao.stubs import DeQuantStub, QConfig, QuantStub, QuantWrapper
from funcgrad.nn.linear import NonDynamicallyQuantizableLinear
from funcgrad.nn.utils.parametrize import is_parametrized, type_before_parametrizations

__all__ = [
    "add_quant_dequant", "convert", "get_default_qat_module_mappings", "get_default_qconfig_propagation_list",
    "get_embedding_qat_module_mappings", "no_observer_set", "prepare", "prepare_qat", "propagate_qconfig_",
    "swap_module",
]  # fmt: skip
DEPRECATED = (
    "torch.ao.quantization is deprecated and will be removed in 2.10. \n"
    "For migrations of users: \n"
    "1. Eager mode quantization (torch.ao.quantization.quantize, torch.ao.quantization.quantize_dynamic), please "
    "migrate to use torchao eager mode quantize_ API instead \n"
    "2. FX graph mode quantization (torch.ao.quantization.quantize_fx.prepare_fx,"
    "torch.ao.quantization.quantize_fx.convert_fx, please migrate to use torchao pt2e quantization API instead "
    "(prepare_pt2e, convert_pt2e) \n"
    "3. pt2e quantization has been migrated to torchao (https://github.com/pytorch/ao/tree/main/torchao/quantization/"
    "pt2e) \n"
    "see https://github.com/pytorch/ao/issues/2259 for more details"
)
_TRAINED: dict[type, Any] = {
    nn.Conv2d: qat.Conv2d, nn.Conv3d: qat.Conv3d, nn.Linear: qat.Linear, NonDynamicallyQuantizableLinear: qat.Linear,
    intrinsic.ConvBn1d: fused_qat.ConvBn1d, intrinsic.ConvBn2d: fused_qat.ConvBn2d,
    intrinsic.ConvBn3d: fused_qat.ConvBn3d, intrinsic.ConvBnReLU1d: fused_qat.ConvBnReLU1d,
    intrinsic.ConvBnReLU2d: fused_qat.ConvBnReLU2d, intrinsic.ConvBnReLU3d: fused_qat.ConvBnReLU3d,
    intrinsic.ConvReLU2d: fused_qat.ConvReLU2d, intrinsic.ConvReLU3d: fused_qat.ConvReLU3d,
    intrinsic.LinearReLU: fused_qat.LinearReLU, intrinsic.LinearBn1d: fused_qat.LinearBn1d,
}  # fmt: skip
_WATCHED = {  # what has a counterpart in integers in torch, once it has been watched
    QuantStub, DeQuantStub, nn.BatchNorm2d, nn.BatchNorm3d, nn.Dropout, nn.Conv1d, nn.Conv2d, nn.Conv3d,
    nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d, nn.ELU, nn.Embedding, nn.EmbeddingBag, nn.GroupNorm,
    nn.Hardswish, nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d, nn.LayerNorm, nn.LeakyReLU,
    NonDynamicallyQuantizableLinear, nn.Linear, nn.ReLU6, nn.PReLU, FloatFunctional, intrinsic.BNReLU2d,
    intrinsic.BNReLU3d, intrinsic.ConvReLU1d, intrinsic.ConvReLU2d, intrinsic.ConvReLU3d, intrinsic.ConvAdd2d,
    intrinsic.ConvAddReLU2d, intrinsic.LinearReLU, intrinsic.LinearLeakyReLU, intrinsic.LinearTanh,
    fused_qat.ConvBn1d, fused_qat.ConvBn2d, fused_qat.ConvBn3d, fused_qat.ConvBnReLU1d, fused_qat.ConvBnReLU2d,
    fused_qat.ConvBnReLU3d, fused_qat.ConvReLU2d, fused_qat.ConvReLU3d, fused_qat.LinearReLU, fused_qat.LinearBn1d,
    qat.Linear, qat.Conv2d, qat.Conv3d, nn.GRUCell, nn.LSTM, nn.GRU, nn.LSTMCell, nn.RNNCell, nn.Sequential,
}  # fmt: skip
_OF_KNOWN_RANGE = {
    nn.Hardsigmoid: default_fixed_qparams_range_0to1_fake_quant,
    nn.Sigmoid: default_fixed_qparams_range_0to1_fake_quant,
    nn.Softmax: default_fixed_qparams_range_0to1_fake_quant,
    nn.Tanh: default_fixed_qparams_range_neg1to1_fake_quant,
}


def get_default_qat_module_mappings() -> dict[type, Any]:
    """Return for each class of layers that rounds its weights in training the class that does."""
    return dict(_TRAINED)


def get_embedding_qat_module_mappings() -> dict[type, Any]:
    """Return the same, for tables too."""
    return {**_TRAINED, nn.EmbeddingBag: qat.EmbeddingBag, nn.Embedding: qat.Embedding}


def get_default_qconfig_propagation_list() -> set[type]:
    """Return the classes of modules that are watched."""
    return _WATCHED | set(_TRAINED)


def no_observer_set() -> set[type]:
    """Return the classes of modules that are never watched: none are there."""
    return set()


def propagate_qconfig_(
    module: nn.Module, qconfig_dict: dict[Any, Any] | None = None, prepare_custom_config_dict: Any = None
) -> None:
    """Give each module the `qconfig` that it has, or that is said for its name or class, or its parent's.

    qconfig_dict: by dotted names, and classes. AssertionError for a scale for each channel of a transposed convolution.
    prepare_custom_config_dict: under "non_traceable_module_name" and "..._class" what is left alone.
    """
    _propagate(module, qconfig_dict or {}, None, "", prepare_custom_config_dict or {})


def _propagate(module: Any, said: dict[Any, Any], parents: Any, path: str, custom: dict[str, Any]) -> None:
    found = said.get(path, said.get(type_before_parametrizations(module), parents))
    found = getattr(module, "qconfig", found)
    _require_whole_scale(found, module)
    module.qconfig = found = _on_device_of(module, found)
    for name, child in module.named_children():
        is_left = name in custom.get("non_traceable_module_name", ())
        if not is_left and type(child) not in custom.get("non_traceable_module_class", ()):
            _propagate(child, said, found, f"{path}.{name}" if path else name, {})


def _require_whole_scale(qconfig: Any, module: nn.Module) -> None:
    is_transposed = isinstance(module, (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d))
    if qconfig is None or not is_transposed or qconfig.weight is None:
        return
    if isinstance(qconfig.weight(), (PerChannelMinMaxObserver, MovingAveragePerChannelMinMaxObserver)):
        raise AssertionError("Per channel weight observer is not supported yet for ConvTranspose{n}d.")


def _on_device_of(module: nn.Module, qconfig: Any) -> Any:
    """Return makers whose buffers lie on the device of the module, as far as they take that."""
    if qconfig is None or getattr(qconfig, "_fields", None) != ("activation", "weight"):
        return qconfig

    def options() -> dict[str, Any] | None:
        devices = _devices(module)
        return {"device": next(iter(devices))} if devices else None

    def placed(make: Any) -> Any:
        try:
            make.with_args(factory_kwargs=None)()
            return make.with_callable_args(factory_kwargs=options)
        except (AttributeError, TypeError):  # what has no such argument
            return make

    return QConfig(placed(qconfig.activation), placed(qconfig.weight))


def _devices(module: nn.Module) -> set[Any]:
    return {x.device for x in (*module.parameters(), *module.buffers()) if x.device.type != "meta"}


def _watch(self: Any, input: Any, output: Any) -> Any:
    return self.activation_post_process(output)


def _watch_input(self: Any, input: Any) -> Any:
    return self.activation_post_process(input[0])


class _Watching:
    """Gives modules what watches their results, or rounds them."""

    def __init__(self, watched: Iterable[type], inner: Iterable[type], custom: dict[type, Any], device: Any) -> None:
        self.watched, self.inner, self.custom, self.device = set(watched), set(inner), custom, device

    def add(self, module: nn.Module) -> None:
        """Give it to all below a module, and to the module itself if there are none."""
        for name, child in list(module.named_children()):
            self._add_to_child(module, name, child)
        kind = type_before_parametrizations(module)
        is_layer = not isinstance(module, nn.Sequential) and kind in self.watched
        has_parts = bool(list(module.children())) and not _has_only_parametrizations(module)
        if is_layer and not has_parts:
            self._insert(module)
        if is_layer and hasattr(module, "weight_fake_quant"):
            self._insert(module)

    def _add_to_child(self, module: nn.Module, name: str, child: Any) -> None:
        kind = type_before_parametrizations(child)
        if kind is nn.Dropout:
            return
        if issubclass(kind, FloatFunctional):
            if _is_meant(child):
                child.activation_post_process = self._made(child.qconfig.activation)
        elif isinstance(child, _FusedModule) or kind in self.inner:
            self._insert(child)
        elif kind in _OF_KNOWN_RANGE and child.training:
            self._insert(child, _OF_KNOWN_RANGE[kind])
        elif _is_meant(child) and kind in self.custom:
            setattr(module, name, self.custom[kind].from_float(child))
            self._insert(getattr(module, name))
        else:
            self.add(child)

    def _made(self, make: Any) -> Any:
        made = make()
        return made if self.device is None else made.to(self.device)

    def _insert(self, module: Any, make: Any = None) -> None:
        if not _is_meant(module) or isinstance(module, DeQuantStub):
            return
        module.add_module("activation_post_process", self._made(make or module.qconfig.activation))
        if _forgets(module.qconfig):
            module.register_forward_pre_hook(_watch_input, prepend=True)
        else:
            module.register_forward_hook(_watch, prepend=True)


def _is_meant(module: nn.Module) -> bool:
    return getattr(module, "qconfig", None) is not None


def _has_only_parametrizations(module: nn.Module) -> bool:
    return is_parametrized(module) and len(list(module.children())) == 1


def _forgets(qconfig: Any) -> bool:
    """Tell whether the scale of results is settled anew for each tensor: an average with a weight of 1."""
    watching = qconfig.activation()
    if isinstance(watching, FakeQuantizeBase):
        watching = getattr(watching, "activation_post_process", watching)
    return getattr(watching, "averaging_constant", None) == 1


def add_quant_dequant(module: nn.Module) -> nn.Module:
    """Put each layer that has a `qconfig` between marks for integers and floats; return the module, or its wrapper."""
    children = list(module.named_children())
    if getattr(module, "qconfig", None) and (not children or _has_only_parametrizations(module)):
        return QuantWrapper(module)
    for name, child in children:
        module._modules[name] = add_quant_dequant(child)
    return module


def prepare(
    model: nn.Module, inplace: bool = False, allow_list: Iterable[type] | None = None,
    observer_non_leaf_module_list: Iterable[type] | None = None, prepare_custom_config_dict: Any = None,
) -> nn.Module:  # fmt: skip
    """Return a copy of a model whose layers are watched, as the `qconfig` says that it has or its modules have.

    allow_list: the classes of layers that are watched. observer_non_leaf_module_list: classes of modules with parts
    that are watched. prepare_custom_config_dict: under "float_to_observed_custom_module_class" classes whose
    `from_float` makes what takes a module's place.
    """
    warn(DEPRECATED, DeprecationWarning)
    custom = (prepare_custom_config_dict or {}).get("float_to_observed_custom_module_class", {})
    model = model if inplace else copy.deepcopy(model)
    propagate_qconfig_(model)
    if not any(getattr(module, "qconfig", None) for module in model.modules()):
        warn(
            "None of the submodule got qconfig applied. Make sure you passed correct configuration through "
            "`qconfig_dict` or by assigning the `.qconfig` attribute directly on submodules"
        )
    devices = _devices(model)
    if len(devices) > 1:
        raise AssertionError(
            f"_add_observer_ only works with cpu or single-device CUDA modules, but got devices {devices}"
        )
    watched = get_default_qconfig_propagation_list() if allow_list is None else allow_list
    device = next(iter(devices), None)
    _Watching(watched, observer_non_leaf_module_list or (), custom, device).add(model)
    return model


def prepare_qat(model: nn.Module, mapping: dict[type, Any] | None = None, inplace: bool = False) -> nn.Module:
    """Return a copy of a model in training whose weights and results are rounded, as its `qconfig` says.

    mapping: for classes of layers those that round their weights. AssertionError for a model in evaluation.
    """
    warn(DEPRECATED, DeprecationWarning)
    if not model.training:
        raise AssertionError("prepare_qat only works on models in training mode")
    mapping = get_default_qat_module_mappings() if mapping is None else mapping
    model = model if inplace else copy.deepcopy(model)
    propagate_qconfig_(model)
    convert(model, mapping=mapping, inplace=True, remove_qconfig=False)
    return prepare(model, observer_non_leaf_module_list=set(mapping.values()), inplace=True)


def convert(
    module: nn.Module, mapping: dict[type, Any] | None = None, inplace: bool = False, remove_qconfig: bool = True,
    is_reference: bool = False, convert_custom_config_dict: Any = None, use_precomputed_fake_quant: bool = False,
) -> nn.Module:  # fmt: skip
    """Return a copy of a model in which `from_float` of what `mapping` has for its class made each layer anew.

    NotImplementedError without a mapping: torch's own layers of integers with fixed scales are not there.
    """
    warn(DEPRECATED, DeprecationWarning)
    if mapping is None:
        raise NotImplementedError(
            "convert: funcgrad has no layers of integers with fixed scales; give a `mapping`, use `quantize_dynamic`, "
            "or save the state_dict of the prepared model and convert it in PyTorch"
        )
    custom = (convert_custom_config_dict or {}).get("observed_to_quantized_custom_module_class", {})
    module = module if inplace else copy.deepcopy(module)
    _convert(module, mapping, custom, use_precomputed_fake_quant)
    if remove_qconfig:
        _forget(module)
    return module


def _convert(module: nn.Module, mapping: dict[type, Any], custom: dict[type, Any], is_known: bool) -> None:
    made = {}
    for name, child in module.named_children():
        if not isinstance(child, _FusedModule) and type_before_parametrizations(child) not in custom:
            _convert(child, mapping, custom, is_known)
        made[name] = swap_module(child, mapping, custom, is_known)
    module._modules.update(made)


def _forget(module: Any) -> None:
    """Take from a module, and from all below it, what it was prepared with."""
    for child in module.children():
        _forget(child)
    if hasattr(module, "qconfig"):
        del module.qconfig
    if isinstance(getattr(module, "activation_post_process", None), (ObserverBase, FakeQuantizeBase)):
        del module.activation_post_process
    for hooks in (module._forward_hooks, module._forward_pre_hooks):
        for number in [number for number, hook in hooks.items() if hook in (_watch, _watch_input)]:
            del hooks[number]


def swap_module(
    mod: nn.Module, mapping: dict[type, Any], custom_module_class_mapping: dict[type, Any],
    use_precomputed_fake_quant: bool = False,
) -> nn.Module:  # fmt: skip
    """Return what takes the place of a module that has a `qconfig`, with its hooks; else the module itself."""
    kind = type_before_parametrizations(mod)
    if not _is_meant(mod) or not (kind in custom_module_class_mapping or kind in mapping):
        return mod
    if kind in custom_module_class_mapping:
        made = custom_module_class_mapping[kind].from_observed(mod)
    else:
        make: Callable[..., Any] = mapping[kind].from_float
        takes_it = "use_precomputed_fake_quant" in inspect.signature(make).parameters
        made = make(mod, **({"use_precomputed_fake_quant": use_precomputed_fake_quant} if takes_it else {}))
    for hook in mod._forward_pre_hooks.values():
        made.register_forward_pre_hook(hook)
    for hook in mod._forward_hooks.values():
        if hook is not _watch:
            made.register_forward_hook(hook)
    devices = _devices(mod)
    return made.to(next(iter(devices))) if len(devices) == 1 else made
