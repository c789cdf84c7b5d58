"""gradcheck and gradgradcheck: the recorded backwards against central differences, in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad._tensor import functions as fg
from funcgrad._tensor.differentiate import gradients_of
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor


class GradcheckError(RuntimeError):
    """A recorded gradient and the difference quotient are too far apart."""


def gradcheck(
    func: Callable[..., Any], inputs: Any, *, eps: float = 1e-06, atol: float = 1e-05, rtol: float = 0.001,
    raise_exception: bool = True, **_: Any,
) -> bool:  # fmt: skip
    """Compare the Jacobian by backward with the one by central differences, for every input that requires grad.

    Raises GradcheckError where they differ (or returns False, as asked). Inputs should be float64.
    """
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    checked = [i for i, x in enumerate(given) if isinstance(x, Tensor) and x.requires_grad]
    if not checked:
        raise ValueError("gradcheck expects at least one input tensor to require gradient")
    outputs = [o for o in _listed(func(*given)) if o.requires_grad]
    for position, output in enumerate(outputs):
        analytic = _by_backward(output, [given[i] for i in checked])
        for place, by_backward in zip(checked, analytic, strict=True):
            numeric = _by_differences(func, given, place, position, eps)
            if not np.allclose(by_backward, numeric, rtol, atol):
                if raise_exception:
                    raise GradcheckError(
                        f"Jacobian mismatch for output {position} with respect to input {place},\n"
                        f"numerical:{numeric}\nanalytical:{by_backward}"
                    )
                return False
    return True


def gradgradcheck(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *, gen_non_contig_grad_outputs: bool = False,
    **options: Any,
) -> bool:  # fmt: skip
    """Check the gradients of the gradients: gradcheck of the backward itself, with respect to inputs and cotangents."""
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    outputs = [o for o in _listed(func(*given)) if o.requires_grad]
    rng = np.random.default_rng(0)
    cotangents = grad_outputs if grad_outputs is not None else [
        from_host(rng.standard_normal(tuple(o.shape)), dtype=o.dtype, requires_grad=True) for o in outputs
    ]
    cotangents = _listed(cotangents)
    count = len(given)

    def backward_of(*all_inputs: Any) -> Any:
        primal, cotangent = all_inputs[:count], all_inputs[count:]
        results = [o for o in _listed(func(*primal)) if o.requires_grad]
        wanted = [x for x in primal if isinstance(x, Tensor) and x.requires_grad]
        found = gradients_of(
            results, wanted, list(cotangent), retain_graph=True, create_graph=True, allow_unused=True, materialize=True
        )
        return tuple(g for g in found if g.requires_grad)

    return gradcheck(backward_of, (*given, *cotangents), **options)


def _listed(outputs: Any) -> list[Any]:
    return [outputs] if isinstance(outputs, Tensor) else list(outputs)


def _by_backward(output: Tensor, inputs: Sequence[Tensor]) -> list[np.ndarray[Any, Any]]:
    """Return the Jacobian of each input, (input size, output size), a backward for each element of the output."""
    size = output.shape.numel()
    columns: list[list[Any]] = [[] for _ in inputs]
    for k in range(size):
        one = np.zeros(size, output.dtype.numpy)
        one[k] = 1
        start = from_host(one.reshape(tuple(output.shape)))
        found = gradients_of(
            [output], inputs, [start], retain_graph=True, create_graph=False, allow_unused=True, materialize=True
        )
        for column, gradient in zip(columns, found, strict=True):
            column.append(to_host(gradient.detach()).reshape(-1))
    return [np.stack(c, 1) if c else np.zeros((x.shape.numel(), 0)) for c, x in zip(columns, inputs, strict=True)]


def _by_differences(func: Any, inputs: tuple[Any, ...], place: int, position: int, eps: float) -> np.ndarray[Any, Any]:
    array = to_host(inputs[place].detach())
    rows = []
    for k in range(array.size):
        outputs = []
        for step in (eps, -eps):
            moved = array.copy()
            moved.reshape(-1)[k] += step
            shifted = from_host(moved, dtype=inputs[place].dtype, requires_grad=True)
            with fg.enable_grad():
                results = _listed(func(*inputs[:place], shifted, *inputs[place + 1 :]))
            outputs.append(to_host([o for o in results if o.requires_grad][position].detach()).reshape(-1))
        rows.append((outputs[0] - outputs[1]) / (2 * eps))
    return np.stack(rows) if rows else np.zeros((0, 0))
