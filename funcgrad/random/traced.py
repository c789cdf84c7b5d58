"""Random draws of a step that is traced for export: the host's stream goes along as an array, and is called back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias

import jax
import numpy as np
from jax import lax

from funcgrad._base.dtypes import dtype as DType
from funcgrad._program.value import of_array
from funcgrad._tape.variable import Variable
from funcgrad._tensor.interop import from_host, to_jax
from funcgrad._tensor.tensor import Tensor
from funcgrad.random.generator import Generator, default_generator
from funcgrad.random.mersenne import STATE_BYTES, MersenneTwister

Sample: TypeAlias = Callable[..., Any]  # (stream, *arrays) -> a numpy array


class Traced:
    """The host's stream as an array that goes along with a traced step: `state` are the bytes of `get_state`.

    state None: the step is only looked at, and all that counts is whether it draws.
    """

    present: ClassVar[Traced | None] = None

    def __init__(self, state: Any) -> None:
        self.state, self.used = state, False

    def draw(
        self, sample: Sample, generator: Generator, inputs: Sequence[Tensor], shape: Sequence[int], dtype: DType
    ) -> Tensor:
        """Return what the host will draw each time the step is run: the same numbers as without the trace."""
        if generator is not default_generator:
            raise RuntimeError("a step that is exported draws from the default generator only, not from its own")
        self.used = True
        if self.state is None:
            return from_host(np.zeros(tuple(shape), dtype.numpy))

        kinds = [tensor.dtype.numpy for tensor in inputs]

        def on_host(state: Any, *arrays: Any) -> tuple[Any, Any]:
            stream = MersenneTwister()
            stream.set_state_bytes(np.asarray(state).tobytes())
            numbers = [_viewed(np.asarray(array), kind) for array, kind in zip(arrays, kinds, strict=True)]
            drawn = np.asarray(sample(stream, *numbers).reshape(tuple(shape)), dtype.numpy, order="C")
            return _bytes_of(drawn), np.frombuffer(stream.state_bytes(), np.uint8)

        size = dtype.numpy.itemsize
        shapes = jax.ShapeDtypeStruct((*shape, size), np.uint8), jax.ShapeDtypeStruct((STATE_BYTES,), np.uint8)
        given = [_to_bytes(to_jax(tensor.detach())) for tensor in inputs]
        drawn, self.state = jax.pure_callback(on_host, shapes, self.state, *given, vmap_method="sequential")
        return Tensor._of(Variable(of_array(_from_bytes(drawn, dtype.numpy))))


def _to_bytes(array: Any) -> Any:
    """Return an array's bytes, one more dimension: JAX's callbacks make 64 bits 32 where its x64 switch is off."""
    if array.dtype == np.bool_:
        return array.astype(np.uint8)[..., None]
    return lax.bitcast_convert_type(array, np.uint8).reshape(*array.shape, array.dtype.itemsize)


def _from_bytes(array: Any, kind: np.dtype[Any]) -> Any:
    """Return the array whose bytes these are."""
    if kind == np.bool_:
        return array[..., 0] != 0
    return lax.bitcast_convert_type(array[..., 0] if kind.itemsize == 1 else array, kind)


def _bytes_of(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array[..., None].view(np.uint8)


def _viewed(array: np.ndarray[Any, Any], kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    return np.asarray(array, order="C").view(kind)[..., 0]
