"""What `trace` does with its examples: they are run as often as torch runs them, and what comes out is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._base.warning import warn
from funcgrad._tape.modes import no_grad
from funcgrad._tensor.pytree import map_leaves
from funcgrad._tensor.tensor import Tensor

_NO_TENSORS = "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions"
_NO_RESULT = (
    "The traced function didn't return any values! Side-effects are not captured in traces, so it would be a no-op."
)
_A_DICT = (
    "Encountering a dict at the output of the tracer might cause the trace to be incorrect, this is only valid if the "
    "container structure does not change based on the module's inputs. Consider using a constant container instead "
    "(e.g. for `list`, use a `tuple` instead. for `dict`, use a `NamedTuple` instead). If you absolutely need this and "
    "know the side effects, pass strict=False to trace() to allow this behavior."
)


class TracerWarning(Warning):
    """Told of an output that is another one each time that the traced function is called."""


def run_example(function: Callable[..., Any], example: Any, strict: bool) -> None:
    """Call a function once with an example. RuntimeError: what it gives is not made of tensors."""
    _refuse_output(_called(function, example), strict)


def check_example(function: Callable[..., Any], example: Any, tolerance: float) -> None:
    """Call a function with copies of an example as often as torch does: four times if two calls agree, else three.

    Generators and running statistics are then where torch leaves them. TracerWarning: two calls do not agree.
    """
    with no_grad():
        _, first, second = (_tensors(_called(function, map_leaves(_cloned, example))) for _ in range(3))
        differing = [nr for nr, pair in enumerate(zip(first, second, strict=True), 1) if not _agree(*pair, tolerance)]
        for nr in differing:
            warn(
                f"Output nr {nr}. of the traced function does not match the corresponding output of the Python "
                "function. Detailed error:\nTensor-likes are not close!",
                TracerWarning,
            )
        if not differing:
            _called(function, map_leaves(_cloned, example))


def as_arguments(example: Any) -> tuple[Any, ...]:
    """Return positional arguments: a tensor or dict is the only one."""
    return (example,) if isinstance(example, (Tensor, dict)) else tuple(example)


def _called(function: Callable[..., Any], example: Any) -> Any:
    return function(**example) if isinstance(example, dict) else function(*example)


def _cloned(leaf: Any) -> Any:
    return leaf.detach().clone().requires_grad_(leaf.requires_grad) if isinstance(leaf, Tensor) else leaf


def _tensors(output: Any) -> Sequence[Tensor]:
    return [each for each in (output if isinstance(output, tuple) else (output,)) if isinstance(each, Tensor)]


def _agree(first: Tensor, second: Tensor, tolerance: float) -> bool:
    absolute = 1e-5 if first.dtype.is_differentiable else 0.0
    return first.shape == second.shape and first.allclose(second, tolerance, absolute, equal_nan=True)


def _refuse_output(output: Any, strict: bool) -> None:
    if output is None:
        raise RuntimeError(_NO_RESULT)
    if not isinstance(output, (Tensor, tuple, list, dict)):
        raise RuntimeError(_NO_TENSORS)
    if isinstance(output, dict) and strict:
        raise RuntimeError(_A_DICT)
