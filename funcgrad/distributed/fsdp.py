"""Fully sharded data parallelism: each process holds all parameters here, and the mean of all gradients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto
from types import SimpleNamespace
from typing import Any, NamedTuple

from funcgrad._tape.modes import is_grad_enabled
from funcgrad.nn.module import Module
from funcgrad.nn.parallel import Replicated
from funcgrad.nn.sharing import Shared
from funcgrad.nn.utils import clip_grad_norm_


class ShardingStrategy(Enum):
    """How parameters are spread: here not at all."""

    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class BackwardPrefetch(Enum):
    """When the next parameters are fetched: they are here."""

    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()


class StateDictType(Enum):
    """Which part of the state a state_dict holds: all of it."""

    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


class _Options(SimpleNamespace):
    """Options that are kept and not needed with one process."""


class MixedPrecision(_Options):
    """Dtypes of parameters, gradients and buffers: kept; `autocast` chooses what is computed in which."""


class MixedPrecisionPolicy(_Options):
    """Dtypes of parameters, gradients and outputs: kept."""


class CPUOffload(_Options):
    """Where parameters rest: kept."""


class CPUOffloadPolicy(_Options):
    """Where parameters rest: kept."""


class StateDictConfig(_Options):
    """Options of state_dict: kept."""


class FullStateDictConfig(StateDictConfig):
    """Options of a full state_dict: kept."""


class LocalStateDictConfig(StateDictConfig):
    """Options of a local state_dict: kept."""


class ShardedStateDictConfig(StateDictConfig):
    """Options of a sharded state_dict: kept."""


OptimStateDictConfig = FullOptimStateDictConfig = LocalOptimStateDictConfig = ShardedOptimStateDictConfig = (
    StateDictConfig
)


class StateDictSettings(NamedTuple):
    """What a state_dict holds, and the options of those of modules and of optimizers."""

    state_dict_type: StateDictType
    state_dict_config: StateDictConfig
    optim_state_dict_config: StateDictConfig


class FullyShardedDataParallel(Replicated):
    """The module of one of several processes, which train as those of `DistributedDataParallel` do.

    The state_dict has the module's own keys, as torch's full one has.
    """

    def __init__(self, module: Module, process_group: Any = None, *_: Any, **__: Any) -> None:
        super().__init__(module)
        share(self, process_group)

    def state_dict(self, *args: Any, **options: Any) -> Any:
        """Return the module's own state_dict."""
        return self.module.state_dict(*args, **options)

    def load_state_dict(self, state_dict: Any, *args: Any, **options: Any) -> Any:
        """Load into the module."""
        return self.module.load_state_dict(state_dict, *args, **options)

    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0) -> Any:
        """Scale the gradients so that their norm is at most `max_norm`; return the norm."""
        return clip_grad_norm_(self.parameters(), max_norm, norm_type)

    @staticmethod
    @contextmanager
    def state_dict_type(module: Any, *_: Any, **__: Any) -> Iterator[None]:
        """Accepted: a state_dict is always full."""
        yield

    set_state_dict_type = staticmethod(lambda module, *_, **__: None)

    @staticmethod
    @contextmanager
    def summon_full_params(module: Any, **_: Any) -> Iterator[None]:
        """Accepted: parameters are always full."""
        yield

    @staticmethod
    def fsdp_modules(module: Module, root_only: bool = False) -> list[Any]:
        """Return the wrapped modules inside."""
        return [found for found in module.modules() if isinstance(found, FullyShardedDataParallel)]

    @staticmethod
    def full_optim_state_dict(model: Module, optim: Any, *_: Any, **__: Any) -> Any:
        """Return the optimizer's state_dict."""
        return optim.state_dict()

    optim_state_dict = sharded_optim_state_dict = full_optim_state_dict

    @staticmethod
    def optim_state_dict_to_load(model: Module, optim: Any, optim_state_dict: Any, *_: Any, **__: Any) -> Any:
        """Return the state_dict itself."""
        return optim_state_dict


class FSDPModule:
    """Named for isinstance: `fully_shard` leaves a module's class as it is."""


def fully_shard(module: Any, *, mesh: Any = None, **_: Any) -> Any:
    """Let the processes train a module together, and return it. Parts that they do already stay as they are."""
    share(module, None if mesh is None or mesh.ndim > 1 else mesh.get_group())
    return module


def share(module: Module, group: Any = None) -> None:
    """Let the processes of a group (None: all) keep a module's parameters, and the means of gradients, the same.

    What belongs to a part that is shared already is left to that.
    """
    taken = [part.__dict__["_shared"] for part in module.modules() if "_shared" in part.__dict__]
    inner = {id(x) for shared in taken for x in (*shared.parameters, *shared.buffers)}
    parameters = [x for x in module.parameters() if id(x) not in inner]
    shared = Shared(parameters, [x for x in module.buffers() if id(x) not in inner], group)
    if shared.count == 1:
        return
    module.__dict__["_shared"] = shared
    shared.take_state()
    module.register_forward_pre_hook(_await_gradients)


def _await_gradients(module: Module, _: Any) -> None:
    if is_grad_enabled():
        module.__dict__["_shared"].await_gradients()
