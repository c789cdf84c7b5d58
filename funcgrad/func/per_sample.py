"""call_for_per_sample_grads: a module called so that `backward` leaves the gradients of each sample by themselves."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal

from funcgrad._tensor.tensor import Tensor
from funcgrad.func.batching import vmap
from funcgrad.func.modules import functional_call
from funcgrad.nn.module import Module
from funcgrad.utils import _pytree as pytree

__all__ = ["call_for_per_sample_grads"]


def call_for_per_sample_grads(
    module: Module,
    *,
    batch_size: int | None = None,
    loss_reduction: Literal["sum", "mean"] = "sum",
    batch_first: bool = True,
) -> Callable[..., Any]:
    """Return the forward of a module, whose backward pass leaves gradients in each parameter's `grad_sample`.

    Each sample meets parameters of its own, by `vmap`, as a batch of one; `.grad` of the parameters stays as it is.
    batch_size: of all tensors that are given; None: found from them. loss_reduction: how the loss adds up the samples;
    a "mean" is undone. batch_first: whether samples are along dimension 0; else along 1.
    Shape: grad_sample (batch, *parameter). RuntimeError: an argument is none of these, `grad_sample` is there already,
    or sizes of batches differ.
    """
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(f"Expected loss_reduction argument to be sum or mean, got {loss_reduction}")
    if not isinstance(module, Module):
        raise RuntimeError(f"Module passed must be nn.Module, got {type(module).__name__}")
    if not (batch_size is None or isinstance(batch_size, int)):
        raise RuntimeError(f"Batch size passed must be None or an integer, got {type(batch_size).__name__}")
    if batch_size is not None and batch_size < 1:
        raise RuntimeError(f"Batch size must be positive, got {batch_size}")
    for parameter in module.parameters():
        if getattr(parameter, "grad_sample", None) is not None:
            raise RuntimeError(
                "Current Expanded Weights accumulates the gradients, which will be incorrect for multiple calls "
                f"without clearing gradients. Please clear out the grad_sample parameter of {parameter} or post an "
                "issue to pytorch/pytorch to prioritize correct behavior"
            )
    dim = 0 if batch_first else 1

    @functools.wraps(module.forward)
    def called(*args: Any, **kwargs: Any) -> Any:
        given, structure = pytree.tree_flatten((args, kwargs))
        size = _size_of_batch([x for x in given if isinstance(x, Tensor)], dim, batch_size)
        scale = size if loss_reduction == "mean" else 1
        parameters = {name: _apart(p, size, scale) for name, p in module.named_parameters() if p.requires_grad}

        def of_one(own: dict[str, Tensor], *given: Any) -> Any:
            batches = [x.unsqueeze(dim) if isinstance(x, Tensor) else x for x in given]
            args, kwargs = pytree.tree_unflatten(batches, structure)
            found = functional_call(module, own, args, kwargs)
            return pytree.tree_map_only(Tensor, lambda x: x.squeeze(dim), found)

        dims = [dim if isinstance(x, Tensor) else None for x in given]
        return vmap(of_one, (0, *dims), dim, randomness="different")(parameters, *given)

    return called


def _size_of_batch(tensors: list[Tensor], dim: int, wanted: int | None) -> int:
    size = wanted
    for tensor in tensors:
        found = tensor.shape[dim]
        if size is None:
            size = found
        elif found != size and wanted is None:
            raise RuntimeError(
                f"When computing batch size, found at least one input with batch size {size} and one with batch size "
                f"{found}. Please specify it explicitly using the batch size kwarg in call_for_per_sample_grads"
            )
        elif found != size:
            raise RuntimeError(
                f"Expected ExpandedWeights to have batch size matching input but got input batch size of {found} with "
                f"ExpandedWeight of batch size {size}"
            )
    if size is None:
        raise RuntimeError(
            "Unable to find a tensor in the passed args and kwargs. They may not be pytree-able and so ExpandedWeights "
            "cannot compute the batch size from the inputs. Please specify it explicitly"
        )
    return size


def _apart(parameter: Tensor, size: int, scale: int) -> Tensor:
    """Return a leaf with the parameter for each sample, whose gradient becomes the parameter's `grad_sample`."""

    def keep(gradient: Tensor) -> None:
        found = gradient * scale
        before = getattr(parameter, "grad_sample", None)
        parameter.grad_sample = found if before is None else before + found  # type: ignore[attr-defined]  # torch's

    each = parameter.detach().expand(size, *parameter.shape).requires_grad_()
    each.register_hook(keep)
    return each
