"""Classes say torch's names of themselves while funcgrad stands in: <class 'torch.nn.modules.linear.Linear'>."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any, ForwardRef

from funcgrad._base.dtypes import dtype
from funcgrad._base.errors import LinAlgError
from funcgrad._tape.nodes import RemovableHandle
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd.numeric import GradcheckError
from funcgrad.random.generator import Generator
from funcgrad.serialization.names import torch_classes

_ROOMS_NAMED_ALIKE = (
    "funcgrad.amp", "funcgrad.ao.quantization", "funcgrad.autograd", "funcgrad.cuda.amp", "funcgrad.distributions",
    "funcgrad.nn.attention", "funcgrad.nn.parameter",
    "funcgrad.nn.utils", "funcgrad.optim", "funcgrad.overrides", "funcgrad.utils.data",
)  # fmt: skip
_OF_OTHER_ROOMS = {
    "funcgrad._base.info": "torch", "funcgrad._base.layouts": "torch", "funcgrad._tensor.storage": "torch.storage",
    "funcgrad._tape.modes": "torch.autograd.grad_mode",
    "funcgrad._base.joining": "torch.distributed.algorithms.join",
    "funcgrad.ao.quantization.histogram": "torch.ao.quantization.observer",
    "funcgrad.distributed.optim": "torch.distributed.optim.zero_redundancy_optimizer",
    "funcgrad.nn.distributed_data_parallel": "torch.nn.parallel.distributed",
    "funcgrad.nn.parallel": "torch.nn.parallel.distributed",
    "funcgrad.autograd.anomaly": "torch.autograd.anomaly_mode", "funcgrad.profiler.profile": "torch.profiler.profiler",
    "funcgrad.utils.benchmark": "torch.utils.benchmark.utils.common",
    "funcgrad.func.functorch": "torch._functorch.make_functional",
}  # fmt: skip
_ONE_FILE_IN_TORCH = "torch.optim.lr_scheduler"
_own_names: dict[Any, str] = {}
_loaded_then: dict[str, int] = {}  # how many modules there were when the classes of a module were last renamed


def take_torchs_names(module: ModuleType | None = None) -> None:
    """Rename the classes that are known by now: those saved models name, and those of a module that was imported.

    Classes become known as modules are loaded: while there are no more of them, nothing is looked at.
    """
    name, loaded = module.__name__ if module is not None else "", len(sys.modules)
    if _loaded_then.get(name) == loaded:
        return
    _loaded_then[name] = loaded
    known = {
        **torch_classes(), "torch.Tensor": Tensor, "torch.dtype": dtype, "torch._C.Generator": Generator,
        "torch._C._LinAlgError": LinAlgError,
        "torch.utils.hooks.RemovableHandle": RemovableHandle, "torch.autograd.gradcheck.GradcheckError": GradcheckError,
    }  # fmt: skip
    for name, kind in known.items():
        _rename(kind, name.rpartition(".")[0])
    for room in _with_parts(module) if module is not None else []:
        for kind in list(vars(room).values()):
            name = _torch_room(kind.__module__) if isinstance(kind, type) else None
            if name is not None:
                _rename(kind, name)


def give_names_back() -> None:
    """Let the classes say their own names again."""
    for kind, name in _own_names.items():
        kind.__module__ = name
    _own_names.clear()
    _loaded_then.clear()


def _with_parts(module: ModuleType) -> list[ModuleType]:
    """Return a module with its loaded parts that scripts reach by `import torch` alone."""
    inside = module.__name__.replace("torch", "funcgrad", 1) + "."
    parts = [name for name in sys.modules if name.startswith(inside) and _torch_room(name) is not None]
    return [module, *(sys.modules[name] for name in parts)]


def _torch_room(room: str) -> str | None:
    """Return what torch calls the module where one of our classes is; None where it has none like it."""
    if room in _OF_OTHER_ROOMS:
        return _OF_OTHER_ROOMS[room]
    if not room.startswith(_ROOMS_NAMED_ALIKE):
        return None
    name = room.replace("funcgrad", "torch", 1)
    return _ONE_FILE_IN_TORCH if name.startswith(_ONE_FILE_IN_TORCH) else name


def _rename(kind: Any, module: str) -> None:
    if kind.__module__.startswith("funcgrad"):
        _own_names.setdefault(kind, kind.__module__)
        _fix_annotations(kind)
        kind.__module__ = module


def _fix_annotations(kind: type) -> None:
    """Let what a class says of its attributes be read where it was written, as `typing.get_type_hints` does."""
    own = inspect.get_annotations(kind)
    if own:
        kind.__annotations__ = {
            name: ForwardRef(said, is_argument=False, module=kind.__module__, is_class=True)
            if isinstance(said, str)
            else said
            for name, said in own.items()
        }
