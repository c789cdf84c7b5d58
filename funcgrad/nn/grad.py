"""torch.nn.grad: the gradients of convolutions by name, for backward passes written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._tape.modes import enable_grad, is_grad_enabled
from funcgrad._tensor.functions import lookup, zeros
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd import grad

_functional = lookup("nn.functional")


def _gradient(
    dimensions: int, input: Tensor, weight: Tensor, grad_output: Tensor, options: Any, *, of_input: bool
) -> Tensor:
    """Return the gradient of a convolution for its input, or its weight, at the given gradient of its result.

    It has a history itself where grad_output, or the other one of both, has one.
    """
    wanted, other = (input, weight) if of_input else (weight, input)
    is_kept = is_grad_enabled() and (other.requires_grad or grad_output.requires_grad)
    with enable_grad():
        wanted.requires_grad_()
        result = _functional(f"conv{dimensions}d")(input, weight, None, *options)
        return grad(result, wanted, grad_output, create_graph=is_kept)[0]


def _of_input(dimensions: int) -> Any:
    def conv_input(
        input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        """Return the gradient for the convolution's input, whose size is given."""
        nothing = zeros(tuple(input_size), dtype=weight.dtype, device=weight.device)
        options = (stride, padding, dilation, groups)
        return _gradient(dimensions, nothing, weight, grad_output, options, of_input=True)

    conv_input.__name__ = conv_input.__qualname__ = f"conv{dimensions}d_input"
    return conv_input


def _of_weight(dimensions: int) -> Any:
    def conv_weight(
        input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        """Return the gradient for the convolution's weight, whose size is given."""
        nothing = zeros(tuple(weight_size), dtype=input.dtype, device=input.device)
        options = (stride, padding, dilation, groups)
        return _gradient(dimensions, input, nothing, grad_output, options, of_input=False)

    conv_weight.__name__ = conv_weight.__qualname__ = f"conv{dimensions}d_weight"
    return conv_weight


conv1d_input, conv2d_input, conv3d_input = map(_of_input, (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = map(_of_weight, (1, 2, 3))
