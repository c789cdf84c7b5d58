"""checkpoint: a function whose inner results are not kept for backward, which computes them once more."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from enum import Enum
from typing import Any

from funcgrad._base.devices import device as Device
from funcgrad._base.rooms import imported
from funcgrad._ops.table import TABLE
from funcgrad._program.value import LiftedValue
from funcgrad._tape.apply import apply
from funcgrad._tape.modes import enable_grad, is_grad_enabled, no_grad
from funcgrad._tape.nodes import now
from funcgrad._tape.recompute import Block, CheckpointError
from funcgrad._tape.variable import Variable
from funcgrad._tensor import autocasting
from funcgrad._tensor.aliases import in_order
from funcgrad._tensor.pytree import leaves_of, with_leaves
from funcgrad._tensor.tensor import Tensor
from funcgrad.random import generator

__all__ = [
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "SelectiveCheckpointContext",
    "check_backward_validity", "checkpoint", "checkpoint_sequential", "create_selective_checkpoint_contexts",
    "detach_variable", "get_device_states", "noop_context_fn", "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop", "set_device_states",
]  # fmt: skip

_CHECKS = ["default", "none"]
_NOTHING = object()
Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]
_RECOMMENDED = (
    "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass "
    "use_reentrant=True. Refer to docs for more details on the differences between the two variants."
)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the inputs, of which tensors have no history but say as before whether they require gradients."""
    if not isinstance(inputs, tuple):
        kind = type(inputs).__name__
        raise RuntimeError("Only tuple of tensors is supported. Got Unsupported input type: " + kind)
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn where no input requires gradients: those of a checkpoint would be None."""
    _any_requires_grad(tuple(inputs))


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """Return the numbers of the accelerators on which tensors are, and the states of their generators."""
    devices = {leaf.device for leaf in leaves_of(args) if isinstance(leaf, Tensor)}
    used = sorted((d for d in devices if d.type not in ("cpu", "meta")), key=lambda d: d.index or 0)
    return [d.index or 0 for d in used], [generator.generator_of(d).get_state() for d in used]


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *, device_type: str = "cuda") -> None:
    """Put the generators of accelerators into the states that `get_device_states` gave."""
    for number, state in zip(devices, states, strict=True):
        generator.generator_of(Device(device_type, number)).set_state(state)


def noop_context_fn() -> Contexts:
    """Return two contexts, for the forward and for the second run, that do nothing."""
    return nullcontext(), nullcontext()


class CheckpointPolicy(Enum):
    """What a policy answers for an op: keep its result, or compute it once more."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """What a policy is given first. is_recompute: False, since only the first run asks. op_output: the result."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute, self.op_output = is_recompute, op_output


def create_selective_checkpoint_contexts(policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False) -> Contexts:
    """Return contexts for `checkpoint`, in which a policy says which functions' results are kept for the second run.

    policy_fn_or_list: policy(ctx, op, *args, **kwargs), which returns a CheckpointPolicy, or a list of overloads,
    torch.ops.aten.mm.default, that are kept. allow_cache_entry_mutation: what was kept is never changed here.
    TypeError and ValueError for what is neither. RuntimeError, in backward, for a second backward pass.
    """
    return imported("funcgrad.dispatching.selective").contexts(policy_fn_or_list)


def set_checkpoint_early_stop(enable: bool) -> AbstractContextManager[None]:
    """Accepted: the second run is a part of the program, from which XLA leaves out what nobody reads."""
    return nullcontext()


def set_checkpoint_debug_enabled(enabled: bool | None) -> AbstractContextManager[None]:
    """Accepted: a function that does something else the second time is always told of."""
    return nullcontext()


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn, determinism_check: str = "default", debug: bool = False,
    early_stop: bool = True, preserve_rng_state: bool = True, **kwargs: Any,
) -> Any:  # fmt: skip
    """Return function(*args, **kwargs); backward runs it again instead of keeping what it computed.

    preserve_rng_state: the second run draws the same random numbers. context_fn: returns contexts for the two runs.
    use_reentrant=True: nothing is differentiated unless one of `args` requires grad. Within a function that `func`
    transforms all is kept. Raises CheckpointError, in backward, where the function does not do the same again.
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, "
            f"calling checkpoint without use_reentrant will raise an exception. {_RECOMMENDED}",
            stacklevel=2,
        )
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    elif debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    elif determinism_check not in _CHECKS:
        raise ValueError(f"determinism_check should be one of {_CHECKS}, but got {determinism_check}")
    forward, again = context_fn()
    is_transformed = _is_transformed((args, kwargs))
    if not is_grad_enabled() or (use_reentrant and not is_transformed and not _any_requires_grad(args)):
        with forward, no_grad():
            return function(*args, **kwargs)
    call = _Call(function, (args, kwargs), again, preserve_rng_state)
    since = now()
    results: Any = _NOTHING
    with forward, call.autocast.noting():
        results = function(*args, **kwargs)
    if results is _NOTHING:
        raise RuntimeError(
            "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during "
            "the checkpointed forward. This is not supported because checkpoint cannot return a value for a failed "
            "forward."
        )
    if not is_transformed and not _is_transformed(results):
        Block(call.run).forget(_variables(results), since)
    return results


class CheckpointFunction:
    """`checkpoint(function, *args, use_reentrant=True)` by the name under which some scripts apply it."""

    @staticmethod
    def apply(run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Return run_function(*args), which backward runs again; with the same random numbers, or others."""
        return checkpoint(run_function, *args, use_reentrant=True, preserve_rng_state=preserve_rng_state)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Return what a Sequential (or functions one after another) makes of `input`, in `segments` checkpointed parts.

    The last part is not checkpointed: backward begins with it.
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In "
            f"version 2.9 we will raise an exception if use_reentrant is not passed. {_RECOMMENDED}",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    layers = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(layers) // segments
    for start in range(0, size * (segments - 1), size):
        part = _in_turn(layers[start : start + size])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _in_turn(layers[size * (segments - 1) :])(input)


def _is_transformed(tree: Any) -> bool:
    """Tell whether a tensor stands for another one, in a function that is being transformed."""
    return any(isinstance(x, Tensor) and isinstance(x._variable.value, LiftedValue) for x in leaves_of(tree))


def _in_turn(layers: Sequence[Callable[..., Any]]) -> Callable[[Any], Any]:
    def forward(input: Any) -> Any:
        for layer in layers:
            input = layer(input)
        return input

    return forward


class _Call:
    """A call that can be made again: its arguments as they were, and what else decided its numbers."""

    def __init__(self, function: Callable[..., Any], given: Any, context: Any, preserve_rng_state: bool) -> None:
        self.function, self.context = function, context
        leaves = leaves_of(given)
        self.places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        self.variables = [leaves[i]._current() for i in self.places]
        self.given = with_leaves(given, [None if isinstance(leaf, Tensor) else leaf for leaf in leaves])
        self.random = generator.snapshot() if preserve_rng_state else None
        self.autocast = autocasting.Snapshot(self.variables)

    def run(self, cotangents: list[Variable], history: bool) -> tuple[list[Variable], int]:
        """Make the call again: on the tensors with their history, or on new ones that wait for the cotangents."""
        with ExitStack() as stack:
            stack.enter_context(enable_grad())
            stack.enter_context(self.autocast.again())
            stack.enter_context(self.context)
            if self.random is not None:
                stack.enter_context(generator.as_in(self.random))
            inputs = self.variables if history else _after(cotangents, self.variables)
            leaves = leaves_of(self.given)
            for place, given, variable in zip(self.places, self.variables, inputs, strict=True):
                leaves[place] = Tensor._of(variable)
                self.autocast.cast_alike(given, variable)
            args, kwargs = with_leaves(self.given, leaves)
            since = now()
            return _variables(self.function(*args, **kwargs)), since


def _after(cotangents: list[Variable], variables: list[Variable]) -> list[Variable]:
    """Return the same values, with a history of their own, once the cotangents are there."""
    if not variables or not cotangents:
        return [variable.detached() for variable in variables]
    leaves = [Tensor._leaf(v, v.requires_grad)._current() for v in variables]
    held = apply(TABLE["held_back"], [*leaves, cotangents[0].detached()])
    made = [in_order(h, v.aval.order) for h, v in zip(held, variables, strict=True)]
    return [m if v.requires_grad else m.detached() for m, v in zip(made, variables, strict=True)]


def _variables(results: Any) -> list[Variable]:
    return [leaf._current() for leaf in leaves_of(results) if isinstance(leaf, Tensor)]


def _any_requires_grad(args: Any) -> bool:
    if any(isinstance(leaf, Tensor) and leaf.requires_grad for leaf in leaves_of(args)):
        return True
    warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3)
    return False
