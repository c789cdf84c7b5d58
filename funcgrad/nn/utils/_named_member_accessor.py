"""torch.nn.utils._named_member_accessor: a tensor or submodule of a module, put in the place of another by its name."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.module import Module

__all__ = ["set_tensor", "swap_submodule", "swap_tensor"]

_MISSING: Any = object()  # what stands for no tensor: to take one away, or that there was none


def set_tensor(module: Module, name: str, tensor: Tensor | None) -> None:
    """Put a tensor in the place of a parameter, buffer or attribute; its kind stays, and no hook is called."""
    _require(module, Module, "torch.nn.Module")
    if tensor is not None:
        _require(tensor, Tensor, "torch.Tensor")
    _check_name("tensor", name)
    members = _members(module, name)
    if members is None:
        setattr(module, name, tensor)
    else:
        members[name] = tensor


def swap_tensor(module: Module, name: str, tensor: Any, allow_missing: bool = False) -> Any:
    """Put a tensor in the place of another; return that one.

    Where there is none yet AttributeError is raised, unless allow_missing; then a mark is returned, which, given as
    the tensor, takes it away again.
    """
    _require(module, Module, "torch.nn.Module")
    if tensor is not _MISSING and tensor is not None:
        _require(tensor, Tensor, "torch.Tensor")
    _check_name("tensor", name)
    members = _members(module, name)
    if members is not None:
        before = members[name]
        if tensor is _MISSING:
            del members[name]
        else:
            members[name] = tensor
        return before
    before = getattr(module, name, _MISSING)
    if before is _MISSING and not allow_missing:
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    if before is not _MISSING and before is not None and not isinstance(before, Tensor):
        raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    if tensor is not _MISSING:
        setattr(module, name, tensor)
    elif before is not _MISSING:
        delattr(module, name)
    return before


def swap_submodule(module: Module, name: str, submodule: Module) -> Module:
    """Put a module in the place of a submodule; return that one. KeyError: there is none of this name."""
    _require(module, Module, "torch.nn.Module")
    _require(submodule, Module, "torch.nn.Module")
    _check_name("submodule", name)
    if name not in module._modules:
        raise KeyError(f"submodule {name} does not exist")
    before = module._modules[name]
    _require(before, Module, "torch.nn.Module", f"{name} attribute")
    module._modules[name] = submodule
    return before  # type: ignore[return-value]  # just looked at


def _members(module: Module, name: str) -> dict[str, Any] | None:
    """Return the parameters or the buffers, whichever have the name; None: neither."""
    for members in (module._parameters, module._buffers):
        if name in members:
            return members
    return None


def _require(given: Any, kind: type, kind_name: str, given_name: str | None = None) -> None:
    if not isinstance(given, kind):
        raise TypeError(f"{given if given_name is None else given_name} is not an instance of {kind_name}")


def _check_name(kind: str, name: str) -> None:
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')
