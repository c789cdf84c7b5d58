"""What numpy does for primitives that compute each element by itself, or sum up.

What moves elements about is in `moving.py`, what reads or writes at computed places in `places.py`.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np
from jax import lax

from funcgrad._program.host.products import product
from funcgrad._program.host.table import RULES, Array, Function, NotForHost, rule

NUMBERS = 512  # that a function of Python takes one by one
_UFUNCS = {
    "abs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "add": np.add, "add_any": np.add, "and": np.bitwise_and,
    "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atan2": np.arctan2, "atanh": np.arctanh,
    "cbrt": np.cbrt, "ceil": np.ceil, "cos": np.cos, "cosh": np.cosh, "eq": np.equal, "exp": np.exp, "exp2": np.exp2,
    "expm1": np.expm1, "floor": np.floor, "ge": np.greater_equal, "gt": np.greater, "is_finite": np.isfinite,
    "le": np.less_equal, "log": np.log, "log1p": np.log1p, "log2": np.log2, "lt": np.less, "max": np.maximum,
    "min": np.minimum, "mul": np.multiply, "ne": np.not_equal, "neg": np.negative, "nextafter": np.nextafter,
    "not": np.invert, "or": np.bitwise_or, "shift_left": np.left_shift, "sin": np.sin, "sinh": np.sinh,
    "sqrt": np.sqrt, "square": np.square, "sub": np.subtract, "tan": np.tan, "tanh": np.tanh, "xor": np.bitwise_xor,
}  # fmt: skip
SPREADING = frozenset((*_UFUNCS, "div", "select_n"))  # numpy spreads smaller operands of these itself
# What these do to arrays does not depend on how many elements they have.
OF_ANY_SIZE = frozenset((
    *_UFUNCS, "argmax", "argmin", "clamp", "convert_element_type", "copy", "device_put", "div", "integer_pow", "le_to",
    "logistic", "lt_to", "pow", "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_prod", "reduce_sum",
    "rem", "round", "rsqrt", "select_n", "sign", "stop_gradient",
))  # fmt: skip
_REDUCTIONS = {
    "reduce_sum": np.add, "reduce_prod": np.multiply, "reduce_max": np.maximum, "reduce_min": np.minimum,
    "reduce_and": np.bitwise_and, "reduce_or": np.bitwise_or, "reduce_xor": np.bitwise_xor,
}  # fmt: skip
_RUNNING = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum}


def _enter() -> None:
    for name, ufunc in _UFUNCS.items():
        RULES[name] = lambda equation, ufunc=ufunc: ufunc
    for name, ufunc in _REDUCTIONS.items():
        RULES[name] = lambda equation, ufunc=ufunc: _reduction(ufunc, equation)
    for name, ufunc in _RUNNING.items():
        RULES[name] = lambda equation, ufunc=ufunc: _running(ufunc, equation)


@rule("lt_to", "le_to")
def before(equation: Any) -> Function:
    """Compare in an order in which NaN comes last."""
    compare = np.less if equation.primitive.name == "lt_to" else np.less_equal
    if equation.invars[0].aval.dtype.kind != "f":
        return compare
    if compare is np.less:
        return lambda x, y: np.less(x, y) | (np.isnan(y) & ~np.isnan(x))
    return lambda x, y: np.less_equal(x, y) | np.isnan(y)


def _reduction(ufunc: np.ufunc, equation: Any) -> Function:
    axes, dtype = tuple(equation.params["axes"]), equation.outvars[0].aval.dtype
    if math.prod(equation.invars[0].aval.shape) == 0 and ufunc in (np.maximum, np.minimum):
        first = _end(dtype, is_most=ufunc is np.minimum)
        return lambda x: ufunc.reduce(x, axis=axes, dtype=dtype, initial=first)
    return lambda x: ufunc.reduce(x, axis=axes, dtype=dtype)


def _end(dtype: np.dtype[Any], *, is_most: bool) -> Any:
    """Return the least or the largest number that a dtype has."""
    if dtype.kind in "iu":
        return getattr(np.iinfo(dtype), "max" if is_most else "min")
    return dtype.type(np.inf if is_most else -np.inf) if dtype.kind == "f" else is_most


def _running(ufunc: np.ufunc, equation: Any) -> Function:
    axis, dtype = equation.params["axis"], equation.outvars[0].aval.dtype
    zero = dtype.type(0)
    backwards = (*(slice(None),) * axis, slice(None, None, -1))

    def summed(x: Array) -> Array:
        return ufunc.accumulate(x, axis=axis, dtype=dtype) + zero  # a sum begins with 0, so it is never -0

    def others(x: Array) -> Array:
        return ufunc.accumulate(x, axis=axis, dtype=dtype)

    run = summed if ufunc is np.add else others
    return (lambda x: run(x[backwards])[backwards]) if equation.params["reverse"] else run


_enter()


@rule("copy", "stop_gradient", "device_put")
def same(equation: Any) -> Function:
    """Another view, so that the results of a program are told from what it reads."""
    return lambda *arrays: arrays[0][...] if len(arrays) == 1 else tuple([x[...] for x in arrays])


@rule("optimization_barrier")
def barrier(equation: Any) -> Function:
    """Nothing happens to each of several arrays."""
    if len(equation.outvars) == 1:
        return lambda x: x[...]
    return lambda *arrays: tuple([x[...] for x in arrays])


@rule("div")
def div(equation: Any) -> Function:
    """Integers are divided towards zero; by zero XLA gives -1."""
    if equation.outvars[0].aval.dtype.kind == "f":
        return np.divide

    def divided(a: Array, b: Array) -> Array:
        quotient, rest = np.divmod(a, b)
        towards_zero = quotient + ((rest != 0) & ((a < 0) != (b < 0)))
        return np.where(b == 0, np.array(-1).astype(quotient.dtype), towards_zero).astype(quotient.dtype)

    return divided


@rule("rem")
def rem(equation: Any) -> Function:
    """The rest has the sign of what is divided; of a division of integers by zero all is left."""
    if equation.outvars[0].aval.dtype.kind == "f":
        return np.fmod
    return lambda a, b: np.where(b == 0, a, np.fmod(a, b))


@rule("pow")
def power(equation: Any) -> Function:
    """Exponents may be integers."""
    dtype = equation.outvars[0].aval.dtype
    if equation.invars[1].aval.dtype == dtype:
        return np.power
    return lambda x, y: np.power(x, y.astype(dtype))


@rule("integer_pow")
def integer_power(equation: Any) -> Function:
    """Repeated squaring, as XLA does it."""
    exponent = equation.params["y"]
    if exponent == 2:
        return np.square
    one = np.ones((), equation.outvars[0].aval.dtype)

    def raised(x: Array) -> Array:
        result, square, rest = None, x, abs(exponent)
        while rest:
            if rest & 1:
                result = square if result is None else result * square
            rest >>= 1
            if rest:
                square = square * square
        result = np.broadcast_to(one, np.shape(x)) if result is None else result
        return one / result if exponent < 0 else result[...]

    if exponent < 0 and one.dtype.kind != "f":
        raise NotForHost("an integer to a negative power")
    return raised


@rule("rsqrt")
def rsqrt(equation: Any) -> Function:
    """1 / sqrt(x)."""
    one = np.ones((), equation.outvars[0].aval.dtype)
    return lambda x: one / np.sqrt(x)


@rule("logistic")
def logistic(equation: Any) -> Function:
    """1 / (1 + exp(-x))."""
    one = np.ones((), equation.outvars[0].aval.dtype)
    return lambda x: one / (one + np.exp(-x))


@rule("one_minus_square")
def one_minus_square(equation: Any) -> Function:
    """1 - x * x, exact where x is near 1 or -1."""
    one = np.ones((), equation.outvars[0].aval.dtype)
    return lambda x: (one + x) * (one - x)


@rule("erf", "erfc", "lgamma")
def one_by_one(equation: Any) -> Function:
    """Python's own function, number by number: numpy has none. For many numbers SciPy has, which JAX brings along."""
    shape, dtype = equation.outvars[0].aval.shape, equation.outvars[0].aval.dtype
    name, size = equation.primitive.name, math.prod(shape)
    if size <= NUMBERS:
        one = _lgamma if name == "lgamma" else getattr(math, name)
        return lambda x: np.fromiter(map(one, x.ravel().tolist()), dtype, size).reshape(shape)
    if name == "lgamma":
        raise NotForHost("many numbers for Python")
    return getattr(import_module("scipy.special"), name)  # imported by those alone who need it


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):  # at a pole, and where no float is large enough
        return math.inf


@rule("sign")
def sign(equation: Any) -> Function:
    """Zeros keep their own sign."""
    if equation.outvars[0].aval.dtype.kind != "f":
        return np.sign
    return lambda x: np.where(x == 0, x, np.sign(x))


@rule("round")
def rounded(equation: Any) -> Function:
    """Halves to the even neighbour, or away from zero."""
    if equation.params["rounding_method"] == lax.RoundingMethod.TO_NEAREST_EVEN:
        return np.rint
    half = np.asarray(0.5, equation.outvars[0].aval.dtype)

    def away(x: Array) -> Array:
        whole = np.trunc(x)
        return np.copysign(whole + np.where(np.abs(x - whole) >= half, np.copysign(half + half, x), 0), x)

    return away


@rule("clamp")
def clamp(equation: Any) -> Function:
    """At least the first operand, at most the last."""
    return lambda low, x, high: np.minimum(np.maximum(x, low), high)


@rule("select_n")
def select(equation: Any) -> Function:
    """The first operand says which of the others each element is taken from."""
    if equation.invars[0].aval.dtype == bool:
        return lambda which, no, yes=None: np.where(which, no if yes is None else yes, no)
    if len(equation.invars) > 60:
        raise NotForHost("more cases than numpy chooses from")
    return lambda which, *cases: np.choose(which, cases, mode="clip")


@rule("convert_element_type")
def convert(equation: Any) -> Function:
    """What a whole number cannot hold becomes the nearest that there is, NaN 0. Of complex numbers the real part."""
    source, target = equation.invars[0].aval.dtype, equation.outvars[0].aval.dtype
    if source.kind == "c" and target.kind != "c":
        if target.kind != "f":
            raise NotForHost(f"complex numbers to {target}")
        return lambda x: x.real.astype(target)
    if source.kind != "f" or target.kind not in "iu":
        return lambda x: x.astype(target)
    least, most = np.iinfo(target).min, np.iinfo(target).max

    def whole(x: Array) -> Array:
        inside = (x > least) & (x < most)
        if inside.all():
            return x.astype(target)
        ends = np.where(x <= least, np.asarray(least, target), np.asarray(most, target))
        return np.where(
            inside, np.where(inside, x, 0).astype(target), np.where(np.isnan(x), np.zeros((), target), ends)
        )

    return whole


@rule("reduce_precision")
def reduce_precision(equation: Any) -> Function:
    """Only to as many digits as there are."""
    kept = np.finfo(equation.outvars[0].aval.dtype)
    if (equation.params["exponent_bits"], equation.params["mantissa_bits"]) != (kept.iexp, kept.nmant):
        raise NotForHost("fewer digits")
    return lambda x: x[...]


@rule("bitcast_convert_type")
def bitcast(equation: Any) -> Function:
    """The same bits as another dtype of the same size."""
    source, target = equation.invars[0].aval.dtype, equation.outvars[0].aval.dtype
    if source.itemsize != target.itemsize:
        raise NotForHost("bits in pieces")
    return lambda x: x.view(target)


@rule("shift_right_logical", "shift_right_arithmetic")
def shift_right(equation: Any) -> Function:
    """Zeros come in from the left, or copies of the first bit, whatever the dtype says of signs."""
    dtype, is_logical = equation.outvars[0].aval.dtype, equation.primitive.name == "shift_right_logical"
    bits = np.dtype(f"{'u' if is_logical else 'i'}{dtype.itemsize}")
    return lambda x, places: (x.view(bits) >> places.view(bits)).view(dtype)


@rule("population_count")
def population_count(equation: Any) -> Function:
    """How many bits are set."""
    dtype = equation.outvars[0].aval.dtype
    bits = np.dtype(f"u{dtype.itemsize}")  # of negative numbers numpy would count those of the positive ones
    return lambda x: np.bitwise_count(x.view(bits)).astype(dtype)


@rule("platform_index")
def platform_index(equation: Any) -> Function:
    """Which of a function's ways is meant for a CPU, or for all platforms (None)."""
    platforms = equation.params["platforms"]
    mine = [i for i, names in enumerate(platforms) if names is None or "cpu" in names]
    return lambda: np.int32(mine[0])


@rule("empty2")
def empty2(equation: Any) -> Function:
    """A number that nobody reads: what one branch has for the backward pass of another. XLA has zeros there too."""
    zero = np.zeros((), equation.outvars[0].aval.dtype)
    return lambda: zero


@rule("iota")
def iota(equation: Any) -> Function:
    """Counts along an axis."""
    shape, along, dtype = equation.outvars[0].aval.shape, equation.params["dimension"], equation.outvars[0].aval.dtype
    counted = np.arange(shape[along]).astype(dtype).reshape([-1 if i == along else 1 for i in range(len(shape))])
    return lambda: np.broadcast_to(counted, shape).copy()


@rule("argmax", "argmin")
def argmax(equation: Any) -> Function:
    """The first place of the largest or least along an axis; a NaN counts as that."""
    (axis,), dtype = equation.params["axes"], equation.params["index_dtype"]
    find = np.argmax if equation.primitive.name == "argmax" else np.argmin
    return lambda x: find(x, axis).astype(dtype)


@rule("cumlogsumexp")
def cumlogsumexp(equation: Any) -> Function:
    """Running log of the sum of exponentials."""
    return _running(np.logaddexp, equation)


@rule("dot_general")
def dot_general(equation: Any) -> Function:
    """Products of matrices: batch dimensions first, then those of the left, then those of the right."""
    (left, right), (left_batch, right_batch) = equation.params["dimension_numbers"]
    a, b, result = equation.invars[0].aval, equation.invars[1].aval, equation.outvars[0].aval
    if a.dtype != result.dtype or b.dtype != result.dtype:
        raise NotForHost("a product in another dtype")
    left_kept = [i for i in range(a.ndim) if i not in (*left, *left_batch)]
    right_kept = [i for i in range(b.ndim) if i not in (*right, *right_batch)]
    batch, inner = [a.shape[i] for i in left_batch], math.prod(a.shape[i] for i in left)
    a_order, b_order = (*left_batch, *left_kept, *left), (*right_batch, *right, *right_kept)
    a_shape = (*batch, math.prod(a.shape[i] for i in left_kept), inner)
    b_shape = (*batch, inner, math.prod(b.shape[i] for i in right_kept))
    shape, multiply = result.shape, product(*a_shape[-2:], b_shape[-1])
    if not batch and len(left) == 1 and max(a.ndim, b.ndim) <= 2:
        if left[0] < a.ndim - 1:
            return (lambda x, y: multiply(x.T, y.T)) if right[0] else lambda x, y: multiply(x.T, y)
        return (lambda x, y: multiply(x, y.T)) if right[0] else multiply
    return lambda x, y: multiply(x.transpose(a_order).reshape(a_shape), y.transpose(b_order).reshape(b_shape)).reshape(
        shape
    )
