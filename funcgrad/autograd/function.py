"""autograd.Function: a forward and a backward of one's own, in tensors, as one node of the graph."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from funcgrad._base.warning import warn
from funcgrad._program.value import Aval, LiftedValue
from funcgrad._tape.modes import no_grad, thread
from funcgrad._tape.nodes import Node
from funcgrad._tape.variable import Variable
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd.function_levels import apply_inside, no_vmap
from funcgrad.autograd.function_node import FunctionCtx as FunctionCtx
from funcgrad.autograd.function_node import no_backward, node_of, with_node


class Function:
    """Contract: static `forward(ctx, *args)` (or `forward(*args)` with `setup_context`) and `backward(ctx, *grads)`.

    Gift: `apply(*args)` runs forward without history and leaves one node, whose gradients backward computes. With
    setup_context it can be transformed by `func`: by vmap where there is a static `vmap` or generate_vmap_rule is
    true, by jvp where there is a static `jvp`.
    """

    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the results."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep what backward needs, where forward takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    backward = staticmethod(no_backward)
    vjp = staticmethod(no_backward)  # the other name under which it may be written

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Return the derivative of each result in the direction in which the arguments move."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    vmap = staticmethod(no_vmap)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse what torch's first Functions allowed; RuntimeError."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. "
            "(Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward on the arguments; gradients go through `backward`."""
        sets_context = cls.setup_context is not Function.setup_context
        if sets_context and (kwargs or cls.forward.__defaults__):
            args, kwargs = _bound(cls.forward, args, kwargs), {}
        if any(isinstance(a, Tensor) and isinstance(a._variable.value, LiftedValue) for a in args):
            return apply_inside(cls, args, sets_context)
        node = node_of(cls, args)
        with no_grad():
            if sets_context:
                answer = cls.forward(*args, **kwargs)
                cls.setup_context(node.ctx, args, answer)
            else:
                answer = cls.forward(node.ctx, *args, **kwargs)
        return with_node(node, args, answer)


class InplaceFunction(Function):
    """A Function whose instances say whether it works in place; torch's name for the base of such."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def _bound(forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return all arguments of forward by position, the defaults among them: setup_context is given them all."""
    found = inspect.signature(forward).bind(*args, **kwargs)
    found.apply_defaults()
    return found.args


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a backward that must not be differentiated again: doing so raises RuntimeError."""

    @functools.wraps(function)
    def once(ctx: Any, *grads: Any) -> Any:
        keeps_history = thread.grad
        with no_grad():
            answer = function(ctx, *grads)
        if not keeps_history or not any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            return answer
        answers = answer if isinstance(answer, tuple) else (answer,)
        barred = tuple(_barred(a) if isinstance(a, Tensor) else a for a in answers)
        return barred if isinstance(answer, tuple) else barred[0]

    return once


class _Barrier(Node):
    """A node that says it must not be passed."""

    __slots__ = ("aval", "edges")

    def __init__(self, aval: Aval) -> None:
        super().__init__()
        self.aval, self.edges = aval, ()

    @property
    def avals(self) -> tuple[Aval, ...]:  # type: ignore[override]  # one result
        return (self.aval,)

    def pull(self, cotangents: Any, apply: Any) -> Any:
        """Refuse."""
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def _barred(tensor: Tensor) -> Tensor:
    variable = tensor._current()
    return Tensor._of(Variable(variable.value, _Barrier(variable.aval)))
