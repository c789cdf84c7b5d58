"""Arguments that no gradient goes to in torch: some it refuses to differentiate by, of some it compares the numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._ops.conditions import are_no_turns
from funcgrad._tape.modes import no_grad, thread
from funcgrad._tape.underivable import refused
from funcgrad._tensor.refused_numbers import require
from funcgrad._tensor.tensor import Tensor

_OF_COMPLETE_QR = "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
_OF_QR_WITHOUT_Q = (
    "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
    "mode='reduced') if you are going to differentiate through linalg.qr."
)

_OF_PHASE = (
    "{function}_backward: The {what} in the complex case are specified up to multiplication by e^{{i phi}}. The "
    "specified loss function depends on this {phase}, {so} ill-defined."
)


def check_constant(argument: Any, name: str, function: str) -> None:
    """Raise RuntimeError where this argument of one of torch's kernels wants a gradient, and graphs are recorded."""
    if isinstance(argument, Tensor) and thread.grad and argument.requires_grad:
        raise RuntimeError(
            f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot "
            "have requires_grad True."
        )


def check_class_weights(input: Any, target: Any, weight: Any) -> None:
    """Raise RuntimeError where weights of classes want a gradient: of probabilities as targets they may."""
    if isinstance(weight, Tensor) and isinstance(target, Tensor) and not target.is_floating_point():
        of_images = isinstance(input, Tensor) and input.ndim > 3
        check_constant(weight, "weight", "nll_loss2d_forward" if of_images else "nll_loss_forward")


def without_history(argument: Any) -> Any:
    """Return a tensor as a constant, and anything else as it is."""
    return argument.detach() if isinstance(argument, Tensor) and argument.requires_grad else argument


def with_derivable_qr(input: Any, mode: str, result: Any) -> Any:
    """Return Q and R; a backward pass through them raises RuntimeError where there is no derivative."""
    is_tall = mode == "complete" and input.shape[-2] > input.shape[-1]
    if not (is_tall or mode == "r") or not isinstance(input, Tensor) or not result[1].requires_grad:
        return result
    words, variable = _OF_COMPLETE_QR if is_tall else _OF_QR_WITHOUT_Q, input._current()
    return type(result)(*[Tensor._of(refused(words, variable, part._variable)) for part in result])


def with_free_phases(result: Any, function: str) -> Any:
    """Return eigenvalues and eigenvectors; a backward pass in which a loss depends on phases of the latter is refused.

    RuntimeError when a number is read, unless all are known at once.
    """
    vectors = result[1]
    if not _are_derived(vectors):
        return result
    constant = vectors.detach()
    message = _OF_PHASE.format(function=function, what="eigenvectors", phase="quantity", so="so it is")

    def excess(_: Any, gradient: Tensor | None) -> Tensor | None:
        return None if gradient is None else _turns(constant, gradient).abs()

    _watch(vectors, excess, message)
    return result


def with_free_singular_phases(result: Any, is_adjoint: bool) -> Any:
    """Return U, S, and V or its adjoint, as `with_free_phases` returns eigenvectors: here a phase is common to both."""
    if not _are_derived(result[0]):
        return result
    count = result[1].shape[-1]

    def columns(right: Tensor) -> Tensor:
        return (right.mH if is_adjoint else right)[..., :count]

    left, right = result[0].detach()[..., :count], columns(result[2].detach())
    message = _OF_PHASE.format(function="svd", what="singular vectors", phase="phase term", so="making it")

    def excess(of_left: Tensor | None, _: Any, of_right: Tensor | None) -> Tensor | None:
        """Return twice the turns, as torch compares them, less the part of V's that it tolerates."""
        turns = [] if of_left is None else [_turns(left, of_left[..., :count])]
        turns += [] if of_right is None else [_turns(right, columns(of_right))]
        if len(turns) < 2:
            return 2 * turns[0].abs() if turns else None
        return 2 * (turns[0] + turns[1]).abs() - 2e-2 * turns[1].abs()

    _watch(result[0], excess, message)
    return result


def _are_derived(vectors: Any) -> bool:
    return isinstance(vectors, Tensor) and vectors.dtype.is_complex and vectors.requires_grad


def _turns(vectors: Tensor, gradient: Tensor) -> Tensor:
    """Return how fast a loss changes as each column is turned: the imaginary part of vectors^H gradient's diagonal."""
    return (vectors.conj() * gradient).sum(-2).imag


def _watch(vectors: Tensor, excess: Callable[..., Tensor | None], message: str) -> None:
    """Look at the gradients of all results before they are passed on; after a pass with a history no more.

    From then on the gradients of a loss may come in two ways, of which each depends on phases.
    """
    was_derived = False

    def check(gradients: Any) -> None:
        nonlocal was_derived
        if was_derived:
            return
        was_derived = thread.grad
        with no_grad():
            found = excess(*gradients)
            if found is not None:
                require(are_no_turns, found, None, message)

    vectors._variable.node.register_prehook(check)
