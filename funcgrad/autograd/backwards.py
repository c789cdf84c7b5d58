"""backward and grad: derivatives of several tensors at once, gathered in `.grad` or returned."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from funcgrad._tape.levels import BatchLevel
from funcgrad._tensor.differentiate import GradientEdge, gradients_of, run_backward
from funcgrad._tensor.overriding import asks
from funcgrad._tensor.tensor import Tensor


def backward(
    tensors: Tensor | Sequence[Tensor], grad_tensors: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, grad_variables: Any = None, inputs: Any = None,
) -> None:  # fmt: skip
    """Add the gradient of the tensors' sum to the `.grad` of every leaf (or only of `inputs`)."""
    roots = _listed(tensors)
    given = grad_tensors if grad_tensors is not None else grad_variables
    run_backward(roots, _gradients(roots, given), retain_graph, create_graph, inputs)


def grad(
    outputs: Tensor | Sequence[Tensor], inputs: Tensor | Sequence[Tensor] | dict[Any, Tensor], grad_outputs: Any = None,
    retain_graph: bool | None = None, create_graph: bool = False, only_inputs: bool = True,
    allow_unused: bool | None = None, is_grads_batched: bool = False, materialize_grads: bool = False,
) -> Any:  # fmt: skip
    """Return the gradients of the outputs' sum with respect to each input, without touching any `.grad`.

    A tuple; of a dictionary of inputs, such as `dict(model.named_parameters())`, a dictionary with the same keys.
    is_grads_batched: grad_outputs have a leading dimension, and so have the results: one backward for each entry.
    RuntimeError for an input that no output depends on, unless allow_unused (None) or materialize_grads (zeros).
    """
    if not only_inputs:
        message = "only_inputs argument is deprecated and is ignored now (defaults to True)."
        warnings.warn(message, FutureWarning, stacklevel=2)
    if isinstance(inputs, Mapping):
        if type(inputs) is not dict:
            raise TypeError(
                f"`inputs` argument to `grad()` must be a dict, not {type(inputs).__name__}. Other Mapping types are "
                "not supported."
            )
        found = grad(
            outputs, list(inputs.values()), grad_outputs, retain_graph, create_graph, only_inputs, allow_unused,
            is_grads_batched, materialize_grads,
        )  # fmt: skip
        return dict(zip(inputs, found, strict=True))
    roots, targets = _listed(outputs), _listed(inputs)
    if not targets:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    unused = bool(allow_unused) or materialize_grads
    gradients = _gradients(roots, grad_outputs)
    if not is_grads_batched:
        return gradients_of(
            roots, targets, gradients, retain_graph=retain_graph, create_graph=create_graph, allow_unused=unused,
            materialize=materialize_grads,
        )  # fmt: skip
    return _batched(roots, targets, gradients, retain_graph, create_graph, unused, materialize_grads)


def _batched(
    roots: Any, targets: Any, gradients: Any, retain: Any, create: bool, unused: bool, materialize: bool
) -> Any:
    """Go back once, with a batch in the place of each gradient: the ops of the pass become those of whole batches."""
    if all(g is None or not g.ndim for g in gradients):
        raise ValueError(
            "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of "
            "dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0."
        )
    count = next(g.shape[0] for g in gradients if g is not None)
    level = BatchLevel(count, "error")
    lifted = [None if g is None else Tensor._of(level.lift(g._current())) for g in gradients]
    try:
        found = gradients_of(
            roots, targets, lifted, retain_graph=retain, create_graph=create, allow_unused=unused,
            materialize=materialize,
        )  # fmt: skip
    finally:
        level.finished = True
    return tuple(None if gradient is None else whole_batch(level, gradient) for gradient in found)


def whole_batch(level: BatchLevel, entry: Tensor) -> Tensor:
    """Return the batch that an entry stands for; where it does not depend on the entry, one for all."""
    variable = entry._current()
    return Tensor._of(level.lower(variable)) if level.is_own(variable) else entry.expand(level.size, *entry.shape)


def _listed(tensors: Any) -> list[Any]:
    return [tensors] if isinstance(tensors, (Tensor, GradientEdge)) else list(tensors)


def _gradients(roots: Sequence[Tensor], given: Any) -> list[Any]:
    listed = [None] * len(roots) if given is None else [given] if isinstance(given, Tensor) else list(given)
    if len(listed) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(listed)} gradients")
    return listed


asks(grad)
