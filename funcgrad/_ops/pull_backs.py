"""Rows: torch's own backward kernels that op databases and some scripts call by name, under `torch.ops.aten`."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.arithmetic import is_integer
from funcgrad._ops.table import Array, Dims, Indices, Mask, op


@op(grad="MulBackward0", names="ops.aten.native_dropout_backward")
def native_dropout_backward(grad_output: Array, mask: Mask, scale: float) -> Array:
    """The gradient of dropout: grad_output * mask * scale; of integers in float32."""
    gradient = grad_output.astype(np.float32) if is_integer(grad_output) else grad_output
    return gradient * mask.astype(gradient.dtype) * np.asarray(scale, gradient.dtype)


@op(grad="MaxPool2DWithIndicesBackwardBackward0", names="ops.aten.max_pool2d_with_indices_backward")
def max_pool2d_with_indices_backward(
    grad_output: Array, self: Array, kernel_size: Dims, stride: Dims, padding: Dims, dilation: Dims, ceil_mode: bool,
    indices: Indices,
) -> Array:  # fmt: skip
    """The gradient of max_pool2d: each window's added where its largest element was. Shape: that of `self`."""
    planes, size = math.prod(self.shape[:-2]), math.prod(self.shape[-2:])
    places = (np.arange(planes)[:, None], indices.reshape(planes, -1))
    return jnp.zeros((planes, size), self.dtype).at[places].add(grad_output.reshape(planes, -1)).reshape(self.shape)
