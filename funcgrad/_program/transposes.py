"""Lets transposes wait until they are needed: what is between two convolutions stays as the convolutions leave it.

torch's images are (N, C, H, W); convolutions on the CPU compute (N, H, W, C), so XLA transposes before and after each.
An elementwise op on transposed arrays is the transposed result of the op on the arrays themselves, and so for
reductions, padding and slices. So a jaxpr is evaluated with arrays that know which transpose they wait for; it is made
where an op needs the order, and most often never: the next op's own transpose undoes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax
from jax.extend import core

from funcgrad._program.primitives import CALLS, ELEMENTWISE, REDUCTIONS, called

Perm = tuple[int, ...]

_TO_IMAGES = (0, 3, 1, 2)  # from (N, H, W, C) to (N, C, H, W)


class Waiting:
    """An array and the transpose that is still to be made: what it stands for is transpose(array, perm)."""

    __slots__ = ("array", "perm")

    def __init__(self, array: Any, perm: Perm | None) -> None:
        self.array, self.perm = array, None if perm is not None and perm == tuple(range(len(perm))) else perm

    def plain(self) -> Any:
        """Return the array with its transpose made."""
        return self.array if self.perm is None else lax.transpose(self.array, self.perm)

    def under(self, perm: Perm) -> Any:
        """Return the array that stands for the same if it waits for `perm`."""
        if self.perm == perm or getattr(self.array, "ndim", 0) == 0:
            return self.array
        inverse = _inverse(perm)
        if self.perm is None:
            return lax.transpose(self.array, inverse)
        return lax.transpose(self.array, _after(self.perm, inverse))


def with_waiting_transposes(function: Callable[..., list[jax.Array]]) -> Callable[..., list[jax.Array]]:
    """Return `function` (of pytrees, to a list of arrays), evaluated with transposes that wait."""

    def evaluated(*arguments: Any) -> list[jax.Array]:
        leaves = jax.tree.leaves(arguments)
        jaxpr = jax.make_jaxpr(function)(*arguments)
        results = _evaluate(jaxpr.jaxpr, [Waiting(x, None) for x in jaxpr.consts], [Waiting(x, None) for x in leaves])
        return [result.plain() for result in results]

    return evaluated


def _evaluate(jaxpr: Any, constants: Sequence[Waiting], arguments: Sequence[Waiting]) -> list[Waiting]:
    known: dict[Any, Waiting] = dict(zip(jaxpr.constvars, constants, strict=True))
    known.update(zip(jaxpr.invars, arguments, strict=True))

    def read(atom: Any) -> Waiting:
        return Waiting(atom.val, None) if isinstance(atom, core.Literal) else known[atom]

    for equation in jaxpr.eqns:
        results = _applied(equation, [read(atom) for atom in equation.invars])
        known.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _applied(equation: Any, inputs: list[Waiting]) -> list[Waiting]:
    name, params = equation.primitive.name, equation.params
    if name in CALLS:
        jaxpr, constants = called(equation)
        return _evaluate(jaxpr, [Waiting(x, None) for x in constants], inputs)
    if name == "transpose":
        perm = tuple(params["permutation"])
        (given,) = inputs
        return [Waiting(given.array, perm if given.perm is None else _after(given.perm, perm))]
    if name == "conv_general_dilated" and len(equation.outvars[0].aval.shape) == 4:
        return [_convolved(equation, *inputs)]
    perm = next((x.perm for x in inputs if x.perm is not None), None)
    if perm is not None:
        rule = _elementwise if name in ELEMENTWISE else _RULES.get(name)
        if rule is not None:
            return rule(equation, inputs, perm)
    results = equation.primitive.bind(*[x.plain() for x in inputs], **params)
    return [Waiting(x, None) for x in (results if equation.primitive.multiple_results else [results])]


def _elementwise(equation: Any, inputs: list[Waiting], perm: Perm) -> list[Waiting]:
    return [Waiting(equation.primitive.bind(*[x.under(perm) for x in inputs], **equation.params), perm)]


def _reduced(equation: Any, inputs: list[Waiting], perm: Perm) -> list[Waiting]:
    axes = equation.params["axes"]
    gone = {perm[axis] for axis in axes}
    params = {**equation.params, "axes": tuple(sorted(gone))}
    left = [perm[axis] for axis in range(len(perm)) if axis not in axes]  # what stands for the dims that remain
    order = sorted(left)
    return [Waiting(equation.primitive.bind(inputs[0].array, **params), tuple(order.index(dim) for dim in left))]


def _padded(equation: Any, inputs: list[Waiting], perm: Perm) -> list[Waiting]:
    config = _by_array(equation.params["padding_config"], perm)
    return [Waiting(lax.pad(inputs[0].under(perm), inputs[1].plain(), config), perm)]


def _sliced(equation: Any, inputs: list[Waiting], perm: Perm) -> list[Waiting]:
    starts, ends = (_by_array(equation.params[name], perm) for name in ("start_indices", "limit_indices"))
    strides = equation.params["strides"]
    strides = None if strides is None else _by_array(strides, perm)
    return [Waiting(lax.slice(inputs[0].array, starts, ends, strides), perm)]


def _reshaped(equation: Any, inputs: list[Waiting], perm: Perm) -> list[Waiting]:
    """Part dimensions where they lie; join those that lie side by side. Else the transpose is made."""
    (given,), sizes, old = inputs, equation.params["new_sizes"], tuple(equation.invars[0].aval.shape)
    if equation.params["dimensions"] is not None:  # read in another order, as the batch rule of a convolution does
        turn = tuple(equation.params["dimensions"])
        perm, old = _after(perm, turn), tuple(old[dim] for dim in turn)
        given = Waiting(given.array, perm)
    runs = _runs(old, tuple(sizes))
    lying = [tuple(perm[d] for d in old) for old, _ in runs]  # the array's dimensions of each run
    if any(place != run[0] + i for run in lying for i, place in enumerate(run)):
        return [Waiting(lax.reshape(given.plain(), sizes), None)]
    order = sorted((run for run in range(len(runs)) if lying[run]), key=lambda run: lying[run][0])
    order += [run for run in range(len(runs)) if not lying[run]]
    stands_for = [d for run in order for d in runs[run][1]]  # of each dimension of the new array
    array = lax.reshape(given.array, [sizes[d] for d in stands_for])
    return [Waiting(array, tuple(stands_for.index(d) for d in range(len(sizes))))]


def _runs(old: Perm, new: Perm) -> list[tuple[list[int], list[int]]]:
    """Return the shortest runs of dimensions of both shapes that hold as many elements each."""
    runs: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        mine, others, have, want = list[int](), list[int](), 1, 1
        while True:
            if i < len(old) and (have <= want or j == len(new)):
                have *= old[i]
                mine.append(i)
                i += 1
            elif j < len(new):
                want *= new[j]
                others.append(j)
                j += 1
            if have == want or (i == len(old) and j == len(new)):
                break
        runs.append((mine, others))
    return runs


def _joined(equation: Any, inputs: list[Waiting], perm: Perm) -> list[Waiting]:
    return [Waiting(lax.concatenate([x.under(perm) for x in inputs], perm[equation.params["dimension"]]), perm)]


def _convolved(equation: Any, images: Waiting, kernels: Waiting) -> Waiting:
    """Let a convolution read images as they lie, and leave (N, C, H, W) results with their channels last."""
    params = dict(equation.params)
    numbers = params["dimension_numbers"]
    images_spec, kernels_spec, result_spec = numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec
    if images.perm is not None:
        images_spec = tuple(images.perm[dim] for dim in images_spec)
    if kernels.perm is not None:
        kernels_spec = tuple(kernels.perm[dim] for dim in kernels_spec)
    perm = None
    if tuple(result_spec) == (0, 1, 2, 3):
        result_spec, perm = (0, 3, 1, 2), _TO_IMAGES
    params["dimension_numbers"] = lax.ConvDimensionNumbers(images_spec, kernels_spec, result_spec)
    return Waiting(equation.primitive.bind(images.array, kernels.array, **params), perm)


_RULES: dict[str, Callable[..., list[Waiting]]] = {
    **dict.fromkeys(REDUCTIONS, _reduced), "pad": _padded, "slice": _sliced, "concatenate": _joined,
    "reshape": _reshaped,
}  # fmt: skip


def _inverse(perm: Perm) -> Perm:
    return tuple(perm.index(dim) for dim in range(len(perm)))


def _after(first: Perm, second: Perm) -> Perm:
    """Return the one transpose that does both, one after the other."""
    return tuple(first[dim] for dim in second)


def _by_array(given: Sequence[Any], perm: Perm) -> tuple[Any, ...]:
    """Return what is given for each dimension in the order of the array that waits for `perm`."""
    inverse = _inverse(perm)
    return tuple(given[dim] for dim in inverse)
