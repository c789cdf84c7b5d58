"""One way to draw from all distributions: the host's stream, or a recorded op that takes the generator's key."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base.dtypes import dtype as DType
from funcgrad._ops.table import Array, Arrays, Mask, Op
from funcgrad._program.value import CONSTANT, LiftedValue, TracedValue, of_array
from funcgrad._tape import levels
from funcgrad._tape.modes import thread
from funcgrad._tape.variable import Variable
from funcgrad._tensor.call import call, scalar_type_name
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.names import assign_host, rebind, record
from funcgrad._tensor.tensor import Tensor
from funcgrad.random import counting, keyed, sampling
from funcgrad.random.generator import Generator, default_generator, generator_of
from funcgrad.random.mersenne import STATE_BYTES, MersenneTwister


class Traced:
    """The host's stream as an array that goes along with a traced step: `state` are the bytes of `get_state`.

    state None: the step is only looked at, and all that counts is whether it draws.
    """

    present: ClassVar[Traced | None] = None

    def __init__(self, state: Any) -> None:
        self.state, self.used = state, False

    def draw(
        self, sampler: Sampler, generator: Generator, shape: Sequence[int], dtype: DType, numbers: tuple[Any, ...]
    ) -> Tensor:
        """Return what the host will draw each time the step is run: the same numbers as without the trace."""
        if generator is not default_generator:
            raise RuntimeError("a step that is exported draws from the default generator only, not from its own")
        self.used = True
        if self.state is None:
            return from_host(np.zeros(tuple(shape), dtype.numpy))

        def on_host(state: Any) -> tuple[Any, Any]:
            stream = MersenneTwister()
            stream.set_state_bytes(np.asarray(state).tobytes())
            drawn = sampler.host(stream, math.prod(shape), dtype.numpy, *numbers).reshape(tuple(shape))
            return drawn, np.frombuffer(stream.state_bytes(), np.uint8)

        shapes = jax.ShapeDtypeStruct(tuple(shape), dtype.numpy), jax.ShapeDtypeStruct((STATE_BYTES,), np.uint8)
        drawn, self.state = jax.pure_callback(on_host, shapes, self.state, vmap_method="sequential")
        return Tensor._of(Variable(of_array(drawn)))


class Sampler(NamedTuple):
    """One distribution twice.

    host: (stream, count, numpy dtype, *numbers) -> flat array. op: (key, *numbers, shape, dtype) -> (array, next key).
    """

    host: Callable[..., Any]
    op: Op


UNIFORM = Sampler(sampling.uniform, Op(keyed.uniform))
NORMAL = Sampler(sampling.normals, Op(keyed.normal))
LOG_NORMAL = Sampler(sampling.log_normal, Op(keyed.log_normal))
INTEGERS = Sampler(sampling.integers, Op(keyed.integers))
INTEGERS_OF_DTYPE = Sampler(sampling.integers_of_dtype, Op(keyed.integers_of_dtype))
PERMUTATION = Sampler(sampling.permutation, Op(keyed.permutation))
BERNOULLI = Sampler(sampling.bernoulli, Op(keyed.bernoulli))
EXPONENTIAL = Sampler(sampling.exponential, Op(keyed.exponential))
CAUCHY = Sampler(sampling.cauchy, Op(keyed.cauchy))
GEOMETRIC = Sampler(sampling.geometric, Op(keyed.geometric))
# these read tensors: host takes (stream, *arrays, numpy dtype), op takes (key, *tensors, shape, dtype)
POISSON = Sampler(counting.poisson, Op(keyed.poisson))
BINOMIAL = Sampler(counting.binomial, Op(keyed.binomial))
STANDARD_GAMMA = Sampler(counting.standard_gamma, Op(keyed.standard_gamma))
DIRICHLET = Sampler(counting.dirichlet, Op(keyed.dirichlet))


def draw(
    sampler: Sampler, generator: Generator | None, shape: Sequence[int], dtype: DType, numbers: tuple[Any, ...],
    device: Any,
) -> Tensor:  # fmt: skip
    """Return a new tensor drawn with these parameters."""
    generator = generator or generator_of(device)
    if levels.thread.batches:
        return _draw_in_batches(sampler, generator, shape, dtype, numbers, device)
    if Traced.present is not None and generator.stream is not None:
        return Traced.present.draw(sampler, generator, shape, dtype, numbers)
    if generator.stream is None:
        return by_key(sampler.op, generator, numbers, (tuple(shape), dtype))
    return from_host(draw_array(sampler, generator, shape, dtype, numbers), device=device)


def _draw_in_batches(
    sampler: Sampler, generator: Generator, shape: Sequence[int], dtype: DType, numbers: tuple[Any, ...], device: Any
) -> Tensor:
    """Draw for all entries of the batches that vmap is running over, once for each or once for all, as it was told."""
    batches, running = levels.random_sizes(), levels.thread.batches
    levels.thread.batches = []
    try:
        whole = draw(sampler, generator, (*[level.size for level in batches], *shape), dtype, numbers, device)
    finally:
        levels.thread.batches = running
    variable = whole._current()
    for level in batches:
        variable = level.lift(variable)
    return Tensor._of(variable)


def draw_array(
    sampler: Sampler, generator: Generator, shape: Sequence[int], dtype: DType, numbers: tuple[Any, ...]
) -> np.ndarray[Any, Any]:
    """Return a new numpy array drawn with these parameters; a generator with a key is waited for."""
    if generator.stream is None:
        return to_host(by_key(sampler.op, generator, numbers, (tuple(shape), dtype)))
    with generator.stream.lock:
        return sampler.host(generator.stream, math.prod(shape), dtype.numpy, *numbers).reshape(shape)


def draw_into(
    tensor: Tensor, sampler: Sampler, generator: Generator | None, numbers: tuple[Any, ...], grad: str
) -> Tensor:
    """Overwrite a tensor with a sample; its history, where it has one, goes on with gradient zero."""
    tensor._check_writable()
    chosen = generator or generator_of(tensor.device)
    if chosen.stream is None or levels.thread.batches or Traced.present is not None or has_history(tensor):
        return overwrite(tensor, draw(sampler, chosen, tensor.shape, tensor.dtype, numbers, tensor.device), grad)
    return assign_host(tensor, draw_array(sampler, chosen, tensor.shape, tensor.dtype, numbers))


def draw_each(sampler: Sampler, generator: Generator | None, parameters: Sequence[Tensor], grad: str | None) -> Tensor:
    """Return a sample for each element of tensors of one shape; on the host this waits for their numbers."""
    first = parameters[0]
    generator = generator or generator_of(first.device)
    if levels.thread.batches:
        levels.random_sizes()
    if generator.stream is None:
        drawn = by_key(sampler.op, generator, tuple(parameters), (tuple(first.shape), first.dtype))
    else:
        numbers = [to_host(p) for p in parameters]
        flat = numbers if sampler is DIRICHLET else [array.reshape(-1) for array in numbers]
        with generator.stream.lock:
            made = sampler.host(generator.stream, *flat, first.dtype.numpy)
        drawn = from_host(made.reshape(first.shape), device=first.device)
    return drawn if grad is None else with_zero_gradient(parameters, drawn, grad)


def bernoulli_each(p: Tensor, shape: Sequence[int], dtype: DType, generator: Generator | None) -> Tensor:
    """Draw ones with each element's own probability; nothing waits for p: the host draws what it is compared with."""
    generator = generator or generator_of(p.device)
    if levels.thread.batches and generator.stream is not None:
        uniform_each = draw(UNIFORM, generator, shape, p.dtype, (0.0, 1.0), p.device)
        return Tensor._leaf(record(_LESS, (uniform_each, p), (dtype,))[0])
    if generator.stream is None:
        return by_key(_BERNOULLI_EACH, generator, (p,), (tuple(shape), dtype))
    with generator.stream.lock:
        uniform = sampling.uniforms_against(generator.stream, math.prod(shape), p.dtype.numpy)
    compared = record(_LESS, (from_host(uniform.reshape(shape), device=p.device), p), (dtype,))
    return Tensor._leaf(compared[0])


def multinomial(weights: Tensor, count: int, replacement: bool, generator: Generator | None) -> Tensor:
    """Draw `count` places from each row. With replacement the host reads the weights, else nothing waits for them."""
    generator = generator or generator_of(weights.device)
    if generator.stream is None:
        return by_key(_MULTINOMIAL, generator, (weights,), (count, replacement and count > 1))
    with generator.stream.lock:
        if replacement and count > 1:
            drawn = counting.places_with_replacement(generator.stream, to_host(weights), count)
            return from_host(drawn, device=weights.device)
        noise = sampling.exponential(generator.stream, weights.shape.numel(), weights.dtype.numpy)
    raced = record(_LARGEST, (weights, from_host(noise.reshape(weights.shape), device=weights.device)), (count,))
    return Tensor._leaf(raced[0])


def _less(uniform: Array, p: Array, dtype: DType) -> Array:
    return (uniform < p.astype(uniform.dtype)).astype(dtype.numpy)


def _largest(weights: Array, noise: Array, count: int) -> Array:
    """Return the places of the largest weight / noise: exponentials race, in the order of drawing one by one."""
    scores = weights / noise
    if count == 1:
        return jnp.argmax(scores, axis=-1, keepdims=True).astype(np.int64)
    return lax.top_k(scores, count)[1].astype(np.int64)


_LESS, _LARGEST = Op(_less), Op(_largest)
_BERNOULLI_EACH, _MULTINOMIAL = Op(keyed.bernoulli_each), Op(keyed.multinomial)


def by_key(op: Op, generator: Generator, inputs: tuple[Any, ...], statics: tuple[Any, ...]) -> Tensor:
    """Record an op that takes the generator's key, and give the generator the next one."""
    key = generator.key
    assert key is not None
    drawn, following = record(op, (key, *inputs), statics)
    rebind([key], [following])
    return Tensor._leaf(drawn)


def overwrite(tensor: Tensor, drawn: Tensor, grad: str) -> Tensor:
    """Bind a tensor to a sample; a gradient that reaches it ends there as zeros."""
    new = with_zero_gradient([tensor], drawn, grad) if has_history(tensor) else drawn
    return tensor._write(new._current())


def has_history(tensor: Tensor) -> bool:
    """Tell whether a write to this tensor would have to be part of a graph."""
    return thread.grad and tensor.requires_grad


def with_zero_gradient(parameters: Sequence[Tensor], drawn: Tensor, grad: str) -> Tensor:
    """Return a sample as torch does: in the graph of what it was drawn from, with gradients that are all zero."""
    if not any(has_history(p) for p in parameters):
        return drawn
    return call(_without_gradient(grad), (*parameters, drawn))


@functools.cache
def _without_gradient(grad: str) -> Op:
    def drawn_from(parameters: Arrays, drawn: Mask) -> Array:
        return drawn

    return Op(drawn_from, grad=grad)


def here(tensor: Tensor) -> Any:
    """Return a tensor's numbers for a check, or None where reading them would mean to wait."""
    value = tensor._current().value
    is_promised = value.is_pending and value.program is not CONSTANT
    return None if is_promised or isinstance(value, (LiftedValue, TracedValue)) else to_host(tensor)


def require_floating(dtype: DType, kernel: str, complex_too: bool = False) -> None:
    """Raise NotImplementedError, as torch does, where a distribution of floats is asked for in another dtype."""
    if not (dtype.is_floating_point and dtype.itemsize > 1) and not (complex_too and dtype.is_complex):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type_name(dtype)}'")
