"""The gradients of float16 and bfloat16 on CPUs, of rows whose backward torch rounds elsewhere than JAX's is rounded.

torch's backward kernels read results as they were rounded, and its formulas round what each of their operations gives:
the gradient of rsqrt is r(-g / 2) r(y^3), y the rounded result. A derivative in float32 that is rounded once differs
from it in the last bit of a third of the elements, one that JAX derives in half precision in as many. A row that
is not named is right as JAX derives it, or off by a bit; forward nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.arithmetic import is_half
from funcgrad._ops.backends import on_cpu
from funcgrad._ops.dims import dim_of
from funcgrad._ops.half_kernels import KERNELS, Gradients, Rounding
from funcgrad._ops.half_precision import asks_for_dtype, half_precision_of
from funcgrad._ops.own_vjp import with_own_vjp
from funcgrad._ops.special import digamma, special_i1, trigamma
from funcgrad._ops.table import TABLE, Array, Number, Op, Precision

# (rounding, gradient, result, *inputs, *statics) -> gradients of inputs by name. It gets all arguments of the row, and
# arrays in float32. An input without a gradient here has what JAX derives; None: all have.
Formula: TypeAlias = Callable[..., Gradients]


def by_formula(formula: Formula, forward: Precision) -> Precision:
    """Return a rule that computes a row by `forward`, and gradients in half precision by a formula."""

    def rule(row: Op, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[Array, ...]:
        half = half_precision_of(inputs)
        if half is None or not on_cpu() or asks_for_dtype(row, statics):
            return forward(row, inputs, statics)
        places = [i for i, x in enumerate(inputs) if isinstance(x, jax.Array)]

        def plain(*arrays: Array) -> Array:
            return forward(row, _put(arrays, places, inputs), statics)[0]

        def back(saved: tuple[tuple[Array, ...], Array], gradient: Array) -> tuple[Array | None, ...]:
            arrays, result = saved
            arguments = _arguments(row, _put(arrays, places, inputs), statics)
            found = formula(Rounding(half), _wide(gradient), _wide(result), *arguments) or {}
            names = [row.inputs[place].name for place in places]
            if any(is_half(x) and name not in found for name, x in zip(names, arrays, strict=True)):
                derived = jax.vjp(plain, *arrays)[1](gradient)
            else:
                derived = (None,) * len(arrays)
            given = zip(names, arrays, derived, strict=True)
            return tuple([_fitted(found[name], x) if name in found else by_jax for name, x, by_jax in given])

        computed = with_own_vjp()(plain)
        computed.defvjp(lambda *arrays: (result := computed(*arrays), (arrays, result)), back)
        return (computed(*[inputs[i] for i in places]),)

    return rule


def _put(arrays: Sequence[Array], places: Sequence[int], among: Sequence[Any]) -> list[Any]:
    full = list(among)
    for place, array in zip(places, arrays, strict=True):
        full[place] = array
    return full


def _arguments(row: Op, inputs: Sequence[Any], statics: Sequence[Any]) -> list[Any]:
    """Return the inputs, wide, then the statics, with defaults for what is left out."""
    full = [p.default for p in (*row.inputs, *row.statics)]
    full[: len(inputs)] = inputs
    full[len(row.inputs) : len(row.inputs) + len(statics)] = statics
    return [*map(_wide, full[: len(row.inputs)]), *full[len(row.inputs) :]]


def _wide(given: Any) -> Any:
    """Return an array or a number in float32."""
    if type(given) is Number:
        return lax.convert_element_type(given.value, np.float32)
    if isinstance(given, jax.Array):
        return given.astype(np.float32) if is_half(given) else given
    return None if given is None else np.float32(given)


def _fitted(gradient: Array, of: Array) -> Array:
    """Round a gradient, then add up in float32 where `of` was stretched."""
    gradient = jnp.asarray(gradient).astype(of.dtype)
    if gradient.shape == of.shape:
        return gradient
    lead = gradient.ndim - of.ndim
    axes = (*range(lead), *(i + lead for i, size in enumerate(of.shape) if size == 1))
    return gradient.astype(np.float32).sum(axes).reshape(of.shape).astype(of.dtype)


def _in_float32(row: Op) -> Callable[..., dict[str, Array]]:
    """Return the formula of a row whose backward computes in float32 what JAX derives."""

    def formula(r: Rounding, g: Array, y: Array, *given: Any) -> dict[str, Array]:
        inputs, statics = given[: len(row.inputs)], given[len(row.inputs) :]
        places = [i for i, x in enumerate(inputs) if isinstance(x, jax.Array) and x.dtype == np.float32]
        _, pull = jax.vjp(
            lambda *arrays: row.compute(_put(arrays, places, inputs), statics)[0], *[inputs[i] for i in places]
        )
        return {row.inputs[i].name: x for i, x in zip(places, pull(g), strict=True)}

    return formula


def _of_one(formula: Callable[..., Any]) -> Formula:
    """Return the formula of a row of one input: (rounding, gradient, result, input) -> gradient."""
    return lambda r, g, y, input, *statics: {"input": formula(r, g, y, input)}


def _cube(r: Rounding, y: Array) -> Array:
    """y^3 as torch's kernel of powers has it: the square is rounded in bfloat16 alone."""
    return r(y * y * y if r.is_float16 else r(y * y) * y)


def _logit(r: Any, g: Array, x: Array) -> Array:
    return jnp.where((x < 0) | (x > 1), np.nan, g / r(x * r(1 - x)))


def _sinc(r: Rounding, g: Array, y: Array, x: Array) -> Array:
    by_pi = r(x * math.pi)
    square = r(r(x * x) * math.pi)
    slope = r(r(r(by_pi * r(jnp.cos(by_pi))) - r(jnp.sin(by_pi))) / jnp.where(square == 0, 1, square))
    return jnp.where(square == 0, 0, g * slope)


def _softsign(r: Rounding, g: Array, y: Array, x: Array) -> Array:
    """Of x / (1 + |x|), as a quotient of two."""
    divisor = r(jnp.abs(x) + 1)
    return r(g / divisor) + jnp.sign(x) * r(-g * r(y / divisor))


def _logsigmoid(r: Rounding, g: Array, y: Array, x: Array) -> Array:
    power = r(jnp.exp(-jnp.abs(x)))
    share = power / (1 + power)
    return jnp.where(x < 0, 1 - share, share) * g


def _sigmoid(r: Rounding, g: Array, y: Array, x: Array) -> Array:
    return r(g * r(1 - y)) * y if r.is_float16 else g * (1 - y) * y


def _div(r: Rounding, g: Array, y: Array, input: Array, other: Array, rounding_mode: str | None) -> Gradients:
    if rounding_mode is not None:
        return None
    if not input.ndim and other.ndim:  # torch multiplies a number by the inverse
        inverse = r(1 / other)
        return {"input": g * inverse, "other": -r(g * input) * r(inverse * inverse)}
    return {"input": g / other, "other": -g * r(r(input / other) / other)}


def _pow(r: Rounding, g: Array, y: Array, input: Array, exponent: Array) -> Gradients:
    if not input.ndim and exponent.ndim:
        return {"exponent": jnp.where(input == 0, 0, g * r(y * jnp.log(jnp.where(input == 0, 1, input))))}
    return {"input": g * r(0.5 * r(lax.rsqrt(input)))} if _is_known(exponent, 0.5) else None


def _is_known(given: Any, number: float) -> bool:
    return type(given) is np.float32 and given == number


def _prod(r: Rounding, g: Array, y: Array, input: Array, dim: int | None, keepdim: bool, dtype: Any) -> Gradients:
    at_zero = _in_float32(TABLE["prod"])(r, g, y, input, dim, keepdim, dtype)["input"]
    if dim is not None and not keepdim:
        g, y = (jnp.expand_dims(x, dim) for x in (g, y))
    return {"input": jnp.where(input == 0, at_zero, g * r(y / jnp.where(input == 0, 1, input)))}


def _atan2(r: Rounding, g: Array, y: Array, input: Array, other: Array) -> Gradients:
    square = r(r(input * input) + r(other * other))
    inverse = r(1 / jnp.where(square == 0, np.inf, square))  # the origin has no angle
    return {"input": r(g * other) * inverse, "other": r(g * -input) * inverse}


def _logaddexp(power: Callable[[Array], Array]) -> Formula:
    return lambda r, g, y, input, other: {
        "input": g / r(1 + r(power(r(other - input)))),
        "other": g / r(1 + r(power(r(input - other)))),
    }


def _lerp(r: Rounding, g: Array, y: Array, input: Array, end: Array, weight: Array) -> Gradients:
    rest = r(1 - weight) if weight.ndim else 1 - weight
    return {"input": g * rest, "end": g * weight, "weight": g * r(end - input)}


def _prelu(r: Rounding, g: Array, y: Array, input: Array, weight: Array) -> Gradients:
    axis = min(input.ndim - 1, 1)
    factor = weight if weight.size == 1 else weight.reshape(-1, *(1,) * (input.ndim - 1 - axis))
    along = r(jnp.where(input > 0, 0, input * g))
    axes = [i for i in range(input.ndim) if weight.size == 1 or i != axis]
    return {"input": jnp.where(input > 0, g, factor * g), "weight": along.sum(axes).reshape(weight.shape)}


def _glu(r: Rounding, g: Array, y: Array, input: Array, dim: int) -> Gradients:
    axis = dim_of(input.ndim, dim)
    value, gate = jnp.split(input, 2, axis)
    share = r(lax.logistic(gate))
    return {"input": jnp.concatenate([g * share, (1 - share) * share * g * value], axis)}


_LN_2, _LN_10, _ROOT_OF_PI = math.log(2), math.log(10), math.sqrt(math.pi)

FORMULAS: dict[str, Formula] = {
    "exp2": _of_one(lambda r, g, y, x: r(g * y) * _LN_2),
    "expm1": _of_one(lambda r, g, y, x: g * r(y + 1)),
    "log2": _of_one(lambda r, g, y, x: g / r(x * _LN_2)),
    "log10": _of_one(lambda r, g, y, x: g / r(x * _LN_10)),
    "rsqrt": _of_one(lambda r, g, y, x: r(-0.5 * g) * _cube(r, y)),
    "reciprocal": _of_one(lambda r, g, y, x: -g * r(y * y)),
    "atanh": _of_one(lambda r, g, y, x: g / r(1 - r(x * x))),
    "sigmoid": _of_one(_sigmoid),
    "logit": lambda r, g, y, x, eps: {"input": _logit(r, g, x)} if eps is None else None,
    "erf": _of_one(lambda r, g, y, x: r(2 / _ROOT_OF_PI * r(jnp.exp(-r(x * x)))) * g),
    "erfc": _of_one(lambda r, g, y, x: r(-2 / _ROOT_OF_PI * r(jnp.exp(-r(x * x)))) * g),
    "erfinv": _of_one(lambda r, g, y, x: r(_ROOT_OF_PI / 2 * r(jnp.exp(r(y * y)))) * g),
    "lgamma": _of_one(lambda r, g, y, x: g * r(digamma(x))),
    "digamma": _of_one(lambda r, g, y, x: g * r(trigamma(x))),
    "i0": _of_one(lambda r, g, y, x: g * r(special_i1(x))),
    "sinc": _of_one(_sinc),
    "softsign": _of_one(_softsign),
    "tanhshrink": _of_one(lambda r, g, y, x: g + r(-g * (1 - r(jnp.tanh(x)) ** 2))),
    "logsigmoid": _of_one(_logsigmoid),
    "glu": _glu,
    "prelu": _prelu,
    "div": _div,
    "pow": _pow,
    "prod": _prod,
    "atan2": _atan2,
    "hypot": lambda r, g, y, input, other: {"input": r(g * input) / y, "other": r(g * other) / y},
    "logaddexp": _logaddexp(jnp.exp),
    "logaddexp2": _logaddexp(jnp.exp2),
    "lerp": _lerp,
    "addcmul": lambda r, g, y, input, tensor1, tensor2, value: {
        "input": g, "tensor1": g * r(tensor2 * value), "tensor2": g * r(tensor1 * value),
    },
    "addcdiv": lambda r, g, y, input, tensor1, tensor2, value: {
        "input": g, "tensor1": g * r(r(value) / tensor2),
        "tensor2": -g * r(r(value * tensor1) / r(tensor2 * tensor2)),
    },
    "outer": lambda r, g, y, input, vec2: {"input": r(g * vec2).sum(1), "vec2": r(g * input[:, None]).sum(0)},
}  # fmt: skip
IN_FLOAT32 = "remainder smooth_l1_loss index_select"


def fill() -> None:
    """Put the formulas over the rules by which rows compute forward."""
    derived = {name: _in_float32(TABLE[name]) for name in IN_FLOAT32.split()}
    for name, formula in (FORMULAS | KERNELS | derived).items():
        row = TABLE[name]
        row.precision = by_formula(formula, row.precision or Op.compute)
