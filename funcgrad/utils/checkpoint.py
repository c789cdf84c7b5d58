"""checkpoint: a function whose inner results are not kept for backward, which computes them once more."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from enum import Enum
from functools import partial
from typing import Any

from funcgrad._base.devices import device as Device
from funcgrad._base.rooms import imported
from funcgrad._base.warning import warn
from funcgrad._ops.table import TABLE
from funcgrad._program.value import Aval, LiftedValue
from funcgrad._tape.apply import apply
from funcgrad._tape.modes import enable_grad, is_grad_enabled, no_grad, thread
from funcgrad._tape.packing import packed
from funcgrad._tape.recompute import Block, CheckpointError, GraphExecGroup
from funcgrad._tape.variable import Variable
from funcgrad._tensor import autocasting
from funcgrad._tensor.aliases import in_order
from funcgrad._tensor.placement import device_of
from funcgrad._tensor.pytree import leaves_of, with_leaves
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd.backwards import backward
from funcgrad.autograd.function import Function
from funcgrad.random import generator

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
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
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


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


class _Settings:
    """What blocks say for all checkpoints in them; None: each says it for itself."""

    early_stop: bool | None = None
    debug: bool | None = None


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Say for all checkpoints within the block whether their second run ends where all is there that backward needs."""
    before, _Settings.early_stop = _Settings.early_stop, enable
    try:
        yield
    finally:
        _Settings.early_stop = before


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Say for all checkpoints within the block whether errors list what was called; None: each says it for itself."""
    before, _Settings.debug = _Settings.debug, enabled
    try:
        yield
    finally:
        _Settings.debug = before


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn, determinism_check: str = "default", debug: bool = False,
    early_stop: bool = True, preserve_rng_state: bool = True, **kwargs: Any,
) -> Any:  # fmt: skip
    """Return function(*args, **kwargs); backward runs it again instead of keeping what it computed.

    preserve_rng_state: the second run draws the same random numbers. context_fn: returns contexts for the two runs.
    early_stop: the second run ends where all is there that backward needs. determinism_check: "default" compares
    shapes, dtypes and devices of what the two runs save, "none" does not. debug: errors list what was called.
    use_reentrant=True: the function is one node of the graph, CheckpointFunctionBackward, whose gradients arrive at the
    tensors in `args` alone; `autograd.grad` and `backward(inputs=...)` raise RuntimeError. Within a function that
    `func` transforms all is kept. Raises CheckpointError, in backward, where the function does not do the same again.
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
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        if _is_transformed(args):
            return function(*args)
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    log = None
    if debug if _Settings.debug is None else _Settings.debug:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        log = imported("funcgrad.dispatching.two_runs").TwoRuns()
        context_fn = log.contexts
    if determinism_check not in _CHECKS:
        raise ValueError(f"determinism_check should be one of {_CHECKS}, but got {determinism_check}")
    forward, again = context_fn()
    if not is_grad_enabled():
        return function(*args, **kwargs)
    call = _Call(
        function, leaves_of((args, kwargs)), partial(with_leaves, _without_tensors((args, kwargs))), again,
        preserve_rng_state=preserve_rng_state, holds_tensors=True,
    )  # fmt: skip
    block = Block(
        call.run, stops_early=early_stop if _Settings.early_stop is None else _Settings.early_stop,
        facts=_facts if determinism_check == "default" else None, explain=None if log is None else log.explain,
    )  # fmt: skip
    results: Any = _NOTHING
    with forward, call.autocast.noting(), _saving_in(block):
        results = function(*args, **kwargs)
    if results is _NOTHING:
        raise RuntimeError(
            "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during "
            "the checkpointed forward. This is not supported because checkpoint cannot return a value for a failed "
            "forward."
        )
    block.close(lets_go=not (_is_transformed((args, kwargs)) or _is_transformed(results)))
    return results


@contextmanager
def _saving_in(block: Block) -> Iterator[None]:
    thread.saved_hooks.append(block)
    try:
        yield
    finally:
        thread.saved_hooks.remove(block)


def _facts(aval: Aval) -> dict[str, Any]:
    return {"shape": aval.shape, "dtype": aval.dtype, "device": device_of(aval.placement)}


class CheckpointFunction(Function):
    """What `checkpoint(function, *args, use_reentrant=True)` applies: a node that runs the function again."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Return run_function(*args), of which no history is kept."""
        check_backward_validity(args)
        ctx.call = _Call(
            run_function, [*args], lambda parts: (tuple(parts), {}), nullcontext(),
            preserve_rng_state=preserve_rng_state, holds_tensors=False,
        )  # fmt: skip
        ctx.save_for_backward(*(arg for arg in args if isinstance(arg, Tensor)))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Run the function again on its inputs, now with history, and go back through that.

        RuntimeError: the pass is that of `autograd.grad` or has `inputs`; no result requires gradients.
        """
        if not _is_for_all_leaves(thread.running):
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        given = [grad._current() for grad in grads if isinstance(grad, Tensor)]
        inputs = [tensor._current() for tensor in ctx.saved_tensors]
        results, args = ctx.call.results(given, inputs)
        outputs = results if isinstance(results, (tuple, list)) else (results,)
        paired = [(x, grad) for x, grad in zip(outputs, grads, strict=False) if isinstance(x, Tensor)]
        wanted = [pair for pair in paired if pair[0].requires_grad]
        if not wanted:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([x for x, _ in wanted], [grad for _, grad in wanted])
        return (None, None, *(arg.grad if isinstance(arg, Tensor) and arg.requires_grad else None for arg in args))


def _is_for_all_leaves(running: Any) -> bool:
    """Tell whether a backward pass, and those within which it runs, were asked for no certain gradients."""
    while running is not None:
        if running.targets is not None:
            return False
        running = running.outer
    return True


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
    """A call that can be made again: its arguments as they were, and what else decided its numbers.

    parts: the arguments, of which `arguments` makes (args, kwargs); tensors among them are put in anew. holds_tensors:
    whether they are kept here, in the form in which what is around the call wants them.
    """

    def __init__(
        self, function: Callable[..., Any], parts: list[Any], arguments: Callable[[list[Any]], Any], context: Any, *,
        preserve_rng_state: bool, holds_tensors: bool,
    ) -> None:  # fmt: skip
        self.function, self.arguments, self.context = function, arguments, context
        self.places = [i for i, part in enumerate(parts) if isinstance(part, Tensor)]
        variables = tuple([parts[i]._current() for i in self.places])
        self.parts = [None if isinstance(part, Tensor) else part for part in parts]
        self.random = generator.snapshot() if preserve_rng_state else None
        self.autocast = autocasting.Snapshot(variables)
        self.leaves = [variable if variable in self.autocast.leaves else None for variable in variables]
        self.saved: Any = ()
        if holds_tensors:
            self.saved = packed(variables) if thread.saved_hooks and variables else variables

    def run(self, cotangents: list[Variable]) -> None:
        """Make the call again, on tensors that wait for the cotangents."""
        saved = self.saved
        variables = saved if type(saved) is tuple else saved.tensors(cotangents, False)
        self.results(cotangents, variables)

    def results(self, cotangents: list[Variable], variables: Sequence[Variable]) -> tuple[Any, tuple[Any, ...]]:
        """Return what the call gives on these tensors once the cotangents are there, and its positional arguments."""
        with ExitStack() as stack:
            stack.enter_context(enable_grad())
            stack.enter_context(self.autocast.again())
            stack.enter_context(self.context)
            if self.random is not None:
                stack.enter_context(generator.as_in(self.random))
            parts = [*self.parts]
            inputs = _after(cotangents, variables)
            for place, given, tensor in zip(self.places, self.leaves, inputs, strict=True):
                parts[place] = tensor
                if given is not None:
                    self.autocast.cast_alike(given, tensor._current())
            args, kwargs = self.arguments(parts)
            return self.function(*args, **kwargs), args


def _without_tensors(tree: Any) -> Any:
    return with_leaves(tree, [None if isinstance(leaf, Tensor) else leaf for leaf in leaves_of(tree)])


def _after(cotangents: list[Variable], variables: Sequence[Variable]) -> list[Tensor]:
    """Return the same values, as leaves, once the cotangents are there."""
    if not variables:
        return []
    values = [variable.detached() for variable in variables]
    if cotangents:
        held = apply(TABLE["held_back"], [*values, cotangents[0].detached()])
        values = [in_order(h, v.aval.order).detached() for h, v in zip(held, variables, strict=True)]
    return [Tensor._leaf(value, v.requires_grad) for value, v in zip(values, variables, strict=True)]
