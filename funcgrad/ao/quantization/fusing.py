"""torch.ao.quantization.fuse_modules: layers that follow each other become one.

>>> model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()).eval()
>>> fuse_modules(model, [["0", "1", "2"]])
Sequential(
  (0): ConvReLU2d(
    (0): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1))
    (1): ReLU()
  )
  (1): Identity()
  (2): Identity()
)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from funcgrad import nn
from funcgrad.ao.nn import intrinsic
from funcgrad.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval
from funcgrad.nn.utils.parametrize import type_before_parametrizations

__all__ = [
    "fuse_conv_bn", "fuse_conv_bn_relu", "fuse_known_modules", "fuse_linear_bn", "fuse_modules", "fuse_modules_qat",
    "get_fuser_method",
]  # fmt: skip
_WITH_NORM = {nn.Conv1d: intrinsic.ConvBn1d, nn.Conv2d: intrinsic.ConvBn2d, nn.Conv3d: intrinsic.ConvBn3d}
_WITH_NORM_AND_RELU = {
    nn.Conv1d: intrinsic.ConvBnReLU1d, nn.Conv2d: intrinsic.ConvBnReLU2d, nn.Conv3d: intrinsic.ConvBnReLU3d
}  # fmt: skip
_WITH_RELU = {nn.Conv1d: intrinsic.ConvReLU1d, nn.Conv2d: intrinsic.ConvReLU2d, nn.Conv3d: intrinsic.ConvReLU3d}


def _require(is_met: bool, demand: str) -> None:
    if not is_met:
        raise AssertionError(demand)


def _require_norm(bn: Any, size: int, what: str, norm: str, end: str) -> None:
    """AssertionError for a normalization that training cannot take along."""
    _require(bn.num_features == size, f"Output {what} must match num_features of {norm}{end}")
    _require(bn.affine, f"Only support fusing {norm} with affine set to True")
    _require(bn.track_running_stats, f"Only support fusing {norm} with tracking_running_stats set to True")


def fuse_conv_bn(is_qat: bool, conv: Any, bn: Any) -> nn.Module:
    """Return one module for both: for training a pair of them, else a convolution that does what both do."""
    _require(conv.training == bn.training, "Conv and BN both must be in the same mode (train or eval).")
    if not is_qat:
        return fuse_conv_bn_eval(conv, bn)
    _require_norm(bn, conv.out_channels, "channel of Conv2d", "BatchNorm2d", ".")
    if type(conv) not in _WITH_NORM:
        raise NotImplementedError(f"Cannot fuse train modules: {(conv, bn)}")
    return _WITH_NORM[type(conv)](conv, bn)


def fuse_conv_bn_relu(is_qat: bool, conv: Any, bn: Any, relu: nn.Module) -> nn.Module:
    """Return one module for all three: for training all of them, else a convolution and ReLU."""
    is_one = conv.training == bn.training == relu.training
    _require(is_one, "Conv and BN both must be in the same mode (train or eval).")
    kinds: dict[type, Any] = _WITH_NORM_AND_RELU if is_qat else _WITH_RELU
    if is_qat:
        _require_norm(bn, conv.out_channels, "channel of Conv2d", "BatchNorm2d", "")
    if type(conv) not in kinds:
        raise NotImplementedError(f"Cannot fuse {'train' if is_qat else 'eval'} modules: {(conv, bn, relu)}")
    return kinds[type(conv)](conv, bn, relu) if is_qat else kinds[type(conv)](fuse_conv_bn_eval(conv, bn), relu)


def fuse_linear_bn(is_qat: bool, linear: Any, bn: Any) -> nn.Module:
    """Return one module for both: for training a pair of them, else a linear layer that does what both do."""
    _require(linear.training == bn.training, "Linear and BN both must be in the same mode (train or eval).")
    if not is_qat:
        return fuse_linear_bn_eval(linear, bn)
    _require_norm(bn, linear.out_features, "features of Linear", "BatchNorm1d", "")
    return intrinsic.LinearBn1d(linear, bn)


def fuse_convtranspose_bn(is_qat: bool, convt: Any, bn: Any) -> nn.Module:
    """Return a transposed convolution that does what both do."""
    _require(convt.training == bn.training, "ConvTranspose and BN both must be in the same mode (train or eval).")
    if is_qat:
        raise Exception("Fusing ConvTranspose+BatchNorm not yet supported in QAT.")
    return fuse_conv_bn_eval(convt, bn, transpose=True)


def _pair(kind: type) -> Callable[..., nn.Module]:
    return lambda is_qat, first, second: kind(first, second)


_METHODS: dict[tuple[type, ...], Callable[..., nn.Module]] = {
    (nn.Conv1d, nn.BatchNorm1d): fuse_conv_bn, (nn.Conv1d, nn.BatchNorm1d, nn.ReLU): fuse_conv_bn_relu,
    (nn.Conv2d, nn.BatchNorm2d): fuse_conv_bn, (nn.Conv2d, nn.BatchNorm2d, nn.ReLU): fuse_conv_bn_relu,
    (nn.Conv3d, nn.BatchNorm3d): fuse_conv_bn, (nn.Conv3d, nn.BatchNorm3d, nn.ReLU): fuse_conv_bn_relu,
    **{(conv, nn.ReLU): _pair(fused) for conv, fused in _WITH_RELU.items()},
    (nn.Linear, nn.BatchNorm1d): fuse_linear_bn, (nn.Linear, nn.ReLU): _pair(intrinsic.LinearReLU),
    (nn.BatchNorm2d, nn.ReLU): _pair(intrinsic.BNReLU2d), (nn.BatchNorm3d, nn.ReLU): _pair(intrinsic.BNReLU3d),
    (nn.ConvTranspose1d, nn.BatchNorm1d): fuse_convtranspose_bn,
    (nn.ConvTranspose2d, nn.BatchNorm2d): fuse_convtranspose_bn,
    (nn.ConvTranspose3d, nn.BatchNorm3d): fuse_convtranspose_bn,
}  # fmt: skip


def get_fuser_method(
    op_list: tuple[type, ...], additional_fuser_method_mapping: dict[Any, Any] | None = None
) -> Callable[..., nn.Module]:
    """Return what fuses modules of these classes: a function of `is_qat` and the modules. AssertionError: nothing does.

    additional_fuser_method_mapping: others, by the classes.
    """
    found = {**_METHODS, **(additional_fuser_method_mapping or {})}.get(op_list)
    if found is None:
        raise AssertionError(f"did not find fuser method for: {op_list} ")
    return found


def fuse_known_modules(
    mod_list: Sequence[Any], is_qat: bool, additional_fuser_method_mapping: dict[Any, Any] | None = None
) -> list[nn.Module]:
    """Return the fused module, which takes the hooks of both ends along, and an Identity for each other one."""
    kinds = tuple(map(type_before_parametrizations, mod_list))
    fused = get_fuser_method(kinds, additional_fuser_method_mapping)(is_qat, *mod_list)
    for hook in mod_list[0]._forward_pre_hooks.values():
        fused.register_forward_pre_hook(hook)
    mod_list[0]._forward_pre_hooks.clear()
    for hook in mod_list[-1]._forward_hooks.values():
        fused.register_forward_hook(hook)
    mod_list[-1]._forward_hooks.clear()
    others = [nn.Identity() for _ in mod_list[1:]]
    for identity in others:
        identity.training = mod_list[0].training
    return [fused, *others]


def _fuse(model: nn.Module, names: Any, is_qat: bool, inplace: bool, fuser: Any, config: Any) -> nn.Module:
    model = model if inplace else copy.deepcopy(model)
    methods = (config or {}).get("additional_fuser_method_mapping", {})
    for group in [names] if all(isinstance(name, str) for name in names) else names:
        found = fuser([_owner(model, name, whole=True) for name in group], is_qat, methods)
        for name, module in zip(group, found, strict=True):
            setattr(_owner(model, name), name.rpartition(".")[2], module)
    return model


def _owner(model: nn.Module, name: str, whole: bool = False) -> Any:
    """Return what a dotted name is an attribute of; of the whole name that itself."""
    found: Any = model
    for part in name.split(".")[: None if whole else -1]:
        found = getattr(found, part)
    return found


def fuse_modules(
    model: nn.Module, modules_to_fuse: Any, inplace: bool = False, fuser_func: Any = fuse_known_modules,
    fuse_custom_config_dict: dict[str, Any] | None = None,
) -> nn.Module:  # fmt: skip
    """Return a copy of a model, in evaluation, in which each group of layers is one.

    modules_to_fuse: a group of dotted names, or a list of groups: a convolution or linear layer, batch normalization,
    ReLU. AssertionError for others, and for modules in training. fuser_func: makes the modules that take their places.
    fuse_custom_config_dict: under "additional_fuser_method_mapping" functions for other classes.
    """
    return _fuse(model, modules_to_fuse, False, inplace, fuser_func, fuse_custom_config_dict)


def fuse_modules_qat(
    model: nn.Module, modules_to_fuse: Any, inplace: bool = False, fuser_func: Any = fuse_known_modules,
    fuse_custom_config_dict: dict[str, Any] | None = None,
) -> nn.Module:  # fmt: skip
    """Return a copy of a model to be trained, in which each group of layers is one that is prepared as a whole."""
    return _fuse(model, modules_to_fuse, True, inplace, fuser_func, fuse_custom_config_dict)
