"""gradcheck and gradgradcheck: the recorded derivatives, backward and forward, against central differences.

A Jacobian J is compared as U J V: the rows of U are directions in which the input moves, the columns of V weigh the
output. Both are the identity, or in fast mode one random vector each. A complex number counts as two real ones.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from funcgrad._base.dtypes import complex128, float64
from funcgrad._tape.levels import BatchLevel
from funcgrad._tape.modes import enable_grad
from funcgrad._tensor.differentiate import gradients_of
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.sparse.tensor import SparseTensor, sparse
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd.backwards import grad, whole_batch
from funcgrad.autograd.forward_ad import dual_level, make_dual, unpack_dual
from funcgrad.random.functions import rand_like, randn_like

Matrix = np.ndarray[Any, Any]


class GradcheckError(RuntimeError):
    """A recorded gradient and the difference quotient are too far apart."""


def gradcheck(
    func: Callable[..., Any], inputs: Any, *, eps: float = 1e-06, atol: float = 1e-05, rtol: float = 0.001,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False, check_backward_ad: bool = True, fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:  # fmt: skip
    """Compare the Jacobian with the one by central differences, for every input that requires grad.

    check_backward_ad, check_forward_ad: which derivatives are compared. check_batched_grad and
    check_batched_forward_grad: also a batch of them at once against one by one. check_grad_dtypes: gradients have their
    inputs' dtypes. nondet_tol: how far a second backward may be from the first. fast_mode: in one random direction
    only. Inputs should be float64 or complex128. Raises GradcheckError where something differs (or returns False, as
    asked). Of sparse tensors what is stored counts, whatever `masked` says; check_undefined_grad is accepted: a
    backward gets no undefined gradients.
    """
    if not (check_backward_ad or check_forward_ad):
        raise AssertionError("Expected at least one of check_forward_ad and check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    check = _Check(*_on_values(func, inputs), fast_mode, eps)
    try:
        if check_backward_ad:
            check.compare("backward mode", lambda: check.by_backward(check_grad_dtypes), rtol, atol)
            check.repeat(nondet_tol)
        if check_forward_ad:
            check.compare("forward mode", check.by_forward, rtol, atol)
        if check_batched_grad:
            check.batch("backward", check.backward_batch)
        if check_batched_forward_grad:
            check.batch("forward", check.forward_batch)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-06, atol: float = 1e-05,
    rtol: float = 0.001, gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True,
    nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
    check_batched_grad: bool = False, check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True,
    fast_mode: bool = False, masked: bool = False,
) -> bool:  # fmt: skip
    """Check the gradients of the gradients: gradcheck of the backward itself, with respect to inputs and cotangents.

    check_rev_over_rev, check_fwd_over_rev: the backward is differentiated backward, forward. Others: see `gradcheck`.
    """
    given = _listed(inputs)
    count = len(given)
    cotangents = (
        _random_cotangents(_differentiable(func(*given)), _even) if grad_outputs is None else _listed(grad_outputs)
    )

    def backward_of(*all_inputs: Any) -> Any:
        primal, cotangent = all_inputs[:count], all_inputs[count:]
        wanted = [x for x in primal if isinstance(x, Tensor) and x.requires_grad]
        found = grad(_differentiable(func(*primal)), wanted, cotangent, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        backward_of, (*given, *cotangents), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, fast_mode=fast_mode, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, masked=masked,
    )  # fmt: skip


def _on_values(func: Callable[..., Any], inputs: Any) -> tuple[Callable[..., Any], Any]:
    """Return a function of the values of sparse inputs, whose sparse results are dense, and its inputs."""
    given = _listed(inputs)
    patterns = [x._pattern if isinstance(x, SparseTensor) else None for x in given]

    def dense(*values: Any) -> Any:
        found = func(*(x if at is None else sparse(x, at) for x, at in zip(values, patterns, strict=True)))
        parts = [x.to_dense() if isinstance(x, SparseTensor) else x for x in _listed(found)]
        return tuple(parts) if isinstance(found, (tuple, list)) else parts[0]

    if not any(patterns):
        return dense, given
    return dense, tuple(
        x._values().requires_grad_(x.requires_grad) if isinstance(x, SparseTensor) else x for x in given
    )


class _Check:
    """A function at one point: the inputs that move, the outputs that follow, and derivatives in several ways."""

    def __init__(self, func: Callable[..., Any], inputs: Any, fast: bool, eps: float) -> None:
        self.func, self.eps = func, eps
        self.given = _listed(inputs)
        self.places = [i for i, x in enumerate(self.given) if isinstance(x, Tensor) and x.requires_grad]
        if not self.places:
            raise ValueError(
                "gradcheck expects at least one input tensor to require gradient, but none of them have "
                "requires_grad=True."
            )
        self.inputs = [self.given[i] for i in self.places]
        for place, x in zip(self.places, self.inputs, strict=True):
            if x.dtype not in (float64, complex128):
                warnings.warn(
                    f"Input #{place} requires gradient and is not a double precision floating point or complex. "
                    "This check will likely fail if all the inputs are not of double precision floating point or "
                    "complex. ",
                    stacklevel=3,
                )
        tensors = _tensors(func(*self.given))
        self.kept = [i for i, o in enumerate(tensors) if o.requires_grad]
        self.outputs = [tensors[i] for i in self.kept]
        random = np.random.default_rng(0)
        self.moves = [_directions(random, x, fast) for x in self.inputs]
        self.weights = [_directions(random, o, fast).T for o in self.outputs]

    def compare(self, way: str, analytic: Callable[[], list[list[Matrix]]], rtol: float, atol: float) -> None:
        """Compare U J V of every input and output, numeric and analytic; found[output][input]."""
        if not self.outputs:
            self._must_not_move(atol)
            return
        found, numeric = analytic(), self.by_differences()
        for i, weights in enumerate(self.weights):
            for j, moves in enumerate(self.moves):
                scale = np.abs(moves).sum(1)[:, None] * np.abs(weights).sum(0)[None, :]
                if not (np.abs(numeric[i][j] - found[i][j]) <= atol * scale + rtol * np.abs(found[i][j])).all():
                    how = "" if way == "backward mode" else f" computed with {way}"
                    shown = [from_host(jacobian[i][j]).to(self.outputs[i].dtype) for jacobian in (numeric, found)]
                    raise GradcheckError(
                        f"Jacobian{how} mismatch for output {i} with respect to input {self.places[j]},\n"
                        f"numerical:{shown[0]}\nanalytical:{shown[1]}\n"
                    )

    def _must_not_move(self, atol: float) -> None:
        for place, moves in zip(self.places, self.moves, strict=True):
            if any((np.abs(change) > atol).any() for changes in self._changes(place, moves) for change in changes):
                raise GradcheckError("Numerical gradient for function expected to be zero")

    def by_differences(self) -> list[list[Matrix]]:
        """Return U J V by moving each input both ways along its directions."""
        per_input = [list(self._changes(place, moves)) for place, moves in zip(self.places, self.moves, strict=True)]
        return [
            [_rows([changes[i] for changes in moved], len(weights)) @ weights for moved in per_input]
            for i, weights in enumerate(self.weights)
        ]

    def _changes(self, place: int, moves: Matrix) -> Iterator[list[Matrix]]:
        """Give, for each direction of an input, the difference quotient of every output."""
        x = self.given[place]
        start = np.array(to_host(x.detach()))
        for move in moves:
            ends = [self._at(x, start + sign * self.eps * _like(move, x), start) for sign in (1, -1)]
            yield [(high - low) / (2 * self.eps) for high, low in zip(*ends, strict=True)]

    def _at(self, x: Tensor, array: Matrix, start: Matrix) -> list[Matrix]:
        """Return the outputs where the input itself holds `array`: a module that reads its own parameters sees it."""
        _fill(x, array)
        try:
            with enable_grad():
                tensors = _tensors(self.func(*self.given))
            return [_reals(tensors[i]) for i in (self.kept or range(len(tensors)))]
        finally:
            _fill(x, start)

    def by_backward(self, check_dtypes: bool = False) -> list[list[Matrix]]:
        """Return U J V by a backward for every column of V."""
        found = []
        for output, weights in zip(self.outputs, self.weights, strict=True):
            columns = [self._pulled(output, column, check_dtypes) for column in weights.T]
            found.append([
                moves @ _rows([column[j] for column in columns], moves.shape[1]).T for j, moves in enumerate(self.moves)
            ])  # fmt: skip
        return found

    def _pulled(self, output: Tensor, weights: Matrix, check_dtypes: bool) -> list[Matrix]:
        gradients = gradients_of(
            [output], self.inputs, [_tensor_like(weights, output)], retain_graph=True, create_graph=False,
            allow_unused=True, materialize=True,
        )  # fmt: skip
        for place, x, gradient in zip(self.places, self.inputs, gradients, strict=True):
            if check_dtypes and gradient.dtype is not x.dtype:
                raise GradcheckError(f"Expected grad of input {place} to have dtype {x.dtype}, got {gradient.dtype}")
        return [_reals(gradient) for gradient in gradients]

    def by_forward(self) -> list[list[Matrix]]:
        """Return U J V by a dual number for every row of U."""
        per_input = [
            [[_reals(t) for t in self._pushed(place, _tensor_like(move, x))] for move in moves]
            for place, x, moves in zip(self.places, self.inputs, self.moves, strict=True)
        ]
        return [
            [_rows([tangents[i] for tangents in moved], len(weights)) @ weights for moved in per_input]
            for i, weights in enumerate(self.weights)
        ]

    def _pushed(self, place: int, tangent: Tensor) -> list[Tensor]:
        """Return the tangent of every output where one input moves along `tangent`."""
        with dual_level():
            moving = make_dual(self.given[place], tangent)
            tensors = _tensors(self.func(*self.given[:place], moving, *self.given[place + 1 :]))
            pairs = [unpack_dual(tensors[i]) for i in self.kept]
            return [pair.primal.detach() * 0 if pair.tangent is None else pair.tangent.detach() for pair in pairs]

    def repeat(self, tolerance: float) -> None:
        """Go back twice with the same cotangents: the results must be the same."""
        for i, (first, second) in enumerate(zip(self.by_backward(), self.by_backward(), strict=True)):
            for one, other in zip(first, second, strict=True):
                if (np.abs(one - other) > tolerance).any():
                    raise GradcheckError(
                        f"Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
                        f"times gives different values for output {i}, although analytical gradient matches numerical "
                        f"gradient. The tolerance for nondeterminism was {tolerance}."
                    )

    def batch(self, way: str, both: Callable[[], Iterator[tuple[str, list[Tensor], list[Tensor]]]]) -> None:
        """Compare derivatives taken in a batch with those taken one by one."""
        for what, batched, single in both():
            for j, (together, alone) in enumerate(zip(batched, single, strict=True)):
                if not np.allclose(to_host(together), to_host(alone), rtol=1e-5, atol=1e-8):
                    raise GradcheckError(
                        f"the {way} derivatives of a batch (is_grads_batched, vmap) are not those taken one by one, "
                        f"{what}, tensor {j}:\n{together}\nexpected:\n{alone}"
                    )

    def backward_batch(self) -> Iterator[tuple[str, list[Tensor], list[Tensor]]]:
        """Give, for each output, the gradients of two cotangents at once, and those of each, stacked."""
        for i, output in enumerate(self.outputs):
            pair = _random_cotangents([output, output], randn_like)

            def pulled(cotangent: Tensor, output: Tensor = output, **how: Any) -> list[Tensor]:
                return list(grad(output, self.inputs, cotangent, retain_graph=True, materialize_grads=True, **how))

            yield f"output {i}", pulled(_stacked(pair), is_grads_batched=True), _by_column([pulled(c) for c in pair])

    def forward_batch(self) -> Iterator[tuple[str, list[Tensor], list[Tensor]]]:
        """Give, for each input, the tangents in two directions at once, and those in each, stacked."""
        for place, x in zip(self.places, self.inputs, strict=True):
            pair = _random_cotangents([x, x], randn_like)
            level = BatchLevel(2, "error")
            lifted = Tensor._of(level.lift(_stacked(pair)._current()))
            try:
                tangents = self._pushed(place, lifted)
            finally:
                level.finished = True
            yield (
                f"input {place}", [whole_batch(level, tangent) for tangent in tangents],
                _by_column([self._pushed(place, tangent.detach()) for tangent in pair]),
            )  # fmt: skip


def _fill(x: Tensor, array: Matrix) -> None:
    x.data = from_host(array, dtype=x.dtype, device=x.device)


def _by_column(rows: Sequence[Sequence[Tensor]]) -> list[Tensor]:
    return [_stacked(column) for column in zip(*rows, strict=True)]


def _stacked(tensors: Sequence[Tensor]) -> Tensor:
    first = tensors[0]
    return from_host(np.stack([to_host(t.detach()) for t in tensors]), dtype=first.dtype, device=first.device)


def _random_cotangents(like: Sequence[Tensor], draw: Callable[[Tensor], Tensor]) -> list[Tensor]:
    """Return tensors that require gradients, drawn from the stream from which torch draws them."""
    return [draw(x.detach()).detach().requires_grad_() for x in like]


def _even(like: Tensor) -> Tensor:
    """Return numbers drawn evenly from [-1, 1), a complex number's parts each."""
    return rand_like(like) * 2 - (1 + 1j if like.dtype.is_complex else 1)


def _directions(random: np.random.Generator, tensor: Tensor, fast: bool) -> Matrix:
    """Return the directions in which a tensor moves, one per row."""
    size = _size(tensor)
    if not fast or size == 0:
        return np.eye(size)
    move = random.random((1, size))
    return move / np.linalg.norm(move)


def _size(tensor: Tensor) -> int:
    """Return how many real numbers a tensor has."""
    return math.prod(tensor.shape) * (2 if tensor.dtype.is_complex else 1)


def _reals(tensor: Tensor) -> Matrix:
    array = np.ascontiguousarray(to_host(tensor.detach())).reshape(-1)
    wide = array.astype(np.complex128 if tensor.dtype.is_complex else np.float64)
    return wide.view(np.float64)


def _like(reals: Matrix, tensor: Tensor) -> Matrix:
    """Return real numbers as an array of a tensor's shape, complex where it is."""
    wide = np.ascontiguousarray(reals, np.float64)
    return (wide.view(np.complex128) if tensor.dtype.is_complex else wide).reshape(tuple(tensor.shape))


def _tensor_like(reals: Matrix, tensor: Tensor) -> Tensor:
    return from_host(_like(reals, tensor), dtype=tensor.dtype, device=tensor.device)


def _rows(rows: Sequence[Matrix], width: int) -> Matrix:
    return np.stack(rows) if rows else np.zeros((0, width))


def _listed(given: Any) -> tuple[Any, ...]:
    return (given,) if isinstance(given, Tensor) else tuple(given)


def _tensors(outputs: Any) -> list[Tensor]:
    return [o for o in _listed(outputs) if isinstance(o, Tensor)]


def _differentiable(outputs: Any) -> list[Tensor]:
    return [o for o in _tensors(outputs) if o.requires_grad]
