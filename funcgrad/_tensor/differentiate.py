"""From tensors to a backward pass: what may be a root, what gradient it starts with, whose gradients are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, NamedTuple, TypeAlias

from funcgrad._base.warning import warn_once
from funcgrad._ops.table import TABLE
from funcgrad._program.value import Aval
from funcgrad._tape.apply import apply
from funcgrad._tape.engine import Edge, InputsPass, Pass
from funcgrad._tape.variable import Names, Variable
from funcgrad._tensor.tensor import Tensor

_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
    "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the "
    "cycle and avoid the leak."
)


class GradientEdge(NamedTuple):
    """Where in the graph a gradient arrives: at which result of which node. It stands for a tensor among `inputs`."""

    node: Any
    output_nr: int
    ownership_token: Any = None


def backward(
    self: Tensor, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
) -> None:
    """Add the gradient of this tensor to the `.grad` of every leaf that it was computed from (or only of `inputs`).

    gradient: what to start from, of this tensor's shape; a scalar starts from 1. The graph's saved values are freed
    unless retain_graph (by default, create_graph).
    """
    gradients = [gradient] if gradient is None or isinstance(gradient, Tensor) else list(gradient)
    if len(gradients) != 1:
        raise RuntimeError(f"got 1 tensors and {len(gradients)} gradients")
    run_backward([self], gradients, retain_graph, create_graph, inputs)


def run_backward(
    tensors: Sequence[Tensor], gradients: Sequence[Any], retain_graph: bool | None, create_graph: bool, inputs: Any
) -> None:
    """Accumulate into leaves the gradients of several roots in one pass."""
    if create_graph:
        warn_once(_CYCLE)
    if not _observers:
        _fill(tensors, gradients, retain_graph, create_graph, inputs)
        return
    with ExitStack() as stack:
        for observer in _observers:
            stack.enter_context(observer(tensors, bool(retain_graph) and not create_graph))
        _fill(tensors, gradients, retain_graph, create_graph, inputs)


BackwardObserver: TypeAlias = Callable[[Sequence[Tensor], bool], AbstractContextManager[None]]
_observers: list[BackwardObserver] = []


@contextmanager
def backward_observed(observer: BackwardObserver) -> Iterator[None]:
    """Enter observer(roots, retains) around each pass inside that fills `.grad`.

    retains: whether the caller asked that the graph be kept, for another reason than that the pass be recorded.
    """
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


def _fill(
    tensors: Sequence[Tensor], gradients: Sequence[Any], retain_graph: bool | None, create_graph: bool, inputs: Any
) -> None:
    retain = create_graph if retain_graph is None else retain_graph
    listed: list[Any] = [inputs] if isinstance(inputs, (Tensor, GradientEdge)) or inputs is None else list(inputs)
    if not listed:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = [_root(i, t, g) for i, (t, g) in enumerate(zip(tensors, gradients, strict=True))]
    if inputs is None:
        Pass(retain=retain, history=create_graph).run(roots)
        return
    for given in listed:
        if isinstance(given, Tensor):
            given.retain_grad()
        elif not isinstance(given, GradientEdge):
            kind = type(given).__name__
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {kind}")
    InputsPass(retain=retain, history=create_graph, targets=map(_target, listed)).run(roots)


def gradients_of(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], gradients: Sequence[Any], *, retain_graph: bool | None,
    create_graph: bool, allow_unused: bool, materialize: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the gradients of the outputs' sum with respect to each input, touching no `.grad`."""
    retain = create_graph if retain_graph is None else retain_graph
    roots = [_root(i, t, g) for i, (t, g) in enumerate(zip(outputs, gradients, strict=True))]
    targets = [_target(t) for t in inputs]
    found = Pass(retain=retain, history=create_graph, targets=targets).run(roots)
    results: list[Any] = []
    for position, (tensor, edge) in enumerate(zip(inputs, targets, strict=True)):
        if edge in found:
            results.append(Names.wrap(found[edge]))
        elif materialize:
            results.append(Tensor._of(apply(TABLE["zero"], (tensor._current().detached(),))[0]))
        elif allow_unused:
            results.append(None)
        else:
            raise RuntimeError(
                f"The differentiated Tensor at index {position} appears to not have been used in the graph. "
                "Set allow_unused=True if this is the desired behavior."
            )
    return tuple(results)


def _root(position: int, tensor: Tensor | GradientEdge, gradient: Any) -> tuple[Edge, Variable]:
    if isinstance(tensor, GradientEdge):
        aval = tensor.node.avals[tensor.output_nr]
        return (tensor.node, tensor.output_nr), _first_gradient(position, aval, gradient)
    if not isinstance(tensor, Tensor):
        raise AssertionError("Expected output to be a torch.Tensor")
    variable = tensor._current()
    if variable.node is None:
        raise RuntimeError(f"element {position} of tensors does not require grad and does not have a grad_fn")
    return (variable.node, variable.index), _first_gradient(position, variable.aval, gradient)


def _first_gradient(position: int, aval: Aval, gradient: Any) -> Variable:
    if gradient is None:
        if aval.shape.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if aval.dtype.is_complex:
            raise RuntimeError(
                "grad can be implicitly created only for real scalar outputs but got " + repr(aval.dtype)
            )
        return apply(TABLE["full"], (1.0,), (tuple(aval.shape), aval.dtype))[0]
    if not isinstance(gradient, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    given = gradient._current()
    if given.aval.shape != aval.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{position}] has a shape of {given.aval.shape} and output[{position}] has "
            f"a shape of {aval.shape}."
        )
    if given.aval.dtype.is_complex and not aval.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{position}] has a dtype of {given.aval.dtype} and output[{position}] has a dtype of "
            f"{aval.dtype}."
        )
    return given if given.aval.dtype is aval.dtype else apply(TABLE["to_dtype"], (given,), (aval.dtype,))[0]


def _target(tensor: Tensor | GradientEdge) -> Edge:
    if isinstance(tensor, GradientEdge):
        return tensor.node, tensor.output_nr
    if not isinstance(tensor, Tensor):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(tensor).__name__}")
    variable = tensor._current()
    if variable.node is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return variable.node, variable.index
