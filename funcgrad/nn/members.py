"""A module's members: parameters, buffers and submodules, kept in three dictionaries and reached as attributes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from funcgrad._tape.nodes import RemovableHandle
from funcgrad._tensor.functions import typename
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.parameter import Buffer, Parameter

_global_parameter_registration_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
_global_buffer_registration_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
_global_module_registration_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()


class Members:
    """Attribute access and registration. `Module` is its only subclass, so `Members` stands for "a module" here."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Enter a tensor that is no parameter; `persistent` puts it in the state dictionary."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers, 'buffer name can\'t contain "."')
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = _registered(_global_buffer_registration_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Enter a parameter, or None for one that this module does without."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters, 'parameter name can\'t contain "."')
        if param is None:
            self._parameters[name] = None
            return
        if not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                f"To express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = _registered(_global_parameter_registration_hooks, self, name, param)

    def add_module(self, name: str, module: Any) -> None:
        """Enter a submodule, or None."""
        if module is not None and not isinstance(module, Members):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, self._modules, f'module name can\'t contain ".", got: {name}')
        self._modules[name] = _registered(_global_module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Any) -> None:
        """Do what `add_module` does."""
        self.add_module(name, module)

    def get_submodule(self, target: str) -> Any:
        """Return the submodule with this dotted name; AttributeError where there is none."""
        module: Any = self
        for name in target.split(".") if target else ():
            module = _member(module, name)
            if not isinstance(module, Members):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put `module` in the place of the submodule with this dotted name; with `strict` there must be one."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Members):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if (strict or hasattr(parent, name)) and not isinstance(_member(parent, name), Members):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter with this dotted name; AttributeError where there is none."""
        path, _, name = target.rpartition(".")
        parameter = _member(self.get_submodule(path), name)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer with this dotted name; AttributeError where there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        buffer = _member(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if "_modules" in own:  # written out, not looped over: every `self.weight` of a forward comes here
            members = own["_parameters"]
            if name in members:
                return members[name]
            members = own["_modules"]
            if name in members:
                return members[name]
            members = own["_buffers"]
            if name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            self._make_room("parameters", name, ("_buffers", "_modules"))
            self.register_parameter(name, value)
        elif name in self.__dict__.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Members):
            self._make_room("module", name, ("_parameters", "_buffers"))
            self._modules[name] = _registered(_global_module_registration_hooks, self, name, value)
        elif name in self.__dict__.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            self._modules[name] = _registered(_global_module_registration_hooks, self, name, value)
        elif name in self.__dict__.get("_buffers", ()) or isinstance(value, Buffer):
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for members in (self._parameters, self._buffers, self._modules):
            if name in members:
                del members[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())

    def _set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
            )
        if isinstance(value, Buffer):
            self._make_room("buffer", name, ("_parameters", "_modules"))
            persistent = value.persistent
        else:
            persistent = name not in self._non_persistent_buffers_set
        self.register_buffer(name, value, persistent)

    def _make_room(self, kind: str, name: str, others: tuple[str, ...]) -> None:
        """Drop what else has this name, so that the new member is what the attribute finds."""
        if "_modules" not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        self.__dict__.pop(name, None)
        for other in others:
            self.__dict__[other].pop(name, None)

    def _check_name(self, kind: str, name: str, members: dict[str, Any], dotted: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(dotted)
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in members:
            raise KeyError(f"attribute '{name}' already exists")


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, parameter)` whenever a parameter is registered; it may return another one."""
    return RemovableHandle(_global_parameter_registration_hooks, hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, buffer)` whenever a buffer is registered; it may return another one."""
    return RemovableHandle(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, submodule)` whenever a submodule is registered; it may return another one."""
    return RemovableHandle(_global_module_registration_hooks, hook)


def _member(module: Any, name: str) -> Any:
    if not hasattr(module, name):
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    return getattr(module, name)


def _registered(hooks: OrderedDict[int, Callable[..., Any]], module: Members, name: str, member: Any) -> Any:
    for hook in hooks.values():
        given = hook(module, name, member)
        member = member if given is None else given
    return member
