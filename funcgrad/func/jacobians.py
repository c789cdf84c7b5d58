"""jacrev, jacfwd and hessian: whole matrices of derivatives, a batch of pull-backs or of directions at once."""

from __future__ import annotations

import functools
from typing import Any

import jax

from funcgrad._tensor import functions as fg
from funcgrad._tensor.pytree import leaves_of, with_leaves
from funcgrad._tensor.tensor import Tensor
from funcgrad.func.batching import vmap
from funcgrad.func.derivatives import ArgNums, Function, chosen_arguments, jvp, replaced, vjp
from funcgrad.func.plain import is_plain, plain


def jacrev(
    func: Function, argnums: ArgNums = 0, *, has_aux: bool = False, chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Function:  # fmt: skip
    """Return a function that computes the Jacobian of `func`, a pull-back for each element of the result.

    Shape: for a result (*out) and an argument (*in), (*out, *in); in the structure of the result, and inside it of the
    argument (a tuple of them where `argnums` is one). chunk_size: how many pull-backs at a time.
    """
    if chunk_size is not None and chunk_size < 1:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_arguments(args, argnums)
        if is_plain((args, kwargs)):
            return jax.jacrev(plain(func), argnums, has_aux)(*args, **kwargs)
        _refuse_complex(chosen, "jacrev", "inputs")
        output, pull, *aux = vjp(replaced(func, args, kwargs, argnums), *chosen, has_aux=has_aux)
        _refuse_complex(output, "jacrev", "outputs")
        leaves = leaves_of(output)
        rows = [_rows(leaves, i, output, chosen, pull, chunk_size) for i in range(len(leaves))]
        found = with_leaves(output, [row if isinstance(argnums, tuple) else row[0] for row in rows])
        return (found, aux[0]) if has_aux else found

    return jacobian


def jacfwd(func: Function, argnums: ArgNums = 0, has_aux: bool = False, *, randomness: str = "error") -> Function:
    """Return a function that computes the Jacobian of `func`, a direction for each element of the arguments.

    Shape: as `jacrev`. Cheaper than it where the result has more elements than the arguments.
    """

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_arguments(args, argnums)
        if is_plain((args, kwargs)):
            return jax.jacfwd(plain(func), argnums, has_aux)(*args, **kwargs)
        _refuse_complex(chosen, "jacfwd", "inputs")
        inner = replaced(func, args, kwargs, argnums)
        leaves = leaves_of(chosen)
        columns, output, aux = [], None, None
        for i in range(len(leaves)):
            output, column, aux = _columns(inner, chosen, leaves, i, has_aux, randomness)
            columns.append(column)
        _refuse_complex(output, "jacfwd", "outputs")
        rows = [with_leaves(chosen, row) for row in zip(*columns, strict=True)]
        found = with_leaves(output, [row if isinstance(argnums, tuple) else row[0] for row in rows])
        return (found, aux) if has_aux else found

    return jacobian


def hessian(func: Function, argnums: ArgNums = 0) -> Function:
    """Return a function that computes the second derivatives of `func`: forward over reverse. Shape: (*out, *in, *in).

    >>> hessian(lambda x: (x ** 3).sum())(tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


def _refuse_complex(given: Any, name: str, what: str) -> None:
    """RuntimeError for complex numbers, whose Jacobians have no one meaning."""
    for place, leaf in enumerate(leaves_of(given)):
        if isinstance(leaf, Tensor) and leaf.dtype.is_complex:
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened input idx: {place}"
            )


def _rows(
    leaves: list[Any], chosen_leaf: int, output: Any, chosen: tuple[Any, ...], pull: Function, chunk_size: int | None
) -> Any:
    """Return the rows of one result's leaf, in the structure of the chosen arguments."""
    leaf = leaves[chosen_leaf]
    others = [fg.zeros_like(other) for other in leaves]

    def of_one(cotangent: Tensor) -> Any:
        cotangents = [*others[:chosen_leaf], cotangent, *others[chosen_leaf + 1 :]]
        return tuple(leaves_of(pull(with_leaves(output, cotangents))))

    rows = vmap(of_one, chunk_size=chunk_size)(_basis(leaf))
    return with_leaves(chosen, [row.reshape((*leaf.shape, *row.shape[1:])) for row in rows])


def _columns(
    func: Function, chosen: tuple[Any, ...], leaves: list[Any], place: int, has_aux: bool, randomness: str
) -> tuple[Any, list[Tensor], Any]:
    """Return the result, the columns of each of its leaves for one leaf of the arguments, and aux."""
    leaf = leaves[place]
    others = [fg.zeros_like(other) for other in leaves]
    kept: list[Any] = []

    def of_one(tangent: Tensor) -> Any:
        tangents = with_leaves(chosen, [*others[:place], tangent, *others[place + 1 :]])
        output, moved, *aux = jvp(func, chosen, tangents, has_aux=has_aux)
        kept[:] = [output, *aux]
        return tuple(leaves_of(moved))

    columns = vmap(of_one, out_dims=-1, randomness=randomness)(_basis(leaf))
    return kept[0], [c.reshape((*c.shape[:-1], *leaf.shape)) for c in columns], kept[1] if has_aux else None


def _basis(leaf: Tensor) -> Tensor:
    """Return a batch of the unit vectors of a tensor's shape. Shape: (number of elements, *leaf.shape)."""
    return fg.eye(leaf.shape.numel(), dtype=leaf.dtype, device=leaf.device).reshape(leaf.shape.numel(), *leaf.shape)
