"""An import finder that answers `import torch` and every dotted path below it with funcgrad's rooms."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import DistributionFinder
from types import ModuleType
from typing import Any

from funcgrad._base.rooms import imported
from funcgrad.standing_in.metadata import StandIn, distributions_named
from funcgrad.standing_in.naming import take_torchs_names
from funcgrad.standing_in.places import TOPS, VIEWS
from funcgrad.version import __version__ as torch_version


class View(ModuleType):
    """A module of torch's that is none here: it gives the names of one or more rooms, each looked up when asked for."""

    def __init__(self, name: str, rooms: Sequence[str], own: dict[str, Any] | None = None) -> None:
        super().__init__(name, f"{name}: see {', '.join(rooms)}.")
        self.__path__ = []
        self.__file__ = importlib.import_module("funcgrad").__file__
        vars(self).update(own or {}, _rooms=tuple(rooms))

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a name in the room whose it is, for the functions there; what is no room's is the view's own."""
        own = name.startswith("__") or isinstance(value, ModuleType)
        rooms = [] if own else [imported(room) for room in self._rooms if room.partition(".")[0] == "funcgrad"]
        for room in rooms:
            if name in vars(room):
                vars(self).pop(name, None)
                return setattr(room, name, value)
        return super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        for room in self._rooms:
            module = imported(room)
            try:
                found = getattr(module, name)
            except AttributeError:
                continue
            if isinstance(found, ModuleType):
                take_torchs_names(found)
                if found.__name__ not in _REFUSING:
                    _refuse_as_torch(found)
            if callable(found):  # a switch may be set another way
                vars(self)[name] = found
            return found
        if f"{self.__name__}.{name}" in VIEWS:
            return importlib.import_module(f"{self.__name__}.{name}")
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}' (funcgrad stands in for torch)")

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled by name, with the globals of a function: cloudpickle and dill know modules by their exact type."""
        return importlib.import_module, (self.__name__,)

    def __dir__(self) -> list[str]:
        names = {name for room in self._rooms for name in dir(importlib.import_module(room))}
        return sorted(names | set(vars(self)))


class Ready(Loader):
    """Hands over a module that is loaded already, and leaves it as it is."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        if self.spec is not None:
            alias = module.__spec__.name if module.__spec__ is not None else module.__name__
            module.__spec__ = self.spec
            _name_parts(alias, module.__name__)
            _show_views(alias, module)
        take_torchs_names(module)
        _refuse_as_torch(module)


def _refuse_as_torch(module: ModuleType) -> None:
    """Let a room and its parts speak of themselves by torch's names where somebody asks for what they have not."""
    _REFUSING.add(module.__name__)
    for name, part in list(sys.modules.items()):
        is_room = name == module.__name__ or name.startswith(f"{module.__name__}.")
        if is_room and not isinstance(part, View) and "__getattr__" not in vars(part):
            vars(part)["__getattr__"] = _Refusal(name.replace("funcgrad", "torch", 1))


_REFUSING: set[str] = set()  # rooms whose parts do


class _Refusal:
    """What a room answers to names that it has not: parts that torch has there are views, which are made now."""

    def __init__(self, room: str) -> None:
        self.room = room

    def __call__(self, name: str) -> Any:
        if f"{self.room}.{name}" in VIEWS:
            return importlib.import_module(f"{self.room}.{name}")
        raise AttributeError(f"module '{self.room}' has no attribute '{name}'")


def _name_parts(alias: str, name: str) -> None:
    """Let torch's names stand for the loaded parts of a package: an import of them shall set nothing in the package."""
    for part in [part for part in sys.modules if part.startswith(f"{name}.")]:
        known = alias + part[len(name) :]
        if known not in VIEWS:
            sys.modules.setdefault(known, _as_package(sys.modules[part], known))
            _show_views(known, sys.modules[part])


def _show_views(alias: str, module: ModuleType) -> None:
    """Let a room show the parts that torch has there and it has not, as `torch.utils.data._utils`.

    What a room has already by a part's name, as `torch.autograd.gradcheck`, an import of that part shall not replace.
    """
    for view in VIEWS:
        parent, _, part = view.rpartition(".")
        if parent != alias:
            continue
        if not hasattr(module, part):
            setattr(module, part, importlib.import_module(view))
        elif not isinstance(getattr(module, part), ModuleType):
            sys.modules.setdefault(view, View(view, VIEWS[view]))


def hide_views() -> None:
    """Take torch's parts out of funcgrad's rooms again."""
    _REFUSING.clear()
    for module in list(sys.modules.values()):
        if isinstance(vars(module).get("__getattr__"), _Refusal):
            del module.__getattr__
    for name in [name for name, module in sys.modules.items() if isinstance(module, View)]:
        room = sys.modules.get(name.rpartition(".")[0].replace("torch", "funcgrad", 1))
        if isinstance(vars(room).get(name.rpartition(".")[2]) if room is not None else None, View):
            delattr(room, name.rpartition(".")[2])
        if name.startswith("funcgrad."):
            del sys.modules[name]


def _as_package(module: ModuleType, fullname: str) -> ModuleType:
    """Return a module; what is a package of torch's and one file here has parts too, though no folder."""
    if not hasattr(module, "__path__") and any(view.startswith(f"{fullname}.") for view in VIEWS):
        module.__path__ = []
    return module


class Finder(MetaPathFinder):
    """Finds torch's modules among funcgrad's."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the room that answers to this name; ModuleNotFoundError where torch's name has none.

        `from torch.utils import model_zoo` asks the room, by the name that it has here.
        """
        if fullname.startswith("funcgrad.") and fullname.replace("funcgrad", "torch", 1) in VIEWS:
            own = PathFinder.find_spec(fullname, path)
            return own or ModuleSpec(fullname, Ready(View(fullname, VIEWS[fullname.replace("funcgrad", "torch", 1)])))
        if fullname.partition(".")[0] not in TOPS and fullname not in VIEWS:
            return None
        found = module_of(fullname)
        if found is None:
            raise ModuleNotFoundError(f"No module named {fullname!r}: funcgrad stands in for torch here", name=fullname)
        return ModuleSpec(fullname, Ready(found), is_package=hasattr(found, "__path__"))

    def find_distributions(self, context: DistributionFinder.Context | None = None) -> Iterator[StandIn]:
        """Return the distributions that funcgrad stands in for: libraries ask whether torch is installed, and which."""
        return distributions_named(context.name if context is not None else None)


def module_of(fullname: str) -> ModuleType | None:
    """Return the module that stands for torch's dotted name; None where there is none."""
    if fullname in sys.modules and isinstance(sys.modules[fullname], View):
        return sys.modules[fullname]
    if fullname == "torch":
        room = importlib.import_module("funcgrad")
        view = View(
            "torch",
            ("funcgrad", "funcgrad.standing_in.script_types"),
            {"__version__": torch_version, "__all__": room.__all__},
        )
        vars(view)["torch"] = view  # kornia writes torch.torch.Tensor
        return view
    if fullname in VIEWS:
        return View(fullname, VIEWS[fullname])
    top, _, rest = fullname.partition(".")
    ours = f"{TOPS[top]}.{rest}" if rest else TOPS[top]
    try:
        return _as_package(importlib.import_module(ours), fullname)
    except ModuleNotFoundError as error:
        if error.name is not None and (ours == error.name or ours.startswith(f"{error.name}.")):
            return None
        raise
