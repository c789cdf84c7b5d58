"""torch.nn.utils._named_member_accessor: tensors and submodules of a module, put in the place of others by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.module import Module

__all__ = ["NamedMemberAccessor", "set_tensor", "swap_submodule", "swap_tensor"]

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


class NamedMemberAccessor:
    """Reads and replaces a module's tensors and submodules by their dotted paths, each of which it looks up once.

    A module that is put in the place of another by other means is not noticed.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.memo: dict[str, Module] = {}

    def get_submodule(self, name: str) -> Module:
        """Return the submodule of a path; the module itself for "". AttributeError: there is none."""
        if not name:
            return self.module
        if name not in self.memo:
            owner, last = self._owner_of(name)
            found = _attribute(owner, last, last)
            _require(found, Module, "torch.nn.Module", f"submodule `{name}`: {found}")
            self.memo[name] = found
        return self.memo[name]

    def _owner_of(self, path: str) -> tuple[Module, str]:
        prefix, _, last = path.rpartition(".")
        return self.get_submodule(prefix), last

    def swap_submodule(self, path: str, value: Module) -> Module:
        """Put a module in the place of a submodule; return that one. KeyError: there is none."""
        return swap_submodule(*self._owner_of(path), value)

    def get_tensor(self, name: str) -> Tensor | None:
        """Return a parameter, buffer or tensor. AttributeError: there is none; TypeError: it is no tensor."""
        owner, last = self._owner_of(name)
        found = _attribute(owner, last, name)
        if found is not None:
            _require(found, Tensor, "torch.Tensor")
        return found

    def set_tensor(self, name: str, value: Tensor | None) -> None:
        """Put a tensor in the place of a parameter, buffer or attribute."""
        set_tensor(*self._owner_of(name), value)

    def del_tensor(self, name: str) -> None:
        """Take a parameter, buffer or attribute away. AttributeError: there is none."""
        owner, last = self._owner_of(name)
        _attribute(owner, last, name)
        delattr(owner, last)

    def swap_tensor(self, name: str, value: Any, allow_missing: bool = False) -> Any:
        """Put a tensor in the place of another; return that one, as the function `swap_tensor` does."""
        return swap_tensor(*self._owner_of(name), value, allow_missing=allow_missing)

    def get_tensors(self, names: Iterable[str]) -> list[Tensor | None]:
        """Return the tensors of several paths."""
        return [self.get_tensor(name) for name in names]

    def set_tensors(self, names: Iterable[str], values: Iterable[Tensor | None]) -> None:
        """Put tensors in the places of others. AssertionError: there are not as many as names."""
        for name, value in _paired(names, values):
            self.set_tensor(name, value)

    def set_tensors_dict(self, named_tensors: dict[str, Tensor]) -> None:
        """Put tensors in the places of others, by their paths."""
        for name, value in named_tensors.items():
            self.set_tensor(name, value)

    def del_tensors(self, names: Iterable[str]) -> None:
        """Take several tensors away."""
        for name in names:
            self.del_tensor(name)

    def swap_tensors(self, names: Iterable[str], values: Iterable[Any], allow_missing: bool = False) -> list[Any]:
        """Put tensors in the places of others; return those. AssertionError: there are not as many as names."""
        return [self.swap_tensor(name, value, allow_missing) for name, value in _paired(names, values)]

    def swap_tensors_dict(
        self, named_tensors: dict[str, Any], allow_missing: bool = False
    ) -> tuple[dict[str, Any], list[str]]:
        """Put tensors in the places of others; return those, and the names of which there were none.

        RuntimeError where there are such and they are not allowed; after an error all is as it was before.
        """
        before: dict[str, Any] = {}
        try:
            for name, tensor in named_tensors.items():
                before[name] = self.swap_tensor(name, tensor, allow_missing=True)
            missing = [name for name, tensor in before.items() if tensor is _MISSING]
            if missing and not allow_missing:
                raise RuntimeError(f"Missing key(s): {', '.join(map(repr, missing))}.")
        except Exception:
            for name, tensor in before.items():
                self.swap_tensor(name, tensor, allow_missing=True)
            raise
        return before, missing

    def check_keys(self, keys: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return which paths of parameters and buffers are not among the keys, and which keys are no such paths."""
        given, own = set(keys), {name for name, _ in self.named_tensors(remove_duplicate=False)}
        return sorted(own - given), sorted(given - own)

    def named_parameters(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Tensor]]:
        """Yield the parameters with their paths."""
        yield from self.module.named_parameters(remove_duplicate=remove_duplicate)

    def named_buffers(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Tensor]]:
        """Yield the buffers with their paths."""
        yield from self.module.named_buffers(remove_duplicate=remove_duplicate)

    def named_tensors(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Tensor]]:
        """Yield the parameters, then the buffers, with their paths."""
        yield from self.named_parameters(remove_duplicate)
        yield from self.named_buffers(remove_duplicate)

    def named_modules(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Module]]:
        """Yield the module and its submodules with their paths."""
        yield from self.module.named_modules(remove_duplicate=remove_duplicate)


def _attribute(owner: Module, name: str, shown: str) -> Any:
    found = getattr(owner, name, _MISSING)
    if found is _MISSING:
        raise AttributeError(f"{owner._get_name()} has no attribute `{shown}`")
    return found


def _paired(names: Iterable[str], values: Iterable[Any]) -> list[tuple[str, Any]]:
    names, values = list(names), list(values)
    if len(names) != len(values):
        raise AssertionError(
            f"names and values must have the same length, got {len(names)} names and {len(values)} values"
        )
    return list(zip(names, values, strict=True))
