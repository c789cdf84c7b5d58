"""torch.utils._foreach_utils: lists of tensors sorted by device and dtype, as optimizers of libraries ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from funcgrad._tensor.tensor import Tensor

__all__ = [
    "_default_to_fused_or_foreach", "_device_has_foreach_support", "_get_capturable_supported_devices",
    "_get_foreach_kernels_supported_devices", "_get_fused_kernels_supported_devices",
    "_group_tensors_by_device_and_dtype", "_has_foreach_support",
]  # fmt: skip

Groups: TypeAlias = dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]]


def _group_tensors_by_device_and_dtype(tensorlistlist: Sequence[Sequence[Any]], with_indices: bool = False) -> Groups:
    """Return, for each device and dtype in the first list, what stands at its places in every list, and the places.

    with_indices: without it the places are left out. RuntimeError where the first list holds what is no tensor.

    >>> _group_tensors_by_device_and_dtype([[zeros(2), ones(1).long()], ["a", "b"]], with_indices=True)
    {(device(type='cpu'), torch.float32): ([[tensor([0., 0.])], ['a']], [0]),
     (device(type='cpu'), torch.int64): ([[tensor([1])], ['b']], [1])}
    """
    groups: Groups = {}
    for place, tensor in enumerate(tensorlistlist[0]):
        if not isinstance(tensor, Tensor):
            raise RuntimeError(
                "Tensors of the first list of nested Tensor lists are supposed to be defined but "
                f"the {place}-th Tensor is not."
            )
        lists, places = groups.setdefault((tensor.device, tensor.dtype), ([[] for _ in tensorlistlist], []))
        for found, given in zip(lists, tensorlistlist, strict=True):
            if given:
                found.append(given[place])
        if with_indices:
            places.append(place)
    return groups


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Return the kinds of devices on which torch itself prefers `_foreach_` functions."""
    return ["cuda"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """Return the kinds of devices on which an optimizer may be asked to be fused: all, each step is one program."""
    return ["cpu", "cuda"]


def _device_has_foreach_support(device: Any) -> bool:
    """Tell whether `_foreach_` functions take tensors of a device."""
    return device.type in _get_fused_kernels_supported_devices()


def _has_foreach_support(tensors: Sequence[Any], device: Any) -> bool:
    """Tell whether `_foreach_` functions take these tensors."""
    return _device_has_foreach_support(device) and all(x is None or isinstance(x, Tensor) for x in tensors)


def _default_to_fused_or_foreach(
    params: Sequence[Any], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:  # fmt: skip
    """Tell whether torch's own optimizers would be fused, and whether they would take whole lists, without being told.

    Either way a step here is one program; libraries ask before they choose between their own two ways of writing it.
    """
    if differentiable:
        return False, False
    plain = [p for p in params if p is not None]
    fused = use_fused and all(p.is_floating_point() for p in plain)
    listed = _get_foreach_kernels_supported_devices()
    return fused, not fused and all(p.device.type in listed for p in plain)


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """Return the kinds of devices on which an optimizer may keep its count of steps in a tensor: all."""
    return ["cpu", "cuda", *(["xla"] if supports_xla else [])]
