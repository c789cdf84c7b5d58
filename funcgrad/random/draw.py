"""One way to draw from all distributions: the host's stream, or a recorded op that takes the generator's key."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax import lax

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import scalar_type_name
from funcgrad._base.dtypes import dtype as DType
from funcgrad._ops.extremes import place_of_largest
from funcgrad._ops.table import Array, Arrays, Mask, Op
from funcgrad._tape import levels
from funcgrad._tape.modes import thread
from funcgrad._tensor.aliases import refuse_repeated
from funcgrad._tensor.call import call
from funcgrad._tensor.functions import permute, stack
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.names import assign_host, rebind, record
from funcgrad._tensor.strides import is_contiguous, storage_order
from funcgrad._tensor.tensor import Tensor
from funcgrad.random import counting, keyed, sampling
from funcgrad.random.generator import Generator, chosen
from funcgrad.random.mersenne import MersenneTwister
from funcgrad.random.traced import Sample, Traced


def from_stream(
    sample: Sample, generator: Generator, inputs: Sequence[Tensor], shape: Sequence[int], dtype: DType, device: Any
) -> Tensor:
    """Return what the host draws, `sample(stream, *arrays of the inputs)`; it waits for the inputs' numbers."""
    if Traced.present is not None:
        return Traced.present.draw(sample, generator, inputs, shape, dtype)
    arrays = [to_host(tensor) for tensor in inputs]
    assert generator.stream is not None
    with generator.stream.lock:
        drawn = sample(generator.stream, *arrays)
    return from_host(drawn.reshape(tuple(shape)), device=device)


class Sampler(NamedTuple):
    """One distribution twice.

    host: (stream, count, numpy dtype, *numbers) -> flat array. op: (key, *numbers, shape, dtype) -> (array, next key).
    """

    host: Callable[..., Any]
    op: Op


UNIFORM = Sampler(sampling.uniform, Op(keyed.uniform))
NORMAL = Sampler(sampling.normals, Op(keyed.normal))
_SINGLE_NORMALS = Sampler(sampling.single_normals, NORMAL.op)
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
    generator = chosen(generator, device)
    if levels.thread.batches:
        return _draw_in_batches(sampler, generator, shape, dtype, numbers, device)
    if Traced.present is not None and generator.stream is not None:

        def sample(stream: MersenneTwister) -> Any:
            return sampler.host(stream, math.prod(shape), dtype.numpy, *numbers)

        return Traced.present.draw(sample, generator, (), shape, dtype)
    if generator.stream is None:
        return by_key(sampler.op, generator, numbers, (tuple(shape), dtype))
    return from_host(draw_array(sampler, generator, shape, dtype, numbers), device=device)


def draw_like(
    sampler: Sampler, generator: Generator | None, tensor: Tensor, dtype: DType, numbers: tuple[Any, ...], device: Any
) -> Tensor:
    """Return a sample for each element of a tensor, drawn in the order in which the elements lie in storage."""
    order = storage_order(tensor)
    if order is None or is_contiguous(tensor):
        return draw(sampler, generator, tensor.shape, dtype, numbers, device)
    sampler = _SINGLE_NORMALS if sampler is NORMAL else sampler
    drawn = draw(sampler, generator, [tensor.shape[d] for d in order], dtype, numbers, device)
    return permute(drawn, _inverse(order))


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(order.index(d) for d in range(len(order)))


def _draw_in_batches(
    sampler: Sampler, generator: Generator, shape: Sequence[int], dtype: DType, numbers: tuple[Any, ...], device: Any
) -> Tensor:
    """Draw for all entries of the batches that vmap is running over, once for each or once for all, as it was told."""
    batches, running = levels.random_sizes(), levels.thread.batches
    levels.thread.batches = []
    sizes = [level.size for level in batches]
    try:
        if sampler is PERMUTATION and sizes:  # one after the other, those of the outermost batch first
            each = [draw(sampler, generator, shape, dtype, numbers, device) for _ in range(math.prod(sizes))]
            whole = permute(stack(each).reshape(*sizes[::-1], *shape), (*range(len(sizes))[::-1], -1))
        else:
            whole = draw(sampler, generator, (*sizes, *shape), dtype, numbers, device)
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


def named_device(tensor: Tensor) -> Any:
    """Return where a tensor is, None where it only went to JAX's default device."""
    return None if tensor._current().value.aval.placement is None else tensor.device


def draw_into(
    tensor: Tensor, sampler: Sampler, generator: Generator | None, numbers: tuple[Any, ...], grad: str
) -> Tensor:
    """Overwrite a tensor with a sample; its history, where it has one, goes on with gradient zero."""
    tensor._check_writable()
    refuse_repeated(tensor)
    generator = chosen(generator, named_device(tensor))
    if generator.stream is None or levels.thread.batches or Traced.present is not None or has_history(tensor):
        return overwrite(tensor, draw_like(sampler, generator, tensor, tensor.dtype, numbers, tensor.device), grad)
    if is_contiguous(tensor):
        return assign_host(tensor, draw_array(sampler, generator, tensor.shape, tensor.dtype, numbers))
    order = storage_order(tensor) or tuple(range(tensor.ndim))
    sampler = _SINGLE_NORMALS if sampler is NORMAL else sampler
    drawn = draw_array(sampler, generator, [tensor.shape[d] for d in order], tensor.dtype, numbers)
    return assign_host(tensor, drawn.transpose(_inverse(order)))


def draw_each(sampler: Sampler, generator: Generator | None, parameters: Sequence[Tensor], grad: str | None) -> Tensor:
    """Return a sample for each element of tensors of one shape; on the host this waits for their numbers."""
    first = parameters[0]
    generator = chosen(generator, first.device)
    if levels.thread.batches:
        levels.random_sizes()
    if generator.stream is None:
        drawn = by_key(sampler.op, generator, tuple(parameters), (tuple(first.shape), first.dtype))
    else:

        def sample(stream: MersenneTwister, *numbers: Any) -> Any:
            flat = numbers if sampler is DIRICHLET else [array.reshape(-1) for array in numbers]
            return sampler.host(stream, *flat, first.dtype.numpy)

        drawn = from_stream(sample, generator, parameters, first.shape, first.dtype, first.device)
    return drawn if grad is None else with_zero_gradient(parameters, drawn, grad)


def bernoulli_each(p: Tensor, shape: Sequence[int], dtype: DType, generator: Generator | None) -> Tensor:
    """Draw ones with each element's own probability; nothing waits for p: the host draws what it is compared with."""
    generator = chosen(generator, p.device)
    if levels.thread.batches and generator.stream is not None:
        uniform_each = draw(UNIFORM, generator, shape, p.dtype, (0.0, 1.0), p.device)
        return call(_LESS, (uniform_each, p), (dtype,))
    if generator.stream is None:
        return by_key(_BERNOULLI_EACH, generator, (p,), (tuple(shape), dtype))

    def sample(stream: MersenneTwister) -> Any:
        return sampling.uniforms_against(stream, math.prod(shape), p.dtype.numpy)

    uniform = from_stream(sample, generator, (), shape, p.dtype, p.device)
    return call(_LESS, (uniform, p), (dtype,))


def bernoulli_like(tensor: Tensor, p: Tensor, generator: Generator | None) -> Tensor:
    """Draw ones with each element's own probability, in the order in which the elements of `tensor` lie in storage."""
    order = storage_order(tensor)
    if order is None or is_contiguous(tensor):
        return bernoulli_each(p, tensor.shape, tensor.dtype, generator)
    drawn = bernoulli_each(permute(p, order), [tensor.shape[d] for d in order], tensor.dtype, generator)
    return permute(drawn, _inverse(order))


def multinomial(weights: Tensor, count: int, replacement: bool, generator: Generator | None) -> Tensor:
    """Draw `count` places from each row. With replacement the host reads the weights, else nothing waits for them."""
    generator = chosen(generator, weights.device)
    if generator.stream is None:
        return by_key(_MULTINOMIAL, generator, (weights,), (count, replacement and count > 1))
    if replacement and count > 1:

        def places(stream: MersenneTwister, array: Any) -> Any:
            return counting.places_with_replacement(stream, array, count)

        shape = (*weights.shape[:-1], count)
        return from_stream(places, generator, (weights,), shape, dtypes.int64, weights.device)

    noise = draw_like(EXPONENTIAL, generator, weights, weights.dtype, (1.0,), weights.device)
    return call(_LARGEST, (weights, noise), (count,))


def _less(uniform: Array, p: Array, dtype: DType) -> Array:
    return (uniform < p.astype(uniform.dtype)).astype(dtype.numpy)


def _largest(weights: Array, noise: Array, count: int) -> Array:
    """Return the places of the largest weight / noise: exponentials race, in the order of drawing one by one."""
    scores = weights / noise
    if count == 1:
        return place_of_largest(scores, -1).astype(np.int64)
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


def require_floating(dtype: DType, kernel: str, complex_too: bool = False) -> None:
    """Raise NotImplementedError, as torch does, where a distribution of floats is asked for in another dtype."""
    if not (dtype.is_floating_point and dtype.itemsize > 1) and not (complex_too and dtype.is_complex):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type_name(dtype)}'")
