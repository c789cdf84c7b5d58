"""How many floating point operations each of torch's kernels takes: a multiplication and an addition are two.

Formulas take the kernel's arguments, tensors as their shapes, and `out_shape`. Additions of a bias are not counted.
Source: the formulas of torch.utils.flop_counter, PyTorch 2.13.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from funcgrad._tensor.packets import Overload, Packet, packet

__all__ = [
    "addmm_flop", "baddbmm_flop", "bmm_flop", "conv_backward_flop", "conv_flop", "conv_flop_count", "flop_registry",
    "mm_flop", "sdpa_backward_flop", "sdpa_backward_flop_count", "sdpa_flop", "sdpa_flop_count",
]  # fmt: skip
Sizes = Sequence[int]
Formula = Callable[..., int]


def mm_flop(a_shape: Sizes, b_shape: Sizes, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Count the product of two matrices. Shape: a (m, k), b (k, n)."""
    (m, k), (_, n) = a_shape, b_shape
    return 2 * m * k * n


def addmm_flop(self_shape: Sizes, a_shape: Sizes, b_shape: Sizes, out_shape: Any = None, **kwargs: Any) -> int:
    """Count the product of two matrices to which a third is added."""
    return mm_flop(a_shape, b_shape)


def bmm_flop(a_shape: Sizes, b_shape: Sizes, out_shape: Any = None, **kwargs: Any) -> int:
    """Count the products of a batch of matrices. Shape: a (b, m, k), b (b, k, n)."""
    (count, m, k), (_, _, n) = a_shape, b_shape
    return 2 * count * m * k * n


def baddbmm_flop(self_shape: Sizes, a_shape: Sizes, b_shape: Sizes, out_shape: Any = None, **kwargs: Any) -> int:
    """Count the products of a batch of matrices to which another batch is added."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape: Sizes, w_shape: Sizes, out_shape: Sizes, transposed: bool = False) -> int:
    """Count a convolution: the kernel once for each place of the result, or, transposed, of the input.

    Shape: x (N, C, *), w (O, C / groups, *), out (N, O, *).
    """
    places = (x_shape if transposed else out_shape)[2:]
    return 2 * x_shape[0] * prod(places) * prod(w_shape)


def conv_flop(
    x_shape: Sizes, w_shape: Sizes, _bias: Any, _stride: Any, _padding: Any, _dilation: Any, transposed: bool,
    *args: Any, out_shape: Any = None, **kwargs: Any,
) -> int:  # fmt: skip
    """Count aten's convolution."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed)


def conv_backward_flop(
    grad_out_shape: Sizes, x_shape: Sizes, w_shape: Sizes, _bias: Any, _stride: Any, _padding: Any, _dilation: Any,
    transposed: bool, _output_padding: Any, _groups: Any, output_mask: Sequence[bool], out_shape: Sequence[Any],
    **kwargs: Any,
) -> int:  # fmt: skip
    """Count the gradients that `output_mask` asks for: each is a convolution too, the input's one of the other kind."""
    count = 0
    if output_mask[0]:
        count += conv_flop_count(grad_out_shape, w_shape, out_shape[0], not transposed)
    if output_mask[1]:
        image, kernel = (grad_out_shape, x_shape) if transposed else (x_shape, grad_out_shape)
        count += conv_flop_count(_swapped(image), _swapped(kernel), _swapped(out_shape[1]))
    return count


def _swapped(shape: Sizes) -> list[int]:
    """Return the shape of a batch of images with batch and channels exchanged."""
    return [shape[1], shape[0], *shape[2:]]


def sdpa_flop_count(query_shape: Sizes, key_shape: Sizes, value_shape: Sizes) -> int:
    """Count the two products of attention, whatever a mask leaves out.

    Shape: query (N, H, L, E), key (N, H', S, E), value (N, H', S, F), H a multiple of H'.
    """
    batch, heads, length, width = query_shape
    return 2 * batch * heads * length * key_shape[-2] * (width + value_shape[-1])


def sdpa_flop(
    query_shape: Sizes, key_shape: Sizes, value_shape: Sizes, *args: Any, out_shape: Any = None, **kwargs: Any
) -> int:
    """Count a kernel of attention."""
    return sdpa_flop_count(query_shape, key_shape, value_shape)


def sdpa_backward_flop_count(grad_out_shape: Sizes, query_shape: Sizes, key_shape: Sizes, value_shape: Sizes) -> int:
    """Count the products of attention's backward: the scores once more, and two gradients of each product."""
    batch, heads, length, width = query_shape
    return 2 * batch * heads * length * key_shape[-2] * (3 * width + 2 * value_shape[-1])


def sdpa_backward_flop(
    grad_out_shape: Sizes, query_shape: Sizes, key_shape: Sizes, value_shape: Sizes, *args: Any, out_shape: Any = None,
    **kwargs: Any,
) -> int:  # fmt: skip
    """Count the backward of a kernel of attention."""
    return sdpa_backward_flop_count(grad_out_shape, query_shape, key_shape, value_shape)


for _name in ("_scaled_dot_product_flash_attention_for_cpu", "mkldnn_rnn_layer"):
    packet(_name)  # kernels that torch does not count, unless a script has a formula for them
_ATTENTION = [f"_scaled_dot_product_{kind}_attention" for kind in ("efficient", "flash", "cudnn")]
flop_registry: dict[Any, Formula] = {
    packet("mm"): mm_flop,
    packet("addmm"): addmm_flop,
    packet("bmm"): bmm_flop,
    packet("baddbmm"): baddbmm_flop,
    packet("convolution"): conv_flop,
    packet("convolution_backward"): conv_backward_flop,
    **{packet(name): sdpa_flop for name in _ATTENTION},
    **{packet(f"{name}_backward"): sdpa_backward_flop for name in _ATTENTION},
}


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Formula], Formula]:
    """Return a decorator that enters a formula for kernels: `torch.ops.aten.foo`, or an operator of one's own.

    get_raw: the formula takes the operator's tensors and `out_val`, not shapes; only for operators of one's own.
    ValueError for what is no kernel, RuntimeError for one that has a formula.
    """

    def register(formula: Formula) -> Formula:
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            is_own = hasattr(target, "_schema") and not isinstance(target, Overload)
            if not is_own and not isinstance(target, Packet):
                raise ValueError(
                    "register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. "
                    "torch.ops.mylib.foo), JitFunction, or HigherOrderOperator, "
                    f"got {target} which is of type {type(target)}"
                )
            if get_raw and not is_own:
                raise ValueError(f"{target} has no tensors to show: get_raw is for operators of torch.library")
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = formula
        if get_raw:
            formula._get_raw = True  # type: ignore[attr-defined]  # as torch marks it
        return formula

    return register
