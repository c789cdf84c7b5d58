"""The functions that return random tensors: rand, randn, randint, randperm, normal, bernoulli, multinomial, ..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import scalar_type_name
from funcgrad._base.dtypes import dtype as DType
from funcgrad._ops.conditions import (
    are_chances,
    are_not_negative,
    are_weights,
    have_finite_weights,
    have_no_negative_weight,
    have_positive_sums,
)
from funcgrad._ops.table import Op
from funcgrad._tape.modes import no_grad
from funcgrad._tensor.arguments import as_bool, as_dtype, as_some_int, as_spread_dims
from funcgrad._tensor.call import call, write_out
from funcgrad._tensor.creation import empty_like
from funcgrad._tensor.forms import refused_forms
from funcgrad._tensor.overriding import all_ask
from funcgrad._tensor.refused_numbers import number_in, require
from funcgrad._tensor.tensor import Tensor
from funcgrad.random import draw, implicit, sampling
from funcgrad.random.draw import Sampler, draw_each, has_history, require_floating, with_zero_gradient
from funcgrad.random.generator import Generator
from funcgrad.random.methods import require_probability, require_range, require_std


def rand(
    *size: Any, generator: Generator | None = None, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False, **named: Any,
) -> Tensor:  # fmt: skip
    """Return numbers from [0, 1). Shape: result (*size)."""
    shape, kind = _shape("rand", size, named), _dtype(dtype, out)
    require_floating(kind, "check_uniform_bounds", complex_too=True)
    return _made(draw.UNIFORM, generator, shape, kind, (0.0, 1.0), device, out, requires_grad)


def randn(
    *size: Any, generator: Generator | None = None, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False, **named: Any,
) -> Tensor:  # fmt: skip
    """Return numbers from N(0, 1). Shape: result (*size)."""
    shape, kind = _shape("randn", size, named), _dtype(dtype, out)
    require_floating(kind, "normal_kernel_cpu", complex_too=True)
    return _made(draw.NORMAL, generator, shape, kind, (0.0, 1.0), device, out, requires_grad)


def randint(
    *bounds: Any, generator: Generator | None = None, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False, **named: Any,
) -> Tensor:  # fmt: skip
    """Return integers from [low, high): randint(high, size) or randint(low, high, size). Shape: result (*size)."""
    low, high, size = _low_high_size(bounds, named)
    shape = _shape("randint", (size,), {}, position=2 if "low" not in named and len(bounds) < 3 else 3)
    kind = _dtype(dtype, out, dtypes.int64)
    require_range(kind, low, high)
    return _made(draw.INTEGERS, generator, shape, kind, (low, high), device, out, requires_grad)


def randperm(
    n: int, *, generator: Generator | None = None, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Return 0 ... n - 1 shuffled. Shape: result (n,). RuntimeError: n < 0, or the dtype cannot count so far."""
    if isinstance(n, float):
        raise TypeError("randperm(): argument 'n' (position 1) must be int, not float")
    (count,) = _shape("randperm", (n,), {})
    kind = _dtype(dtype, out, dtypes.int64)
    if kind in (dtypes.bool_, dtypes.complex64, dtypes.complex128):
        raise NotImplementedError(f"\"randperm\" not implemented for '{scalar_type_name(kind)}'")
    if count - 1 > sampling.largest_integer(kind.numpy):
        largest = sampling.largest_integer(kind.numpy) + 1
        raise RuntimeError(f"n cannot be greater than {largest} for {scalar_type_name(kind)} type.")
    return _made(draw.PERMUTATION, generator, (count,), kind, (), device, out, requires_grad)


def _like(sampler: Sampler, kernel: str) -> Callable[..., Tensor]:
    def like(
        input: Tensor, *, generator: Generator | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
        requires_grad: bool = False, pin_memory: bool = False, memory_format: Any = None,
    ) -> Tensor:  # fmt: skip
        kind = as_dtype(dtype) or input.dtype
        require_floating(kind, kernel, complex_too=True)
        where = input.device if device is None else device
        return _made_like(sampler, generator, input, kind, (0.0, 1.0), where, requires_grad, memory_format)

    return like


rand_like, randn_like = _like(draw.UNIFORM, "check_uniform_bounds"), _like(draw.NORMAL, "normal_kernel_cpu")
rand_like.__name__, randn_like.__name__ = "rand_like", "randn_like"
rand_like.__doc__ = "Return numbers from [0, 1) with the shape, dtype and device of `input`."
randn_like.__doc__ = "Return numbers from N(0, 1) with the shape, dtype and device of `input`."


def randint_like(
    input: Tensor, *bounds: Any, generator: Generator | None = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False, memory_format: Any = None, **named: Any,
) -> Tensor:  # fmt: skip
    """Return integers from [low, high) like `input` in shape, dtype and device: (input, high) or (input, low, high)."""
    named.setdefault("size", input.shape)
    low, high, _ = _low_high_size(bounds, named)
    kind = as_dtype(dtype) or input.dtype
    require_range(kind, low, high)
    where = input.device if device is None else device
    return _made_like(draw.INTEGERS, generator, input, kind, (low, high), where, requires_grad, memory_format)


def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None, out: Tensor | None = None,
    dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Return numbers from N(mean, std^2): numbers and a size, or tensors whose shapes broadcast. RuntimeError: std < 0.

    With a size a tensor without dimensions that wants no gradient stands for its number; TypeError for other tensors.

    As in torch no gradient reaches mean and std (it is zero); mean + std * randn_like(std) has one.
    """
    if size is None and (isinstance(mean, Tensor) or isinstance(std, Tensor)):
        drawn = _normal_around(mean, std, generator)
        return drawn if out is None else write_out(out, drawn)
    given = [("", x) for x in (mean, std, size) if x is not None]
    mean, std = number_in(mean), number_in(std)
    if not isinstance(size, (tuple, list)) or isinstance(mean, Tensor) or isinstance(std, Tensor):
        raise refused_forms("normal", given)
    require_std(std)
    shape, kind = _shape("normal", (size,), {}), _dtype(dtype, out)
    require_floating(kind, "normal_kernel_cpu", complex_too=True)
    return _made(draw.NORMAL, generator, shape, kind, (float(mean), float(std)), device, out, requires_grad)


def _normal_around(mean: Any, std: Any, generator: Generator | None) -> Tensor:
    first: Tensor = mean if isinstance(mean, Tensor) else std
    require_floating(first.dtype, "normal_kernel_cpu", complex_too=True)
    with no_grad():
        if not isinstance(std, Tensor):
            require_std(std)
            parameters, name = [mean], "NormalBackward1"
            noise = draw.draw(draw.NORMAL, generator, mean.shape, mean.dtype, (0.0, float(std)), mean.device)
        else:
            require(are_not_negative, std, None, "normal expects all elements of std >= 0.0")
            is_pair = isinstance(mean, Tensor)
            parameters, name = ([mean, std], "NormalBackward3") if is_pair else ([std], "NormalBackward2")
            shape = mean.add(std).shape if is_pair else std.shape
            noise = draw.draw(draw.NORMAL, generator, shape, first.dtype, (0.0, 1.0), first.device).mul_(std)
        drawn = noise.add_(mean)
    return with_zero_gradient(parameters, drawn, name)


def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor:
    """Return ones and zeros; `input` gives the probability of each one, or only the shape where p is given.

    RuntimeError: a probability outside [0, 1].
    """
    if p is not None:
        require_probability(p)
        drawn = draw.draw(draw.BERNOULLI, generator, input.shape, input.dtype, (float(p),), input.device)
    else:
        require_floating(input.dtype, "bernoulli_tensor_cpu_p_")
        require(are_chances, input)
        drawn = draw.bernoulli_each(input, input.shape, input.dtype, generator)
        drawn = with_zero_gradient([input], drawn, "BernoulliBackward0")
    return drawn if out is None else write_out(out, drawn)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return places drawn with the weights in `input`.

    Shape: input (rows, places) or (places,), result (rows, num_samples) or (num_samples,).
    RuntimeError: more places than there are without replacement, or weights that are negative or sum to nothing.
    """
    num_samples = as_some_int(num_samples, "multinomial(): argument 'num_samples' (position 2)")
    replacement = as_bool(replacement, "multinomial(): argument 'replacement' (position 3)")
    if out is not None and out.dtype is not dtypes.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {scalar_type_name(out.dtype)}")
    _check_multinomial(input, num_samples, replacement)
    drawn = drawn_places(input, num_samples, replacement, generator)
    return drawn if out is None else write_out(out, drawn)


def drawn_places(weights: Tensor, count: int, replacement: bool = True, generator: Generator | None = None) -> Tensor:
    """Return `count` places of each row, drawn with weights that are known to be good. Shape: as `multinomial`."""
    with no_grad():
        if weights.ndim == 2 or count == 1:
            return draw.multinomial(weights, count, replacement, generator)
        return draw.multinomial(weights.unsqueeze(0), count, replacement, generator).squeeze(0)


def _check_multinomial(input: Tensor, num_samples: int, replacement: bool) -> None:
    if input.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not input.dtype.is_floating_point:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {scalar_type_name(input.dtype)}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > input.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if input.shape[-1] > 2**24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if replacement and num_samples > 1:
        require(have_no_negative_weight, input)
        require(have_finite_weights, input)
    else:
        require(are_weights, input)
    if input.shape[-1]:
        require(have_positive_sums, input)


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Return numbers from Poisson(rate) for the rates in `input`. Shape: result as input. RuntimeError: rate < 0."""
    require_floating(input.dtype, "poisson_cpu")
    require(are_not_negative, input, None, "invalid Poisson rate, expected rate to be non-negative")
    return draw_each(draw.POISSON, generator, [input], "PoissonBackward0")


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Return the number of successes in `count` trials of probability `prob`. Shape: both broadcast to the result."""
    for name, given in (("count", count), ("prob", prob)):
        if not given.dtype.is_floating_point:
            raise ValueError(
                f"binomial only supports floating-point dtypes for {name}, got: {scalar_type_name(given.dtype)}"
            )
    with no_grad():
        shape = count.add(prob).shape
        count, prob = count.expand(shape), prob.expand(shape)
        return draw_each(draw.BINOMIAL, generator, [count, prob], None)


def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Return numbers from Gamma(shape, 1) for the shapes in `input`; the gradient to them is implicit."""
    require_floating(input.dtype, "gamma_cpu")
    return _drawn_along(implicit.GAMMA_DRAWN, input, draw_each(draw.STANDARD_GAMMA, generator, [input.detach()], None))


def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Return numbers from Dirichlet(input) along the last dimension; the gradient to `input` is implicit."""
    require_floating(input.dtype, "dirichlet")
    return _drawn_along(implicit.DIRICHLET_DRAWN, input, draw_each(draw.DIRICHLET, generator, [input.detach()], None))


def _drawn_along(path: Op, parameter: Tensor, drawn: Tensor) -> Tensor:
    return call(path, (parameter, drawn)) if has_history(parameter) else drawn


def _made(
    sampler: Sampler, generator: Generator | None, shape: tuple[int, ...], dtype: DType, numbers: tuple[Any, ...],
    device: Any, out: Tensor | None, requires_grad: bool,
) -> Tensor:  # fmt: skip
    if requires_grad and not dtype.is_differentiable:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    where = draw.named_device(out) if device is None and out is not None else device
    made = draw.draw(sampler, generator, shape, dtype, numbers, where)
    if out is not None:
        return write_out(out, made)
    return made.requires_grad_() if requires_grad else made


def _made_like(
    sampler: Sampler, generator: Generator | None, input: Tensor, dtype: DType, numbers: tuple[Any, ...], device: Any,
    requires_grad: bool, memory_format: Any,
) -> Tensor:  # fmt: skip
    if requires_grad and not dtype.is_differentiable:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    like = input if memory_format is None else empty_like(input, memory_format=memory_format)
    made = draw.draw_like(sampler, generator, like, dtype, numbers, device)
    return made.requires_grad_() if requires_grad else made


def _dtype(given: Any, out: Tensor | None, default: DType | None = None) -> DType:
    wanted = as_dtype(given)
    if out is None:
        return wanted or default or dtypes.get_default_dtype()
    if wanted not in (None, out.dtype):
        raise RuntimeError(
            f"dtype {scalar_type_name(wanted)} does not match dtype of out parameter ({scalar_type_name(out.dtype)})"
        )
    return out.dtype


def _shape(name: str, given: tuple[Any, ...], named: dict[str, Any], position: int = 1) -> tuple[int, ...]:
    """Return a size given as ints one by one, as one sequence, or by name."""
    if "size" in named:
        given = (named.pop("size"),)
    if named:
        raise TypeError(f"{name}() received an invalid combination of arguments: unknown {', '.join(named)}")
    if not given:
        raise TypeError(f"{name}() received an invalid combination of arguments - got (), but expected a size")
    shape = as_spread_dims(given, f"{name}(): argument 'size' (position {position})")
    for size in shape:
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {list(shape)}")
    return shape


def _low_high_size(bounds: tuple[Any, ...], named: dict[str, Any]) -> tuple[int, int, Any]:
    """Sort (high, size), (low, high, size) and the same by name."""
    given = list(bounds)
    size = named.pop("size") if "size" in named else given.pop() if given else None
    unnamed = [name for name in ("low", "high") if name not in named]
    values = {**dict(zip(reversed(unnamed), reversed(given), strict=False)), **named}
    high = values.get("high")
    if size is None or high is None or set(values) - {"low", "high"} or len(given) > len(unnamed):
        raise TypeError("randint() received an invalid combination of arguments: (low, high, size) or (high, size)")
    position = "" if "low" in values or "high" in named else " (position 1)"
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"randint(): argument 'size' (position 2) must be tuple of ints, not {type(size).__name__}")
    low, high = (
        as_some_int(values.get(name, 0), f"randint(): argument '{name}'{position}") for name in ("low", "high")
    )
    for name, bound in (("low", low), ("high", high)):
        if not -(2**63) <= bound < 2**63:
            raise ValueError(f"Overflow when unpacking long long: {name} is {bound}")
    return low, high, size


all_ask(
    globals(),
    ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal", "bernoulli",
     "multinomial", "poisson", "binomial"),
)  # fmt: skip
