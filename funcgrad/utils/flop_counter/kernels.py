"""Kernels: what torch runs for a call, each with the shapes that it takes, and what runs for its gradients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from funcgrad._base.size import Size

Shape = tuple[int, ...]
Places = frozenset[int]


class Given(NamedTuple):
    """A tensor that a kernel takes: its shape, and which inputs of the call it is computed from."""

    shape: Shape
    places: Places = frozenset()

    def viewed(self, *shape: int) -> Given:
        """Return it in another shape."""
        return Given(Size(shape), self.places)

    @property
    def mT(self) -> Given:  # noqa: N802 - torch's name
        """Return it with its last two dimensions exchanged."""
        return Given(Size((*self.shape[:-2], self.shape[-1], self.shape[-2])), self.places)

    def moved(self, places: dict[int, int]) -> Given:
        """Return it as another call sees it: places from there to here."""
        return Given(self.shape, frozenset(places[p] for p in self.places if p in places))


class Product(NamedTuple):
    """A product of two matrices, or of two batches of them, which may be added to a bias.

    output: which result of the call it is, None where others follow. counted: whether torch has a kernel for it that
    is counted; its gradients are, whether or not.
    """

    left: Given
    right: Given
    bias: Given | None = None
    output: int | None = 0
    counted: bool = True

    @property
    def name(self) -> str:
        """aten's name of it."""
        plain = "mm" if len(self.left.shape) == 2 else "bmm"
        return plain if self.bias is None else {"mm": "addmm", "bmm": "baddbmm"}[plain]

    @property
    def result(self) -> Shape:
        """Its shape."""
        return Size((*self.left.shape[:-1], self.right.shape[-1]))

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What aten's function takes, tensors as their shapes."""
        factors = (self.left.shape, self.right.shape)
        return factors if self.bias is None else (self.bias.shape, *factors)

    def pulled(self, gradient: Given, wanted: Sequence[int]) -> list[Kernel]:
        """Return the kernels of its gradients."""
        gradient = gradient.viewed(*self.result)
        found: list[Kernel] = []
        for factor, pair in ((self.left, (gradient, self.right.mT)), (self.right, (self.left.mT, gradient))):
            if factor.places & set(wanted):
                output = wanted.index(min(factor.places)) if len(factor.places) == 1 else None
                found.append(Product(*pair, output=output))
        return found

    def in_batch(self, size: int, mapped: Places) -> Product:
        """Return the product of a batch of calls; mapped: the inputs that have the batch."""
        left, right = bool(self.left.places & mapped), bool(self.right.places & mapped)
        if left and not right and len(self.left.shape) == 2:
            rows, inner = self.left.shape
            return self._replace(left=self.left.viewed(size * rows, inner))
        left_shape, right_shape = (
            (size * (x.shape[0] if len(x.shape) == 3 else 1), *x.shape[-2:]) for x in (self.left, self.right)
        )
        return Product(self.left.viewed(*left_shape), self.right.viewed(*right_shape), None, self.output)

    def moved(self, places: dict[int, int]) -> Product:
        """Return it as another call sees it."""
        bias = None if self.bias is None else self.bias.moved(places)
        return self._replace(left=self.left.moved(places), right=self.right.moved(places), bias=bias)


class Convolution(NamedTuple):
    """aten's convolution of a batch of images.

    geometry: stride, padding, dilation, transposed, output_padding, groups.
    """

    input: Given
    weight: Given
    bias: Given | None
    geometry: tuple[Any, ...]
    result: Shape
    output: int | None = 0
    counted: bool = True
    name = "convolution"

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What aten's function takes, tensors as their shapes."""
        bias = None if self.bias is None else self.bias.shape
        return (self.input.shape, self.weight.shape, bias, *self.geometry)

    def pulled(self, gradient: Given, wanted: Sequence[int]) -> list[Kernel]:
        """Return its backward: one kernel for all gradients."""
        tensors = (self.input, self.weight, self.bias)
        mask = [x is not None and bool(x.places & set(wanted)) for x in tensors]
        pairs = zip(tensors, mask, strict=True)
        results = tuple(x.shape if x is not None and is_wanted else None for x, is_wanted in pairs)
        bias = None if self.bias is None else self.bias.shape
        arguments = (self.result, self.input.shape, self.weight.shape, bias, *self.geometry, mask)
        return [Fused("convolution_backward", arguments, results)] if any(mask) else []

    def in_batch(self, size: int, mapped: Places) -> Convolution:
        """Return the convolution of a batch of calls: of more images, or of more kernels."""
        if not self.weight.places & mapped:
            batch = size * self.input.shape[0]
            input = self.input.viewed(batch, *self.input.shape[1:])
            return self._replace(input=input, result=(batch, *self.result[1:]))
        weight = self.weight.viewed(size * self.weight.shape[0], *self.weight.shape[1:])
        return self._replace(weight=weight, result=(self.result[0], size * self.result[1], *self.result[2:]))

    def moved(self, places: dict[int, int]) -> Convolution:
        """Return it as another call sees it."""
        return self._replace(input=self.input.moved(places), weight=self.weight.moved(places))


class Fused(NamedTuple):
    """Any other kernel, by aten's name, with its arguments. backward: that of its gradients, whichever are wanted."""

    name: str
    arguments: tuple[Any, ...]
    result: Any
    backward: str = ""
    output: int | None = 0
    counted: bool = True

    def pulled(self, gradient: Given, wanted: Sequence[int]) -> list[Kernel]:
        """Return its backward."""
        shapes = [x for x in self.arguments if isinstance(x, tuple)]
        return [Fused(self.backward, (self.result, *shapes), tuple(shapes))] if self.backward else []

    def in_batch(self, size: int, mapped: Places) -> Fused:
        """Return the kernel of a batch of calls: torch puts the batch before the first dimension."""
        arguments = tuple(_in_batch(x, size) if isinstance(x, tuple) else x for x in self.arguments)
        return self._replace(arguments=arguments, result=_in_batch(self.result, size))

    def moved(self, places: dict[int, int]) -> Fused:
        """Return it as another call sees it."""
        return self


def _in_batch(shape: Any, size: int) -> Any:
    is_shape = isinstance(shape, tuple) and shape and isinstance(shape[0], int)
    return (size * shape[0], *shape[1:]) if is_shape else shape


Kernel: TypeAlias = Product | Convolution | Fused


def pulled(kernels: Sequence[Kernel], wanted: Sequence[int], cotangents: dict[int, int]) -> list[Kernel]:
    """Return the kernels of the gradients of the wanted inputs. cotangents: where each result's gradient comes from."""
    every = frozenset(cotangents.values()) | {place for kernel in kernels for place in _places(kernel)}
    found: list[Kernel] = []
    for kernel in reversed(kernels):
        if kernel.output is None:
            gradient = Given(kernel.result, every)
        elif kernel.output in cotangents:
            gradient = Given(kernel.result, frozenset((cotangents[kernel.output],)))
        else:
            continue
        found += kernel.pulled(gradient, wanted)
    return found


def _places(kernel: Kernel) -> Iterable[int]:
    return kernel.left.places | kernel.right.places if isinstance(kernel, Product) else ()


def products(left: Given, right: Given, bias: Given | None = None, output: int | None = 0) -> list[Kernel]:
    """Return the product of two matrices or batches of matrices, the batches made flat."""
    if len(left.shape) == len(right.shape) == 2:
        return [Product(left, right, bias, output)]
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left, right = (given.viewed(prod(batch), *given.shape[-2:]) for given in (left, right))
    return [Product(left, right, bias, output)]
