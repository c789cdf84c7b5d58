"""The three readers of a checkpoint's pickle: one that only looks, one that trusts nothing, and one that trusts all."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from operator import attrgetter
from pickle import UnpicklingError
from typing import Any, BinaryIO

from funcgrad._base.rooms import imported
from funcgrad.serialization import names
from funcgrad.serialization.machine import Machine
from funcgrad.serialization.storages import KINDS, StorageKind, TypedStorage

LoadStorage = Callable[[tuple[Any, ...]], TypedStorage]


class StorageId:
    """What a pickle says of a storage that lies outside of it."""

    __slots__ = ("key", "kind", "location", "numel", "view")

    def __init__(self, identity: Any) -> None:
        """Take the tuple ("storage", kind, key, location, numel) and, in the old format, the part to view."""
        if type(identity) is not tuple or len(identity) not in (5, 6) or _text(identity[0]) != "storage":
            raise UnpicklingError(f"Only persistent_load of storage is allowed, but got {identity!r:.100}")
        _, kind, key, location, numel, *rest = identity
        if not isinstance(kind, StorageKind) or type(numel) is not int or numel < 0:
            raise UnpicklingError(f"a storage needs a kind and a number of elements, but got {kind!r}, {numel!r}")
        self.kind, self.key, self.location, self.numel = kind, str(_text(key)), str(_text(location)), numel
        self.view: tuple[Any, int, int] | None = rest[0] if rest else None

    @property
    def nbytes(self) -> int:
        """The storage's size in bytes."""
        return self.numel * (1 if self.kind.dtype is None else self.kind.dtype.itemsize)


class _Inert:
    """Whatever a pickle makes, to a reader that makes nothing."""


_INERT = _Inert()


class Scan(Machine):
    """Reads a pickle to its end and makes nothing: it notes the storages, how often each is used, and all names."""

    def __init__(self, file: BinaryIO, encoding: str = "utf-8") -> None:
        super().__init__(file, encoding)
        self.storages: dict[str, StorageId] = {}
        self.users: Counter[str] = Counter()
        self.names: set[str] = set()

    def find(self, module: str, name: str) -> Any:
        self.names.add(f"{module}.{name}")
        return KINDS.get(f"{module}.{name}", _INERT)

    def call(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        return _INERT

    def new(self, kind: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        return _INERT

    def build(self, instance: Any, state: Any) -> None:
        pass

    def persistent(self, identity: Any) -> Any:
        if type(identity) is tuple and identity and _text(identity[0]) == "module":
            return _INERT
        storage = StorageId(identity)
        self.storages.setdefault(storage.key, storage)
        self.users[storage.key] += 1
        return _INERT

    def extend(self, target: Any, items: list[Any]) -> None:
        pass

    def set_items(self, target: Any, items: list[Any]) -> None:
        pass

    def add_items(self, target: Any, items: list[Any]) -> None:
        pass


class WeightsUnpickler(Machine):
    """Makes tensors, numbers, strings and containers of them, and what the user has declared safe; refuses all else."""

    def __init__(self, file: BinaryIO, storage: LoadStorage, encoding: str = "utf-8") -> None:
        super().__init__(file, encoding)
        self.storage = storage
        self.safe = dict(names.safe_by_name())
        self.callables = {id(known) for known in (*names.CALLABLES.values(), *self.safe.values())}

    def find(self, module: str, name: str) -> Any:
        full_name = f"{module}.{name}"
        if module in names.BLOCKED_MODULES:
            raise UnpicklingError(f"Trying to load unsupported GLOBAL {full_name} whose module {module} is blocked.")
        for known in (names.CALLABLES, names.CONSTANTS, self.safe):
            if full_name in known:
                return known[full_name]
        shown = full_name.removeprefix("builtins.")
        raise UnpicklingError(
            f"Unsupported global: GLOBAL {shown} was not an allowed global by default. Please use "
            f"`torch.serialization.add_safe_globals([{shown}])` or the "
            f"`torch.serialization.safe_globals([{shown}])` context manager to allowlist this global if you trust "
            "this class/function."
        )

    def call(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        if id(function) not in self.callables:
            raise UnpicklingError(f"Trying to call reduce for unrecognized function {function!r:.100}")
        return function(*arguments)

    def new(self, kind: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if isinstance(kind, type) and any(kind is known for known in self.safe.values()):
            return kind.__new__(kind, *arguments, **keywords)
        if keywords:
            raise UnpicklingError(f"Can only create objects of classes allowlisted via `add_safe_globals`, not {kind}")
        return self.call(kind, arguments)

    def build(self, instance: Any, state: Any) -> None:
        if type(instance) is OrderedDict and type(state) is dict:
            instance.__dict__.update(state)
        elif any(type(instance) is known for known in self.safe.values()):
            _set_state(instance, state)
        else:
            raise UnpicklingError(
                f"Can only build OrderedDict or types allowlisted via `add_safe_globals`, but got {type(instance)}"
            )

    def persistent(self, identity: Any) -> Any:
        return self.storage(identity)


def trusted_unpickler(module: Any) -> Any:
    """Return a class of unpicklers that run whatever the file says: the one of a module, `pickle` or one like it."""
    return type("TrustedUnpickler", (_TorchNames, module.Unpickler), {})


_Beside: Any = object  # the unpickler comes next in the order of classes


class _TorchNames(_Beside):
    """Beside an unpickler: torch's names stand for our objects, and storages lie outside of the pickle."""

    def __init__(self, file: BinaryIO, storage: LoadStorage, **options: Any) -> None:
        super().__init__(file, **options)
        self.storage = storage

    def find_class(self, module: str, name: str) -> Any:
        full_name = f"{module}.{name}"
        for known in (names.CALLABLES, names.CONSTANTS):
            if full_name in known and module.startswith("torch"):
                return known[full_name]
        found = names.registered(full_name)
        is_of_torch = module == "torch" or module.startswith("torch.")
        if found is None and is_of_torch:
            found = _in_room(module.replace("torch", "funcgrad", 1), name)
        if found is None and is_of_torch:
            raise UnpicklingError(f"the file needs {full_name}, which funcgrad has no counterpart for")
        return super().find_class(module, name) if found is None else found

    def persistent_load(self, pid: Any) -> Any:
        if type(pid) is tuple and len(pid) > 1 and _text(pid[0]) == "module":
            return pid[1]
        return self.storage(pid)


def _in_room(room: str, name: str) -> Any:
    """Return what one of our modules calls by a name, dotted for what is inside a class; None where it has none."""
    try:
        return attrgetter(name)(imported(room))
    except (ImportError, AttributeError):
        return None


def _text(given: Any) -> Any:
    """Return the string that Python 2 may have written as bytes."""
    return given.decode("ascii") if isinstance(given, bytes) else given


def _set_state(instance: Any, state: Any) -> None:
    if hasattr(instance, "__setstate__"):
        instance.__setstate__(state)
        return
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if attributes:
        instance.__dict__.update(attributes)
    for name, value in (slots or {}).items():
        setattr(instance, name, value)
