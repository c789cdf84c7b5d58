"""What numpy does for convolutions: windows laid out in rows, and one product of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad._program.host.products import product
from funcgrad._program.host.table import Array, Function, NotForHost, rule


class Convolution:
    """The sizes of a convolution. groups: of features, or of the batch, each of which has kernels of its own.

    spaces, kernels, results: sizes along the axes that windows move along. channels: that a kernel reads.
    """

    def __init__(self, equation: Any) -> None:
        self.params, numbers = equation.params, equation.params["dimension_numbers"]
        left, right, result = equation.invars[0].aval, equation.invars[1].aval, equation.outvars[0].aval
        self.left, self.right, self.back = numbers.lhs_spec, numbers.rhs_spec, tuple(np.argsort(numbers.out_spec))
        self.groups = self.params["feature_group_count"] * self.params["batch_group_count"]
        self.spaces = [left.shape[i] for i in self.left[2:]]
        self.kernels = [right.shape[i] for i in self.right[2:]]
        self.results = [result.shape[i] for i in numbers.out_spec[2:]]
        self.batch, self.channels = result.shape[numbers.out_spec[0]], right.shape[self.right[1]]
        self.features = right.shape[self.right[0]] // self.groups

    @property
    def rows(self) -> int:
        """How many numbers the windows hold, written out."""
        return self.groups * math.prod([self.batch, self.channels, *self.results, *self.kernels])

    @property
    def products(self) -> int:
        """How many products are added up."""
        return self.rows * self.features

    def places(self) -> tuple[list[int], tuple[Any, ...], tuple[Any, ...]]:
        """Return the padded sizes, where in them numbers stand, and which numbers those are: padding may cut some."""
        sizes, to, of = list[int](), list[slice](), list[slice]()
        paddings, dilations = self.params["padding"], self.params["lhs_dilation"]
        for size, (low, high), step in zip(self.spaces, paddings, dilations, strict=True):
            spread = (size - 1) * step + 1 if size else 0
            whole = max(0, low + spread + high)
            first = max(0, -(low // step))  # the first and the last number, rounded up, that padding does not cut
            last = min(size, max(first, -((low - whole) // step)))
            sizes.append(whole)
            of.append(slice(first, last))
            to.append(slice(low + first * step, low + (last - 1) * step + 1, step) if last > first else slice(0))
        return sizes, (..., *to), (..., *of)


@rule("conv_general_dilated")
def convolution(equation: Any) -> Function:
    """Each window of the padded input in a row, times the kernels."""
    found, dtype = Convolution(equation), equation.outvars[0].aval.dtype
    if any(variable.aval.dtype != dtype for variable in equation.invars):
        raise NotForHost("a product in another dtype")
    groups, batch, channels = found.groups, found.batch, found.channels
    sizes, to, of = found.places()
    are_of_features = found.params["feature_group_count"] > 1
    apart = (batch, groups, channels) if are_of_features else (groups, batch, channels)
    padded = (groups, batch, channels, *sizes)
    inside = (groups, batch, *found.results, channels, *found.kernels)
    rows = math.prod(found.results) * batch, channels * math.prod(found.kernels)
    multiply = product(*rows, found.features)
    strides, steps = found.params["window_strides"], found.params["rhs_dilation"]
    order = (1, 0, len(inside) - 1 - len(sizes), *range(2, 2 + len(sizes)))

    def convolved(x: Array, kernels: Array) -> Array:
        x = x.transpose(found.left).reshape(*apart, *found.spaces)
        wide = np.zeros(padded, dtype)
        wide[to] = (x.swapaxes(0, 1) if are_of_features else x)[of]
        group, one, channel, *along = wide.strides
        windows = np.ndarray(
            inside, dtype, wide, 0,
            (group, one, *[a * b for a, b in zip(along, strides, strict=True)],
             channel, *[a * b for a, b in zip(along, steps, strict=True)]),
        )  # fmt: skip
        turned = kernels.transpose(found.right).reshape(groups, found.features, rows[1]).transpose(0, 2, 1)
        result = multiply(windows.reshape(groups, *rows), turned)
        result = result.reshape(groups, batch, *found.results, found.features).transpose(order)
        return result.reshape(batch, groups * found.features, *found.results).transpose(found.back)

    return convolved
