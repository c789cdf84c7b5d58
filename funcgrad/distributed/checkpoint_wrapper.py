"""Modules whose insides are computed once more in the backward pass: checkpoint_wrapper, and for whole models.

Names of parameters and of a state_dict are those of the module within, so that either loads what the other saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import partial
from typing import Any

from funcgrad.autograd.graph import save_on_cpu
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import Parameter
from funcgrad.utils.checkpoint import checkpoint

__all__ = [
    "ActivationWrapper", "CheckpointImpl", "CheckpointWrapper", "OffloadWrapper", "apply_activation_checkpointing",
    "checkpoint_wrapper", "offload_wrapper",
]  # fmt: skip

_CHECKPOINT_WRAPPED_MODULE = "_checkpoint_wrapped_module"
_CHECKPOINT_PREFIX = _CHECKPOINT_WRAPPED_MODULE + "."


class CheckpointImpl(Enum):
    """Which of torch's two ways, as `use_reentrant` of `checkpoint` says it."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class ActivationWrapper(Module):
    """Contract: `forward`. Gift: all else is asked of the module within, under its own names."""

    _checkpoint_wrapped_module: Module

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self.register_state_dict_post_hook(_without_prefix)
        self.register_load_state_dict_pre_hook(_with_prefix)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._checkpoint_wrapped_module, name)

    def __getitem__(self, key: int) -> Any:
        return self._checkpoint_wrapped_module[key]  # type: ignore[index]  # a Sequential, or a list of modules

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Parameter]]:
        """Yield the parameters under the names that they have in the module within."""
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(_CHECKPOINT_PREFIX, ""), parameter


def _without_prefix(module: Module, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
    _renamed(state_dict, prefix + _CHECKPOINT_PREFIX, prefix)


def _with_prefix(module: Module, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
    _renamed(state_dict, prefix, prefix + _CHECKPOINT_PREFIX)


def _renamed(state_dict: dict[str, Any], old: str, new: str) -> None:
    """Let what begins with `old` begin with `new`."""
    for name in [name for name in state_dict if name.startswith(old)]:
        state_dict[new + name.removeprefix(old)] = state_dict.pop(name)


class OffloadWrapper(ActivationWrapper):
    """A module that keeps for its backward pass on the CPU what it keeps."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module within."""
        with save_on_cpu(pin_memory=True):
            return self._checkpoint_wrapped_module(*args, **kwargs)


class CheckpointWrapper(ActivationWrapper):
    """A module under `checkpoint`, or under a function of the same kind that is called with module and arguments."""

    def __init__(
        self, mod: Module, checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
        checkpoint_fn: Callable[..., Any] | None = None, **checkpoint_fn_kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        if checkpoint_fn is None:
            checkpoint_fn = checkpoint
            checkpoint_fn_kwargs["use_reentrant"] = checkpoint_impl is CheckpointImpl.REENTRANT
        self.checkpoint_fn = partial(checkpoint_fn, **checkpoint_fn_kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module within, of which only the arguments are kept."""
        module = self._checkpoint_wrapped_module
        if not kwargs or self.checkpoint_impl is CheckpointImpl.NO_REENTRANT:
            return self.checkpoint_fn(module, *args, **kwargs)
        names, count = tuple(kwargs), len(args)

        def by_position(*given: Any) -> Any:
            return module(*given[:count], **dict(zip(names, given[count:], strict=True)))

        return self.checkpoint_fn(by_position, *args, *kwargs.values())


def offload_wrapper(module: Module) -> Module:
    """Return the module, keeping on the CPU what its backward pass needs."""
    return OffloadWrapper(module)


def checkpoint_wrapper(
    module: Module, checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable[..., Any] | None = None, **checkpoint_fn_kwargs: Any,
) -> Module:  # fmt: skip
    """Return the module under `checkpoint`: only its arguments are kept for the backward pass."""
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(
    model: Module, checkpoint_wrapper_fn: Callable[[Module], Module] = checkpoint_wrapper,
    check_fn: Callable[[Module], bool] = lambda _: True, auto_wrap_policy: Callable[..., bool] | None = None,
) -> None:  # fmt: skip
    """Wrap, innermost first, the modules within `model` for which `check_fn` (or else the policy) is true."""
    for name, child in model.named_children():
        apply_activation_checkpointing(child, checkpoint_wrapper_fn, check_fn, auto_wrap_policy)
        if auto_wrap_policy is None:
            is_wrapped = check_fn(child)
        else:
            is_wrapped = auto_wrap_policy(module=child, recurse=False, nonwrapped_numel=0)
        if is_wrapped:
            setattr(model, name, checkpoint_wrapper_fn(child))
