"""What runs around a module's `forward`: hooks on one module or on all, before, after, and in the backward pass."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from funcgrad._base.warning import warn
from funcgrad._tape.nodes import RemovableHandle
from funcgrad._tensor import functions as fg
from funcgrad._tensor.module_calls import (
    Hook,
    Hooks,
    everywhere_always_called,
    everywhere_forward,
    everywhere_forward_pre,
    everywhere_with_kwargs,
)
from funcgrad._tensor.module_calls import register_module_forward_hook as register_module_forward_hook
from funcgrad._tensor.module_calls import register_module_forward_pre_hook as register_module_forward_pre_hook
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd import Function

everywhere_backward: Hooks = OrderedDict()
everywhere_backward_pre: Hooks = OrderedDict()
_everywhere_full: dict[str, bool | None] = {"backward": None}


class Hooked:
    """Hooks of one module, and the call that runs them. A subclass writes `forward`."""

    _forward_hooks: Hooks
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: Hooks
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _backward_hooks: Hooks
    _backward_pre_hooks: Hooks
    _is_full_backward_hook: bool | None
    forward: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, with the hooks around it where there are any."""
        if (
            self._backward_hooks or self._backward_pre_hooks or self._forward_hooks or self._forward_pre_hooks
            or everywhere_forward or everywhere_forward_pre or everywhere_backward or everywhere_backward_pre
        ):  # fmt: skip
            return _HookedCall(self, args, kwargs).run()
        return self.forward(*args, **kwargs)

    _call_impl = __call__

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before each forward; what it returns takes the place of the arguments."""
        handle = RemovableHandle(self._forward_pre_hooks, hook, prepend=prepend)
        if with_kwargs:
            handle.enter(self._forward_pre_hooks_with_kwargs, True)
        return handle

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, result)` after each forward; what it returns takes the place of the result.

        With `always_call` it runs also when forward or an earlier hook raised.
        """
        handle = RemovableHandle(self._forward_hooks, hook, prepend=prepend)
        if with_kwargs:
            handle.enter(self._forward_hooks_with_kwargs, True)
        if always_call:
            handle.enter(self._forward_hooks_always_called, True)
        return handle

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` when the gradients of the results are known; it may return others."""
        return RemovableHandle(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the inputs' gradients are known; it may return others."""
        self._choose_backward_kind(full=True)
        return RemovableHandle(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook` at the backward of the last operation of forward: torch's old kind; prefer the full one."""
        self._choose_backward_kind(full=False)
        return RemovableHandle(self._backward_hooks, hook)

    def _choose_backward_kind(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a "
                "single Module. Please use only one of them."
            )
        self._is_full_backward_hook = full


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_output)` in the backward pass of every module."""
    return RemovableHandle(everywhere_backward_pre, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` in the backward pass of every module."""
    return _enter_everywhere_backward(hook, full=True)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """Call `hook` at the backward of the last operation of every module: torch's old kind."""
    return _enter_everywhere_backward(hook, full=False)


def _enter_everywhere_backward(hook: Hook, full: bool) -> RemovableHandle:
    if _everywhere_full["backward"] is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a "
            "global Module hook. Please use only one of them."
        )
    _everywhere_full["backward"] = full
    return RemovableHandle(everywhere_backward, hook)


class _HookedCall:
    """One call of a module that has hooks: its arguments and result as the hooks leave them."""

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module, self.args, self.kwargs, self.result = module, args, kwargs, None
        self.ran: set[int] = set()

    def run(self) -> Any:
        """Call forward with the hooks around it."""
        try:
            return self._run()
        except Exception:
            self._after_error()
            raise

    def _run(self) -> Any:
        module = self.module
        full, last_op = _backward_hooks_of(module)
        before = [*everywhere_backward_pre.values(), *module._backward_pre_hooks.values()]
        self._before()
        around = _Around(module, full, before) if full or before else None
        if around is not None:
            self.args = around.watch_inputs(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        self._after()
        if around is not None:
            self.result = around.watch_results(self.result)
        if last_op:
            _hook_last_operation(module, self.args, self.result, last_op)
        return self.result

    def _before(self) -> None:
        module = self.module
        for key, hook in (*everywhere_forward_pre.items(), *module._forward_pre_hooks.items()):
            if key in module._forward_pre_hooks_with_kwargs:
                given = hook(module, self.args, self.kwargs)
                if given is None:
                    continue
                if not (isinstance(given, tuple) and len(given) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {given}."
                    )
                self.args, self.kwargs = given
            else:
                given = hook(module, self.args)
                if given is not None:
                    self.args = given if isinstance(given, tuple) else (given,)

    def _after(self) -> None:
        for key, hook in (*everywhere_forward.items(), *self.module._forward_hooks.items()):
            self.ran.add(key)
            self._call_forward_hook(key, hook)

    def _call_forward_hook(self, key: int, hook: Hook) -> None:
        if key in self.module._forward_hooks_with_kwargs or key in everywhere_with_kwargs:
            given = hook(self.module, self.args, self.kwargs, self.result)
        else:
            given = hook(self.module, self.args, self.result)
        if given is not None:
            self.result = given

    def _after_error(self) -> None:
        """Run the hooks that asked for it; an error of theirs is only a warning, since one is already on its way."""
        module = self.module
        kinds = (
            ("global module", everywhere_forward, everywhere_always_called),
            ("module", module._forward_hooks, module._forward_hooks_always_called),
        )
        for kind, hooks, always_called in kinds:
            for key, hook in hooks.items():
                if key not in always_called or key in self.ran:
                    continue
                try:
                    self._call_forward_hook(key, hook)
                except Exception as error:
                    warn(
                        f"{kind} forward hook with ``always_call=True`` raised an exception "
                        f"that was silenced as another error was raised in forward: {error}"
                    )


def _backward_hooks_of(module: Any) -> tuple[list[Hook], list[Hook]]:
    """Return the module's full backward hooks and those of the old kind."""
    full: list[Hook] = []
    last_op: list[Hook] = []
    (full if _everywhere_full["backward"] else last_op).extend(everywhere_backward.values())
    (full if module._is_full_backward_hook else last_op).extend(module._backward_hooks.values())
    return full, last_op


class BackwardHookFunction(Function):
    """The identity on several tensors, on whose node hooks see all their gradients at once."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Any:
        """Return the tensors."""
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(tensor for tensor in tensors if not tensor.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        """Return the gradients."""
        return grads


class _Around:
    """The backward hooks of one call: identities around the module tell when its gradients are known."""

    def __init__(self, module: Any, hooks: list[Hook], pre_hooks: list[Hook]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs: tuple[Any, ...] | None = None
        self.inputs = self.results = 0
        self.places: list[int] | None = None

    def watch_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments, whose gradients will be seen."""
        self.inputs = len(args)
        args, self.places, node = _watch(args)
        if node is not None:
            node.register_prehook(lambda grads: self._inputs_known(_with_zeros(grads, node.avals), node.avals))
        return args

    def watch_results(self, results: Any) -> Any:
        """Return the results, whose gradients will be seen."""
        if not isinstance(results, (Tensor, tuple)):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors"
                f" but received {type(results)}"
            )
            return results
        listed = results if isinstance(results, tuple) else (results,)
        self.results = len(listed)
        places: list[int] = [i for i, x in enumerate(listed) if isinstance(x, Tensor)]
        listed, _, node = _watch(listed)
        if node is not None:
            node.register_prehook(lambda grads: self._results_known(grads, places))
        if not isinstance(results, tuple):
            return listed[0]
        return results._make(listed) if hasattr(results, "_make") else listed  # type: ignore[attr-defined]  # named tuple

    def _results_known(self, grads: tuple[Any, ...], places: list[int]) -> tuple[Any, ...]:
        self.grad_outputs = _spread(grads, places, self.results)
        for hook in self.pre_hooks:
            given = hook(self.module, self.grad_outputs)
            if given is not None:
                self.grad_outputs = _replacement(given, len(self.grad_outputs), "Backward pre hook", "grad_output")
        known = self.grad_outputs
        if self.places is None:  # no input needs a gradient, so this is the last that backward hears of the module
            self.grad_outputs = None
            warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no "
                "inputs require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
                "#torch.nn.Module.register_full_backward_hook for more details."
            )
            for hook in self.hooks:
                given = hook(self.module, (None,) * self.inputs, known)
                if given is not None and not (isinstance(given, tuple) and all(x is None for x in given)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None "
                        "for all gradients."
                    )
        return tuple(known[i] for i in places)

    def _inputs_known(self, grads: tuple[Any, ...], avals: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.grad_outputs is None:  # another path reached the inputs, not one through this module's results
            return grads
        assert self.places is not None
        grad_inputs = _spread(grads, self.places, self.inputs)
        for hook in self.hooks:
            given = hook(self.module, grad_inputs, self.grad_outputs)
            if given is not None:
                grad_inputs = _replacement(given, len(grad_inputs), "Backward hook", "grad_input")
        self.grad_outputs = None
        kept = tuple(grad_inputs[i] for i in self.places)
        if any(isinstance(grad, Tensor) and grad.shape != aval.shape for grad, aval in zip(kept, avals, strict=True)):
            raise RuntimeError("hook 'hook' has changed the size of value")
        return kept


class BackwardHook(_Around):
    """Backward hooks around what is no call of a module: arguments go through one method, results through the other.

    user_hooks: called as `hook(module, grad_inputs, grad_outputs)`; user_pre_hooks: as `hook(module, grad_outputs)`.
    """

    def __init__(self, module: Any, user_hooks: list[Hook], user_pre_hooks: list[Hook]) -> None:
        super().__init__(module, user_hooks, user_pre_hooks)

    def setup_input_hook(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments, whose gradients will be seen."""
        return self.watch_inputs(args)

    def setup_output_hook(self, args: Any) -> Any:
        """Return the results, a tensor or a tuple, whose gradients will be seen."""
        return self.watch_results(args)


def _watch(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any, Any]:
    """Return the values, each tensor the result of one node; the places of tensors, and the node (None: of none)."""
    places = [i for i, x in enumerate(values) if isinstance(x, Tensor)]
    if not any(values[i].requires_grad for i in places):
        return values, None, None
    watched, results = list(values), BackwardHookFunction.apply(*(values[i] for i in places))
    for i, tensor in zip(places, results, strict=True):
        watched[i] = values[i]._like(tensor) if values[i].is_nested else tensor  # type: ignore[attr-defined]  # it has one
    return tuple(watched), places, next((r.grad_fn for r in results if r.grad_fn is not None), None)


def _with_zeros(grads: tuple[Any, ...], avals: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        fg.zeros(aval.shape, dtype=aval.dtype) if grad is None else grad
        for grad, aval in zip(grads, avals, strict=True)
    )


def _spread(grads: tuple[Any, ...], places: list[int], count: int) -> tuple[Any, ...]:
    spread: list[Any] = [None] * count
    for place, grad in zip(places, grads, strict=True):
        spread[place] = grad
    return tuple(spread)


def _replacement(given: Any, count: int, who: str, what: str) -> tuple[Any, ...]:
    if len(given) != count:
        raise RuntimeError(f"{who} returned an invalid number of {what}, got {len(given)}, but expected {count}")
    return tuple(given)


def _hook_last_operation(module: Any, args: tuple[Any, ...], given: Any, hooks: list[Hook]) -> None:
    result = given
    while not isinstance(result, Tensor):
        result = next(x for x in result.values() if isinstance(x, Tensor)) if isinstance(result, dict) else result[0]
    if result.grad_fn is not None:
        for hook in hooks:
            result.grad_fn.register_hook(lambda grads, results, hook=hook: hook(module, grads, results))
        missing = _missed_gradients(args, (given,) if isinstance(given, Tensor) else given, result.grad_fn)
        if missing:
            warn(missing, FutureWarning)


def _missed_gradients(args: tuple[Any, ...], results: Any, node: Any) -> str:
    """Return torch's warning where a hook at the last operation misses gradients of inputs or results; else ""."""
    told = "is deprecated and will be removed in future versions. This hook will be missing"
    advice = "Please use register_full_backward_hook to get the documented behavior."
    some, one = "Using non-full backward hooks on a Module that does not", "Using a non-full backward hook when"
    if not _are_tensors(results):
        return f"{some} return a single Tensor or a tuple of Tensors {told} some of the grad_output. {advice}"
    if not _are_tensors(args):
        return f"{some} take as input a single Tensor or a tuple of Tensors {told} some of the grad_input. {advice}"
    ends = {x.grad_fn for x in results} - {None}
    if len(ends) > 1:
        return f"{one} outputs are generated by different autograd Nodes {told} some grad_output. {advice}"
    if node not in ends:
        return f"{one} outputs are nested in python data structure {told} some grad_output."
    if {x.grad_fn for x in args} - {None} != {following for following, _ in node.next_functions}:
        return f"{one} the forward contains multiple autograd Nodes {told} some grad_input. {advice}"
    return ""


def _are_tensors(values: Any) -> bool:
    return isinstance(values, tuple) and all(isinstance(x, Tensor) for x in values)
