"""Operator: functions of a script's own under a name, each for some devices, with a backward and a fake for shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from funcgrad._tape.modes import no_grad
from funcgrad._tape.observing import tell, unobserved
from funcgrad._tensor import overriding
from funcgrad._tensor.packets import Overload
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd.function import Function
from funcgrad.library.schemas import Schema
from funcgrad.utils._pytree import tree_flatten, tree_leaves, tree_map_only, tree_unflatten

OPERATORS: dict[str, Operator] = {}
_EVERY = ("CompositeExplicitAutograd", "BackendSelect", "CatchAll", "")
_DIFFERENTIABLE = ("Autograd", "AutogradCPU", "AutogradCUDA", "CompositeImplicitAutograd")


class Operator:
    """What `torch.ops.<namespace>.<name>` is: finds the function for its tensors' device, and gives results a history.

    kernels: by torch's dispatch key ("CPU", "Meta", "CompositeExplicitAutograd", ...).
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.kernels: dict[str, Callable[..., Any]] = {}
        self.backward: Callable[..., Any] | None = None
        self.setup_context: Callable[..., Any] | None = None
        self.vmap: Callable[..., Any] | None = None
        self._function = type(f"GeneratedBackwardFor_{schema.name.replace('::', '_')}_default", (_OfOperator,), {})
        OPERATORS[schema.name] = self

    @property
    def __name__(self) -> str:
        return self.schema.name.partition("::")[2].partition(".")[0]

    @property
    def namespace(self) -> str:
        """The name before the colons."""
        return self.schema.name.partition("::")[0]

    @cached_property
    def default(self) -> Overload:
        """The one overload."""
        return Overload(self, "default")

    def overloads(self) -> list[str]:
        """Return the names of the overloads."""
        return ["default"]

    @property
    def _schema(self) -> Schema:
        return self.schema

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if overriding.state.modes and isinstance(overriding.state.modes[-1], overriding.Layer):
            return self.default(*args, **kwargs)
        positional, named = self.schema.bind(args, kwargs)
        whole = next((self.kernels[key] for key in _DIFFERENTIABLE if key in self.kernels), None)
        if whole is not None:
            return whole(*positional, **named)
        leaves, spec = tree_flatten(tuple(positional))
        result_spec: list[Any] = []
        results = self._function.apply(*leaves, _Call(self, named, spec, result_spec))
        results = results if isinstance(results, tuple) else (results,)
        return tree_unflatten(results, result_spec[0])

    def run(self, positional: Sequence[Any], named: dict[str, Any]) -> Any:
        """Compute without history, by the function for the tensors' device."""
        tensors = [x for x in tree_leaves((positional, named)) if isinstance(x, Tensor)]
        kernel = self._kernel(tensors)
        with no_grad(), unobserved():
            result = kernel(*positional, **named)
        tell(self, positional, named, result)
        if any(result_leaf is x for result_leaf in tree_leaves(result) for x in tensors):
            raise RuntimeError(
                f"{self.schema.name}: The output of this custom operator (1) must not also be an input to this custom "
                "operator and (2) may not alias any inputs to this custom operator or other returns. Please instead "
                "return a clone of the offending output tensor(s) (e.g. return x.clone())."
            )
        return result

    def _kernel(self, tensors: Sequence[Tensor]) -> Callable[..., Any]:
        where = {x.device.type for x in tensors} or {"cpu"}
        if "meta" in where:
            if "Meta" not in self.kernels:
                raise RuntimeError(
                    f"There was no fake impl registered for {self.schema.name}: tensors on meta have no numbers. "
                    f"Please use `register_fake` to add one."
                )
            return self.kernels["Meta"]
        keys = (*sorted(kind.upper() for kind in where), *_EVERY)
        for key in keys:
            if key in self.kernels:
                return self.kernels[key]
        raise NotImplementedError(
            f"Could not run '{self.schema.name}' with arguments from the '{keys[0]}' backend: "
            f"it has functions for {sorted(self.kernels)}"
        )

    def __str__(self) -> str:
        return self.schema.name.replace("::", ".")

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


class _Call(NamedTuple):
    """What a call has besides the leaves of its arguments. result_spec: a list, which gets the result's structure."""

    operator: Operator
    named: dict[str, Any]
    argument_spec: Any
    result_spec: list[Any]


class _OfOperator(Function):
    """One call of an operator as a node of the graph. Containers come flat, since a node has tensors as its edges."""

    @staticmethod
    def forward(*given: Any) -> Any:
        *flat, call = given
        leaves, found = tree_flatten(call.operator.run(tree_unflatten(flat, call.argument_spec), call.named))
        call.result_spec[:] = [found]
        return tuple(leaves)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        *flat, call = inputs
        ctx.call = call
        if call.operator.setup_context is not None:
            positional = tree_unflatten(flat, call.argument_spec)
            result = tree_unflatten(output, call.result_spec[0])
            named = {"keyword_only_inputs": call.named} if call.named else {}
            call.operator.setup_context(ctx=ctx, inputs=positional, output=result, **named)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        operator = ctx.call.operator
        if operator.backward is None:
            raise RuntimeError(
                f"Trying to backward through {operator}.default but no autograd formula was registered. "
                "Please use register_autograd to add one."
            )
        given = tree_unflatten(grads, ctx.call.result_spec[0])
        answered = operator.backward(ctx, *(given if isinstance(given, tuple) else (given,)))
        answered = answered if isinstance(answered, tuple) else (answered,)
        return (*_flat_as(ctx.call.argument_spec, answered), None)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *given: Any) -> Any:
        *flat, call = given
        if call.operator.vmap is None:
            raise RuntimeError(f"vmap over {call.operator!r}: use register_vmap to say what it does to a batch")
        dims, positional = tree_unflatten(in_dims[:-1], call.argument_spec), tree_unflatten(flat, call.argument_spec)
        result, out_dims = call.operator.vmap(info, dims, *positional, **call.named)
        leaves, found = tree_flatten(result)
        call.result_spec[:] = [found]
        places = tree_leaves(out_dims)
        return tuple(leaves), tuple(places if len(places) == len(leaves) else places * len(leaves))


def _flat_as(spec: Any, answered: tuple[Any, ...]) -> list[Any]:
    """Return one gradient for each leaf of the arguments; None for a list of tensors stands for each of them."""
    if len(answered) != spec.num_children:
        raise RuntimeError(
            f"Expected a gradient for each of the {spec.num_children} inputs from the backward that was registered, "
            f"got {len(answered)}"
        )
    flat: list[Any] = []
    for child, gradient in zip(spec.children(), answered, strict=True):
        flat += [None] * child.num_leaves if gradient is None else child.flatten_up_to(gradient)
    return flat


def detached(tree: Any) -> Any:
    """Return the tree with copies of its tensors that have no history."""
    return tree_map_only(Tensor, lambda x: x.detach().clone(), tree)
