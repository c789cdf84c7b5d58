"""What numpy computes for a small program is what XLA computes for it on a CPU."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax
from jax.extend import core
from numpy.testing import assert_allclose, assert_array_equal

from funcgrad._program.host.running import OnHost
from funcgrad._program.host.table import RULES, NotForHost
from tests.program import host_factors, host_spectra

Case = tuple[Callable[..., Any], tuple[Any, ...]]
CASES: dict[str, Case] = {}
NEWER = ("log2", "one_minus_square")  # primitives since jax 0.12
ROUNDED = frozenset((
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2",
    "expm1", "integer_pow", "lgamma", "log", "log1p", "log2", "logistic", "pow", "rsqrt", "sin", "sinh", "tan", "tanh",
))  # fmt: skip
SUMMED = frozenset((
    "conv_general_dilated", "cumlogsumexp", "cumprod", "cumsum", "dot_general", "fft", "reduce_prod", "reduce_sum",
    "scatter-add", "scatter-mul", "scatter-sub",
))  # fmt: skip
# Of two zeros numpy and torch take either for the larger.
EITHER_ZERO = frozenset((
    "clamp", "cummax", "cummin", "max", "min", "reduce_max", "reduce_min", "scatter-max", "scatter-min",
))  # fmt: skip
FLOATS = (np.float32, np.float64)
WHOLE = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
DTYPES = (np.bool_, *WHOLE, *FLOATS)
ODD = (
    0.0,
    -0.0,
    math.nan,
    math.inf,
    -math.inf,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.7,
    1e-8,
    8388609.0,
    1e25,
    -7.25,
)


def case(name: str, function: Callable[..., Any], *arguments: Any) -> None:
    """Enter a function of arrays, and arguments to compute it with."""
    assert name not in CASES, name
    CASES[name] = function, arguments


def traced(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the jaxpr of a function as a line has it: what is given, what is kept, numbers."""
    with jax.enable_x64(True):
        return jax.make_jaxpr(lambda given, kept, numbers: function(*given))(list(arguments), [], np.zeros(1))


def names(jaxpr: Any) -> Iterator[str]:
    """Return the primitives of a jaxpr and of those that it calls."""
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for inner in jax.tree.leaves(equation.params, is_leaf=lambda x: isinstance(x, core.Jaxpr | core.ClosedJaxpr)):
            if isinstance(inner, core.ClosedJaxpr):
                yield from names(inner.jaxpr)
            elif isinstance(inner, core.Jaxpr):
                yield from names(inner)


def check(function: Callable[..., Any], *arguments: Any) -> None:
    """Assert that numpy's results are XLA's, arrays of their own, and the same ones each time."""
    program = traced(function, *arguments)
    with jax.enable_x64(True):
        expected = [np.asarray(x) for x in jax.tree.leaves(jax.jit(function)(*arguments))]
    used, host = set(names(program.jaxpr)), OnHost(program)
    leaves = [np.array(x) for x in jax.tree.leaves(arguments)]
    before = [x.copy() for x in leaves]
    for _ in range(2):
        results = host(leaves, [], np.zeros(1))
        assert len(results) == len(expected)
        for result, other in zip(results, expected, strict=True):
            same(result, other, used)
        own(results, leaves)
        for result in results:
            result.fill(1)
    for leaf, other in zip(leaves, before, strict=True):
        assert_array_equal(leaf, other)


def same(found: Any, expected: Any, used: set[str]) -> None:
    """Assert that two arrays are the same: bit for bit, or up to some rounding by the primitives used."""
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    if found.dtype.kind == "c":
        same(found.real, expected.real, used)
        same(found.imag, expected.imag, used)
    elif found.dtype.kind != "f" or used.isdisjoint(ROUNDED | SUMMED):
        assert_array_equal(found, expected)
    else:
        rtol, largest = 32 * np.finfo(found.dtype).eps, np.max(np.abs(expected), initial=0, where=np.isfinite(expected))
        assert_allclose(found, expected, rtol, 0 if used.isdisjoint(SUMMED) else largest * rtol / 8)
    if found.dtype.kind == "f" and used.isdisjoint(SUMMED):
        signed = ~np.isnan(expected) & ((expected != 0) | used.isdisjoint(EITHER_ZERO))
        assert_array_equal(np.signbit(found)[signed], np.signbit(expected)[signed])


def own(results: list[Any], leaves: list[Any]) -> None:
    """Assert that results are plain arrays which nobody else has."""
    for i, result in enumerate(results):
        assert type(result) is np.ndarray
        assert result.base is None
        assert result.flags.c_contiguous
        assert result.flags.writeable
        assert not any(np.shares_memory(result, other) for other in (*leaves, *results[:i]))


def numbers(dtype: Any, *shape: int, seed: int = 0) -> Any:
    """Return small numbers of a dtype, some of them twice."""
    drawn = np.random.default_rng(seed).integers(-9, 10, shape)
    if dtype == np.bool_:
        return drawn > 0
    return drawn.astype(dtype) if np.dtype(dtype).kind in "iu" else (drawn / 4).astype(dtype)


def extremes(dtype: Any) -> Any:
    """Return the numbers of a dtype that go wrong most easily."""
    if dtype == np.bool_:
        return np.array([True, False])
    if np.dtype(dtype).kind == "f":
        return np.array(ODD, dtype)
    info = np.iinfo(dtype)
    return np.array(
        [0, 1, 2, 3, 7, info.max, info.max - 1, info.min, info.min + 1, info.max // 2, -1 if info.min else 5], dtype
    )


def pairs(dtype: Any) -> Any:
    """Return each of the extremes with each."""
    found = extremes(dtype)
    return np.repeat(found, len(found)), np.tile(found, len(found))


# Each element by itself

SMOOTH = (
    lax.acos, lax.acosh, lax.asin, lax.asinh, lax.atan, lax.atanh, lax.cbrt, lax.ceil, lax.cos, lax.cosh, lax.erf,
    lax.erfc, lax.exp, lax.exp2, lax.expm1, lax.floor, lax.is_finite, lax.log, lax.log1p, lax.logistic, lax.rsqrt,
    lax.sin, lax.sinh, lax.sqrt, lax.tan, lax.tanh,
    *[getattr(lax, name) for name in NEWER if hasattr(lax, name)],
)  # fmt: skip
for kind in FLOATS:
    for one in SMOOTH:
        # Without what is huge: XLA and numpy differ there.
        case(f"{one.__name__} {kind.__name__}", one, np.array([*ODD[:13], -0.999, 0.999, 20.0], kind))
    for one in (lax.erf, lax.erfc, lax.tanh, lax.logistic, lax.sqrt, lax.rsqrt):
        case(f"{one.__name__} of what is huge {kind.__name__}", one, np.array([-1e25, -1e4, 1e4, 1e25], kind))
    # XLA's is less exact near its zeros.
    case(f"lgamma {kind.__name__}", lax.lgamma, np.array([*ODD[:5], 0.5, -0.5, -1, -2, 3, 7.5, 30, 1e5, 1e30], kind))
    for method in (lax.RoundingMethod.AWAY_FROM_ZERO, lax.RoundingMethod.TO_NEAREST_EVEN):
        case(
            f"round {method.name} {kind.__name__}",
            lambda x, method=method: lax.round(x, method),
            np.array([*ODD, 3.5, -1.5, np.nextafter(kind(0.5), kind(0)), -0.2, 2**52 + 1, -8388607.5], kind),
        )
    for two in (lax.atan2, lax.nextafter, lax.pow):
        case(f"{two.__name__} {kind.__name__}", two, *pairs(kind))
    for exponent in (-3, -2, -1, 0, 1, 2, 3, 5, 8):
        case(
            f"integer_pow {exponent} {kind.__name__}",
            lambda x, exponent=exponent: lax.integer_pow(x, exponent),
            extremes(kind)[:13],
        )
    case(f"pow of an integer {kind.__name__}", lax.pow, numbers(kind, 5, 1), np.array([[-2, 0, 3, 1, -1]]))
    case(f"clamp {kind.__name__}", lax.clamp, *(x.ravel() for x in np.meshgrid(*[extremes(kind)[:8]] * 3)))
    case(f"clamp by scalars {kind.__name__}", lambda x, k=kind: lax.clamp(k(-1), x, k(0.5)), extremes(kind))

SHIFTS = (lax.shift_left, lax.shift_right_arithmetic, lax.shift_right_logical)
ACCEPTED = {lax.abs: "if", lax.bitwise_not: "biu"}
for kind in DTYPES:
    for one in (lax.abs, lax.neg, lax.sign, lax.square, lax.bitwise_not):
        if np.dtype(kind).kind in ACCEPTED.get(one, "iuf"):
            case(f"{one.__name__} {kind.__name__}", one, extremes(kind))
    arithmetic = () if kind == np.bool_ else (lax.add, lax.sub, lax.mul, lax.div, lax.rem)
    bits = () if kind in FLOATS else (lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor)
    exact = (*arithmetic, *bits, lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge)
    for name, binary in (("computing and comparing", exact), ("max, min", (lax.max, lax.min))):
        case(f"{name} {kind.__name__}", lambda a, b, binary=binary: [two(a, b) for two in binary], *pairs(kind))
    if kind in WHOLE:
        case(f"integer_pow {kind.__name__}", lambda x: (lax.integer_pow(x, 5), lax.integer_pow(x, 0)), extremes(kind))
        case(f"clamp {kind.__name__}", lambda x, kind=kind: lax.clamp(kind(1), x, kind(3)), extremes(kind))
        places = np.tile(np.array([0, 1, 3, 7, 8, 15, 31, 32, 63, 64, 100], kind), len(extremes(kind)))
        case(
            f"shifts {kind.__name__}", lambda a, b: [two(a, b) for two in SHIFTS], np.repeat(extremes(kind), 11), places
        )
        case(f"population_count {kind.__name__}", lax.population_count, extremes(kind))
    case(f"{kind.__name__} to others", lambda x: [x.astype(other) for other in DTYPES], extremes(kind))
    alike = [other for other in DTYPES[1:] if np.dtype(kind).itemsize == np.dtype(other).itemsize and kind != np.bool_]
    case(
        f"{kind.__name__} as others",
        lambda x, alike=alike: [lax.bitcast_convert_type(x, other) for other in alike],
        extremes(kind)[:2],
    )
for kind in FLOATS:
    for other in WHOLE:
        info = np.iinfo(other)
        ends = [info.min - 1, info.min - 0.5, info.min, info.max - 1, info.max, info.max + 0.5, info.max + 1, 1e25]
        case(f"ends of {other.__name__} from {kind.__name__}", lambda x, o=other: x.astype(o), np.array(ends, kind))

WHICH = np.array([-7, -1, 0, 1, 2, 3, 100], np.int32)
case(
    "cond's gradient, one branch of which keeps what the other does not",
    lambda p, a: jax.grad(lambda x: lax.cond(p > 0, lambda y: jnp.sin(jnp.exp(y)), jnp.square, x).sum())(a),
    np.float32(1),
    numbers(np.float32, 3),
)
case("select_n of two", lambda a: lax.select_n(a > 0, a, -a), numbers(np.float32, 3, 4))
case("select_n by a scalar", lambda a: lax.select_n(a[0, 0] > 0, a, -a), numbers(np.float32, 3, 4))
case(
    "select_n of integers",
    lambda i, a, b, c: lax.select_n(i, a, b, c),
    WHICH,
    *(numbers(np.int8, 7, seed=s) for s in range(3)),
)
case("select_n by a whole scalar", lambda i, a: lax.select_n(i, a, a + 1, a * 2), np.int32(2), numbers(np.float32, 3))
case("select_n of two by integers", lambda i, a: lax.select_n(i, a, a + 1), WHICH, numbers(np.float32, 7))
case(
    "select_n of many",
    lambda i, a: lax.select_n(i, *(a + k for k in range(40))),
    np.arange(40, dtype=np.int32),
    numbers(np.float32, 40),
)
case("select_n of one", lambda i, a: lax.select_n(i, a), WHICH, numbers(np.float32, 7))
case("add_any", jax.grad(lambda x: (jnp.sin(x) * x).sum()), numbers(np.float64, 4))
case("copy", lambda x: (jnp.array(x, copy=True), lax.optimization_barrier(x)), numbers(np.float32, 3))
case("device_put", lambda x, y: jax.device_put([x, y]), numbers(np.float32, 3), numbers(np.int32, 2))
case("device_put of one", jax.device_put, numbers(np.float32, 3))
case(
    "optimization_barrier", lambda x, y: lax.optimization_barrier((x, y)), numbers(np.float32, 3), numbers(np.int32, 2)
)
case("reduce_precision that changes nothing", lambda x: lax.reduce_precision(x, 8, 23), numbers(np.float32, 4))
case("calls", lambda x: jax.nn.relu(jax.jit(jnp.sin)(x)) + jax.checkpoint(jnp.cos)(x), numbers(np.float32, 4))
case("softmax", jax.grad(lambda x: jax.nn.log_softmax(x, -1)[0, 1]), numbers(np.float32, 3, 4))


for one in (lax.erf, lax.erfc):
    case(f"{one.__name__} of many", one, np.linspace(-4, 4, 600, dtype=np.float32))


# Parts of a program

case(
    "a way for each platform",
    lambda x: lax.platform_dependent(x, cpu=lambda x: x + 1, default=lambda x: x * 2),
    numbers(np.float32, 3),
)
case(
    "branches",
    lambda x, i: (
        lax.cond(x[0] > 0, lambda x: (x + 1, x), lambda x: (x * 2, x[::-1]), x),
        [lax.switch(i + k, [jnp.sin, lambda x: x, lambda x: x * 2], x) for k in (-5, 0, 1, 5)],
        lax.cond(x[1] == 0, lambda: [jnp.int32(3)], lambda: [jnp.int32(4)]),
    ),
    numbers(np.float32, 3),
    np.int32(0),
)
case(
    "scan",
    lambda a, x, k: (
        lax.scan(lambda c, y: (c * k + y[0], (c, y[1] + k)), a, (x, x * 2)),
        lax.scan(lambda c, y: (c + y.sum(), None), a[0], x, reverse=True),
        lax.scan(lambda c, y: (None, y + 1), None, x, reverse=True),
        lax.scan(lambda c, y: (c, c), a, None, length=2),
        lax.scan(lambda c, y: (y, c), a, x[:0]),
    ),
    numbers(np.float32, 3),
    numbers(np.float32, 4, 3),
    np.float32(0.5),
)
case(
    "gradients of scan",
    jax.grad(lambda w, x: lax.scan(lambda c, y: (jnp.tanh(w @ c + y), c), x[0], x)[1].sum(), (0, 1)),
    numbers(np.float64, 3, 3),
    numbers(np.float64, 4, 3),
)


# Convolutions


def convolved(x: Any, kernels: Any, strides: tuple[int, ...], padding: Any, groups: int = 1, **options: Any) -> Any:
    """Return a convolution, and its gradients, which have other strides, dilations and groups."""

    def one(x: Any, kernels: Any) -> Any:
        return lax.conv_general_dilated(x, kernels, strides, padding, feature_group_count=groups, **options)

    result, pullback = jax.vjp(one, x, kernels)
    return result, pullback(jnp.cos(result))


for title, sizes, kernels, strides, padding, options in (
    ("in one dimension", (2, 3, 9), (4, 3, 3), (1,), "SAME", {}),
    ("with strides", (2, 3, 9), (4, 3, 4), (3,), [(2, 1)], {}),
    ("with kernels apart", (2, 2, 9), (4, 2, 3), (1,), [(2, 3)], {"rhs_dilation": (2,)}),
    ("of what is spread", (2, 2, 5), (4, 2, 3), (1,), [(2, 3)], {"lhs_dilation": (3,)}),
    ("of what is cut", (2, 2, 9), (4, 2, 2), (2,), [(-2, -1)], {"lhs_dilation": (2,)}),
    ("by one", (2, 3, 4, 5), (4, 3, 1, 1), (1, 1), "VALID", {}),
    ("of images", (2, 3, 7, 6), (4, 3, 3, 2), (2, 1), [(1, 1), (0, 2)], {}),
    ("in groups", (2, 4, 7, 6), (6, 2, 3, 3), (1, 2), "SAME", {"groups": 2}),
    ("each channel by itself", (2, 4, 8), (4, 1, 3), (1,), "SAME", {"groups": 4}),
    ("of volumes", (1, 2, 3, 4, 5), (2, 2, 2, 3, 2), (1, 2, 1), "SAME", {}),
    ("channels last", (2, 6, 5, 3), (3, 2, 3, 4), (1, 1), "SAME", {"dimension_numbers": ("NHWC", "HWIO", "NHWC")}),
    ("of nothing", (0, 3, 9), (4, 3, 3), (1,), "SAME", {}),
    ("without room", (2, 3, 2), (4, 3, 3), (1,), "VALID", {}),
    ("of one number in nothing", (1, 1, 1), (1, 1, 2), (1,), [(5, -4)], {"lhs_dilation": (3,)}),
):
    for kind in FLOATS:
        case(
            f"convolution {title} {kind.__name__}",
            lambda x, k, s=strides, p=padding, o=options: convolved(x, k, s, p, **o),
            numbers(kind, *sizes),
            numbers(kind, *kernels, seed=1),
        )
case(
    "convolution of whole numbers",
    lambda x, k: lax.conv(x, k, (1, 1), "SAME"),
    numbers(np.int32, 2, 3, 4, 4),
    numbers(np.int32, 2, 3, 3, 3),
)
case(
    "convolution in groups of a batch",
    lambda x, k: lax.conv_general_dilated(x, k, (1,), "SAME", batch_group_count=2),
    numbers(np.float32, 4, 3, 6),
    numbers(np.float32, 6, 3, 2),
)


# Results are arrays of their own

case("a result that is an input", lambda x, y: (x, y, x, y + 1), numbers(np.float32, 3), numbers(np.float32, 2, 2))
case("a result twice", lambda x: [x * 2] * 3, numbers(np.float32, 3))
case(
    "a result and views of it",
    lambda x: (y := x * 2, y[1:], y.T, y[::-1], y.ravel(), y[:, None]),
    numbers(np.float32, 3, 3),
)
case(
    "views of an input",
    lambda x: (x[1:], x.T, x[::-1], x.reshape(-1), x[0], x[0, 0], jnp.split(x, 3)),
    numbers(np.float32, 3, 3),
)
case(
    "constants",
    lambda x: (jnp.arange(4), jnp.ones((2, 2)), jnp.arange(4), jnp.arange(6)[::2], 3),
    numbers(np.float32, 1),
)
case("a constant that is computed with", lambda x: (x + np.arange(3.0), np.arange(3.0)), numbers(np.float64, 3))
case(
    "scalars", lambda x: (x, x + 1, x.reshape(1), x.T, jnp.where(x > 0, x, 2), x.sum(), x.astype(int)), np.float32(1.5)
)
case(
    "scalars of a result",
    lambda x: (y := x.sum(), y.reshape(1, 1), y + 0, jnp.sort(y[None]), y.T, lax.rev(y, ())),
    numbers(np.float64, 3),
)
case(
    "nothing",
    lambda x: (x + 1, x.T, x.sum(0), x.reshape(3, 0), x.sum(), jnp.sort(x, 0), x[:, ::-1], x @ x.T),
    np.zeros((0, 3), np.float32),
)
case(
    "sizes of one",
    lambda x: (x + 1, x.T, x.sum(0), x.reshape(1), x[0], x.max(), jnp.sort(x), x[:, ::-1], x @ x),
    numbers(np.float32, 1, 1),
)


# Sums and the like


def reduced(one: Any, axes: tuple[int, ...], x: Any) -> Any:
    """Return what is left of an array without some axes."""
    return one.bind(x, axes=axes, **({"out_sharding": None} if one.name in WITH_SHARDING else {}))


WITH_SHARDING = ("reduce_sum", "reduce_max", "reduce_min")
AXES = ((), (1,), (0, 2), (0, 1, 2))
for kind in DTYPES:
    of_numbers = (lax.reduce_sum_p, lax.reduce_prod_p) if kind != np.bool_ else ()
    of_bits = (lax.reduce_and_p, lax.reduce_or_p, lax.reduce_xor_p) if kind not in FLOATS else ()
    x = numbers(kind, 2, 3, 4)
    for one in (*of_numbers, *of_bits, lax.reduce_max_p, lax.reduce_min_p):
        case(
            f"{one.name} {kind.__name__}",
            lambda x, y, z, o=one: ([reduced(o, axes, x) for axes in AXES], reduced(o, (1,), y), reduced(o, (1,), z)),
            x, x[:, :0], x[:0],
        )  # fmt: skip
    for one in (lax.cummax, lax.cummin, lax.cumsum, lax.cumprod) if kind != np.bool_ else ():
        case(
            f"{one.__name__} {kind.__name__}",
            lambda x, y, o=one: (o(x, 1), o(x, 2, reverse=True), o(y, 1)),
            x,
            x[:, :0],
        )
    for one in (lax.argmax, lax.argmin):
        case(
            f"{one.__name__} {kind.__name__}",
            lambda x, o=one: (o(x, 1, np.int32), o(x, 2, np.int64), o(x[0, 0], 0, np.int8)),
            x,
        )
for kind in FLOATS:
    rows = np.array([[1, math.nan, 3, math.nan], [-0.0, 0, -math.inf, 0], [2, math.inf, math.inf, 1]], kind)
    for one in (lax.argmax, lax.argmin):
        case(
            f"{one.__name__} of what is odd {kind.__name__}",
            lambda x, o=one: (o(x, 1, np.int32), o(x, 0, np.int32)),
            rows,
        )
    for one in (lax.cummax, lax.cummin, lax.cumsum, lax.cumprod):
        case(f"{one.__name__} of what is odd {kind.__name__}", lambda x, o=one: (o(x, 1), o(x, 1, reverse=True)), rows)
    case(
        f"cumlogsumexp {kind.__name__}",
        lambda x: (lax.cumlogsumexp(x, 1), lax.cumlogsumexp(x, 0, reverse=True)),
        numbers(kind, 3, 5),
    )
    case(
        f"cumlogsumexp of what is odd {kind.__name__}",
        lambda x: lax.cumlogsumexp(x, 1),
        np.array([[-math.inf, -math.inf, 1, math.inf, 0]], kind),
    )
    case(f"largest of what is odd {kind.__name__}", lambda x: (x.max(1), x.min(1), x.max(), x.sum(1), x.prod(1)), rows)
    for name in ("cumsum", "cumprod", "cummax", "cummin"):
        case(
            f"gradient of {name} {kind.__name__}",
            jax.grad(lambda x, n=name: (getattr(lax, n)(x, 1, reverse=True) ** 2).sum()),
            numbers(kind, 2, 3) + kind(0.1),
        )
    for name in ("max", "min", "prod", "sum", "std"):
        case(
            f"gradient of {name} {kind.__name__}",
            jax.grad(lambda x, n=name: (getattr(jnp, n)(x, 1) ** 2).sum()),
            numbers(kind, 3, 4),
        )


# Moving elements

X, WIDE = numbers(np.float32, 3, 4, 5), numbers(np.int16, 2, 6)
case(
    "broadcast_in_dim",
    lambda x: (jnp.broadcast_to(x, (2, 3, 4, 5)), x[:, None], jnp.broadcast_to(x[:1], (4, 4, 5)), x[None]),
    X,
)
case(
    "broadcast_in_dim of nothing",
    lambda x: (jnp.broadcast_to(x[:1], (0, 4, 5)), jnp.broadcast_to(x[:0, :1], (0, 3, 5))),
    X,
)
case(
    "broadcast_in_dim of a scalar",
    lambda x: (jnp.broadcast_to(x, (2, 3)), jnp.broadcast_to(x, ()), jnp.full(2, x)),
    np.float64(3),
)
case(
    "reshape",
    lambda x: (x.reshape(12, 5), x.T.reshape(-1), x.reshape(3, 1, 20), jnp.squeeze(x[:1]), lax.expand_dims(x, (0, 2))),
    X,
)
case("transpose", lambda x: (x.transpose(2, 0, 1), x.T, x.transpose(0, 1, 2)), X)
case("rev", lambda x: (lax.rev(x, (0, 2)), lax.rev(x, ())), X)
case("slice", lambda x: (x[1:, ::2, 1:4], x[::3, 3:, 4:2], lax.slice(x, (0, 1, 2), (3, 4, 5), (2, 1, 2))), X)
case("split", lambda x: (lax.split(x, (1, 3), 1), lax.split(x, (3,)), lax.split(x, (0, 3, 0))), X)
case("concatenate", lambda x: (jnp.concatenate([x, x[:, :1], x[:, :0]], 1), lax.concatenate([x], 0)), X)
case(
    "iota",
    lambda x: [lax.broadcasted_iota(d, (2, 3), a) + x.astype(d) for a in (0, 1) for d in (*WHOLE, *FLOATS)],
    np.int8(2),
)
case("iota beyond a dtype", lambda x: lax.iota(np.uint8, 300) + x, np.uint8(2))
case(
    "stack, tile, roll, tril, eye",
    lambda x: (
        jnp.stack([x, x], 1),
        jnp.tile(x, (2, 1)),
        jnp.roll(x, 2, 1),
        jnp.unstack(x),
        jnp.unstack(x, axis=1),
        jnp.unstack(x[:1]),
        x.reshape(3, 4, order="F"),
        jnp.tril(x),
        x @ jnp.eye(6, dtype=x.dtype),
    ),
    WIDE,
)
PADS = (
    ((0, 0, 0), (0, 0, 0)), ((1, 2, 0), (0, 3, 2)), ((-1, 0, 0), (0, -2, 0)), ((-1, -1, 1), (1, -1, 2)),
    ((1, -1, 3), (-2, 2, 1)), ((-2, 5, 0), (-4, -2, 0)), ((-3, 9, 1), (-5, 1, 1)), ((4, -4, 0), (-8, 12, 2)),
    ((0, -2, 0), (0, -6, 0)), ((7, -6, 1), (0, 0, 0)), ((-6, 7, 1), (-12, 13, 1)), ((-3, 3, 1), (8, -14, 1)),
)  # fmt: skip
for config in PADS:
    case(f"pad {config}", lambda x, c=config: lax.pad(x, x.dtype.type(7), c), WIDE)
    case(
        f"gradient of pad {config}",
        jax.grad(lambda x, v, c=config: (jnp.sin(lax.pad(x, v, c)) * 3).sum(), (0, 1)),
        WIDE.astype(np.float32),
        np.float32(2),
    )
case(
    "pad of nothing",
    lambda x: (
        lax.pad(x, x.dtype.type(7), ((2, 1, 3), (0, 0, 1))),
        lax.pad(x, x.dtype.type(7), ((-1, 3, 1), (-1, 0, 1))),
    ),
    WIDE[:0],
)
case(
    "gradients of moving",
    jax.grad(lambda x: (jnp.concatenate([x[::2], x[::-1, 1:3].repeat(2, 1)[:, :4]]).T[None] ** 2).sum()),
    numbers(np.float64, 3, 4),
)


# Order

for kind in DTYPES:
    case(
        f"sort {kind.__name__}",
        lambda x: (jnp.sort(x, 0), jnp.sort(x, 1), lax.sort(x[0], is_stable=False)),
        np.stack([extremes(kind), extremes(kind)[::-1], extremes(kind)]),
    )
    case(
        f"argsort {kind.__name__}",
        lambda x: (jnp.argsort(x, 1), jnp.argsort(x, 0), jnp.argsort(x, 1, descending=True)),
        numbers(kind, 3, 40),
    )
    case(
        f"top_k {kind.__name__}",
        lambda x: (lax.top_k(x, 3), lax.top_k(x, 7, axis=0), lax.top_k(x, 0)),
        numbers(kind, 7, 9),
    )
    case(f"top_k of extremes {kind.__name__}", lambda x: lax.top_k(x, 2), extremes(kind))
for kind in FLOATS:
    odd = np.array([[3, math.nan, -0.0, 0, math.nan, -math.inf, 0, -0.0, math.inf, 3]], kind)
    for keys in (1, 2, 3):
        case(
            f"sort by {keys} {kind.__name__}",
            lambda x, y, i, k=keys: lax.sort((x, y, i), 1, num_keys=k),
            np.repeat(odd, 4, 1), np.tile(odd, 4), np.arange(40)[None],
        )  # fmt: skip
    case(f"argsort of what is odd {kind.__name__}", lambda x: (jnp.argsort(x), jnp.argsort(x, descending=True)), odd)
    case(f"top_k of what is odd {kind.__name__}", lambda x: lax.top_k(x, 10), np.where(odd == 0, kind(0), odd))
    case(
        f"gradient of sort {kind.__name__}",
        jax.grad(lambda x: (jnp.sort(x, 1) * jnp.arange(5.0, dtype=x.dtype)).sum()),
        numbers(kind, 4, 5),
    )
    case(f"gradient of top_k {kind.__name__}", jax.grad(lambda x: (lax.top_k(x, 2)[0] ** 2).sum()), numbers(kind, 4, 5))
case("sort by columns", lambda x, y: lax.sort((x, y), 0, num_keys=2), numbers(np.int8, 9, 3), numbers(np.bool_, 9, 3))
case("unique's size", lambda x: jnp.unique(x, size=5), numbers(np.int32, 12))
for method in ("sort", "scan"):
    case(
        f"searchsorted by {method}",
        lambda x, y, m=method: [jnp.searchsorted(jnp.sort(x), y, side=side, method=m) for side in ("left", "right")],
        numbers(np.int32, 12),
        numbers(np.int32, 4),
    )
for side in ("left", "right"):
    case(
        f"searchsorted of what is odd from the {side}",
        lambda x, y, s=side: jnp.searchsorted(x, y, side=s),
        np.array([-math.inf, -0.0, 0, 3, math.nan, math.nan], np.float32),
        np.array([math.nan, 0, -0.0, math.inf, -math.inf, 3], np.float32),
    )
for compare in (lax.lt_to_p, lax.le_to_p):  # with jax 0.12 searchsorted has no use for them
    case(
        f"{compare.name} of what is odd",
        lambda x, y, p=compare: p.bind(x, y),
        *np.meshgrid(*[np.array([-math.inf, -1, 2, math.inf, math.nan], np.float32)] * 2),
    )


# Products of matrices

SUBSCRIPTS = (
    "ij,jk->ik", "ji,jk->ik", "ij,kj->ik", "ji,kj->ik", "ij,ij->", "ij,ij->i", "ij,ij->j", "i,j->ij", "i,i->",
    "i,ij->j", "ij,j->i", "bij,bjk->bik", "bij,bkj->bik", "bji,bjk->bik", "ibj,jkb->bik", "ibj,jbk->kbi",
    "abij,abjk->abik", "aibj,jbka->abik", "bij,jk->bik", "ij,bjk->bik", "ijk,jkl->il", "kji,jkl->il", "ijk,kjl->il",
    "ijk,ijk->", "ij,kl->ijkl", "bi,bj->bij", "b,b->b", "bij,bij->b", "ijb,bk->bijk", ",ij->ij", "ij,jkl->ikl",
)  # fmt: skip
SIZES = {"a": 2, "b": 3, "i": 4, "j": 5, "k": 2, "l": 1}


def factors(subscripts: str, kind: Any, **sizes: int) -> list[Any]:
    """Return two arrays for a product."""
    known = SIZES | sizes
    sides = subscripts.split("->")[0].split(",")
    return [numbers(kind, *(known[letter] for letter in side), seed=seed) for seed, side in enumerate(sides)]


for subscripts in SUBSCRIPTS:
    several = [
        factors(subscripts, np.float32),
        factors(subscripts, np.int32),
        factors(subscripts, np.float32, j=0, i=0),
        factors(subscripts, np.int64, b=0, k=0),
    ]
    case(subscripts, lambda several, s=subscripts: [jnp.einsum(s, a, b) for a, b in several], several)
    case(
        f"gradient of {subscripts}",
        jax.grad(lambda a, b, s=subscripts: (jnp.einsum(s, a, b) ** 2).sum(), (0, 1)),
        *factors(subscripts, np.float64),
    )
for kind in DTYPES:
    case(f"dot_general {kind.__name__}", lambda a, b: lax.dot(a, b), numbers(kind, 3, 70), numbers(kind, 70, 2))
case("integers' products that wrap", lambda a, b: a @ b, np.full((2, 3), 100, np.int8), np.full((3, 2), 77, np.int8))
case("a product of views", lambda a: (a.T[::-1] @ a[:, ::-1], a[0] @ a[1], a @ a[0]), numbers(np.float32, 5, 5))


# Indices


def draw(kind: Any, *shape: int, low: int, high: int, seed: int = 3) -> Any:
    """Return whole numbers."""
    return np.random.default_rng(seed).integers(low, high, shape).astype(kind)


T = numbers(np.float32, 4, 5, 3)
PAIR, ROW = draw(np.int32, 2, 3, low=-6, high=7), draw(np.int64, 3, low=-7, high=8)
INDICES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "one": lambda x, i, j: x.at[i],
    "the second axis": lambda x, i, j: x.at[:, i],
    "the last axis": lambda x, i, j: x.at[..., j],
    "two": lambda x, i, j: x.at[i, j],
    "two apart": lambda x, i, j: x.at[i, :, j],
    "all": lambda x, i, j: x.at[i, j, j],
    "a scalar": lambda x, i, j: x.at[i[0, 0]],
    "scalars": lambda x, i, j: x.at[i[0, 0], 1, j[0]],
    "a scalar and a slice": lambda x, i, j: x.at[1:3, i[0, 0]],
    "a slice with steps": lambda x, i, j: x.at[::2, j, 1:],
    "a new axis": lambda x, i, j: x.at[i, None, :, 1],
    "known numbers": lambda x, i, j: x.at[np.array([0, 3, -1, 0]), :, 1],
}


def written(x: Any, way: str, mode: str) -> Any:
    """Return an array with numbers written to places of it."""
    new = lax.iota(x.array.dtype, math.prod(x.get().shape)).reshape(x.get().shape) - 3
    return getattr(x, way)(new, mode=mode)


def slope(picked: Callable[..., Any], mode: str | None) -> Callable[..., Any]:
    """Return the gradient of a sum over what is picked."""
    return jax.grad(lambda x, *places: (picked(x, *places).get(mode=mode, fill_value=3) ** 2).sum())


for name, picked in INDICES.items():
    for mode in ("clip", "fill", "promise_in_bounds", None):
        inside = (PAIR % 3, ROW % 3) if mode == "promise_in_bounds" else (PAIR, ROW)
        case(f"x[{name}] {mode}", lambda x, i, j, p=picked, m=mode: p(x, i, j).get(mode=m), T, *inside)
        case(f"gradient of x[{name}] {mode}", slope(picked, mode), T, *inside)
    for mode in ("clip", "drop", "promise_in_bounds"):
        inside = (PAIR % 3, ROW % 3) if mode == "promise_in_bounds" else (PAIR, ROW)
        for way in ("add",) if mode != "drop" else ("add", "multiply", "min", "max", "subtract"):
            case(
                f"x[{name}].{way} {mode}",
                lambda x, i, j, p=picked, w=way, m=mode: written(p(x, i, j), w, m),
                T,
                *inside,
            )
        case(f"x[{name}] = number {mode}", lambda x, i, j, p=picked, m=mode: p(x, i, j).set(7, mode=m), T, *inside)
case(
    "places written twice",
    lambda x, i: x.at[i].set(jnp.arange(6.0, dtype=x.dtype)),
    numbers(np.float32, 4),
    np.array([1, 2, 1, 1, 9, 2]),
)
for kind in DTYPES:
    case(f"filled {kind.__name__}", lambda x, i: x.at[i].get(mode="fill"), numbers(kind, 4), np.array([-9, 0, 3, 4]))
    case(
        f"scatter {kind.__name__}",
        lambda x, i: (x.at[i].set(x[:3]), x.at[i].max(x[1:]), x.at[i].min(x[1:])),
        numbers(kind, 4),
        np.array([9, 0, 0]),
    )
    if kind != np.bool_:
        case(
            f"scatter-add {kind.__name__}",
            lambda x, i: (x.at[i].add(x[:3]), x.at[i].multiply(x[1:])),
            extremes(kind)[:4],
            np.array([9, 0, 0]),
        )
for kind in WHOLE:
    places = np.array([0, 1, 2, np.iinfo(kind).max, np.iinfo(kind).min], kind)
    for mode in ("clip", "drop"):
        case(
            f"x[{kind.__name__}] {mode}",
            lambda x, i, m=mode: (x.at[i].get(mode=m), x.at[i].add(2, mode=m)),
            numbers(np.float32, 100), places,
        )  # fmt: skip
case(
    "odd numbers that are scattered",
    lambda x, i: (x.at[i].max(x), x.at[i].min(x), x.at[i].add(x)),
    np.array(ODD, np.float32),
    draw(np.int32, len(ODD), low=0, high=9),
)
case(
    "take",
    lambda x, i: [jnp.take(x, i, axis, mode=m) for axis, m in ((None, "clip"), (0, "wrap"), (1, "fill"), (2, "clip"))],
    T[:2],
    PAIR,
)
case(
    "take_along_axis",
    lambda x, i: [jnp.take_along_axis(x, i, 1, mode=m) for m in ("clip", "fill", None)],
    T,
    draw(np.int32, 4, 2, 3, low=-7, high=8),
)
case(
    "gradient of take_along_axis",
    jax.grad(lambda x, i: (jnp.take_along_axis(x, i, 1) ** 2).sum()),
    T,
    draw(np.int32, 4, 2, 3, low=-5, high=5),
)
case(
    "put_along_axis",
    lambda x, i: jnp.put_along_axis(x, i, 8.0, 1, inplace=False),
    T,
    draw(np.int32, 4, 1, 3, low=0, high=5),
)
case(
    "one_hot, diagonal, trace",
    lambda x, i: (jax.nn.one_hot(i, 5), jnp.diagonal(x), jnp.trace(x), jnp.diag(x[:, 0, 0])),
    T,
    PAIR,
)
case(
    "segment_sum",
    lambda x, i: (jax.ops.segment_sum(x, i, 5), jax.ops.segment_max(x, i, 5), jax.ops.segment_prod(x, i, 5)),
    T,
    np.array([0, 3, 3, 9]),
)
case("bincount, cumsum of counts", lambda i: jnp.bincount(i, length=5), np.array([0, 3, 3, 2, 7]))
for mode in ("clip", "fill", None):
    case(
        f"vmap of x[i] {mode}",
        jax.vmap(lambda x, i, m=mode: jnp.take(x, i, 0, mode=m)),
        T,
        draw(np.int32, 4, 2, low=-6, high=7),
    )
    case(
        f"vmap of x[:, i] {mode}",
        jax.vmap(lambda x, i, m=mode: jnp.take(x, i, 1, mode=m), (1, 0), 1),
        T,
        draw(np.int32, 5, 2, low=-6, high=7),
    )
    case(
        f"vmap of vmap of x[i] {mode}",
        jax.vmap(jax.vmap(lambda x, i, m=mode: jnp.take(x, i, 0, mode=m), (None, 0)), (0, None)),
        T,
        draw(np.int32, 2, 2, low=-6, high=7),
    )
    case(
        f"vmap of the gradient of x[i] {mode}",
        jax.vmap(jax.grad(lambda x, i, m=mode: (jnp.take(x, i, 0, mode=m, fill_value=1) ** 2).sum())),
        T,
        draw(np.int32, 4, 2, low=-6, high=7),
    )
    case(
        f"vmap of x[i] += {mode}",
        jax.vmap(lambda x, i, m=mode: x.at[i].add(i, mode=None if m == "fill" else m)),
        numbers(np.float32, 4, 5),
        draw(np.int32, 4, 6, low=-6, high=7),
    )
case("vmap of dynamic_slice", jax.vmap(lambda x, i: lax.dynamic_slice(x, (i, 1), (2, 2))), T, np.array([-1, 0, 3, 9]))
case(
    "vmap of dynamic_update_slice",
    jax.vmap(lambda x, i: lax.dynamic_update_slice(x, x[:2, :2], (i, 1))),
    T,
    np.array([-1, 0, 3, 9]),
)
case(
    "dynamic_slice",
    lambda x, i: [lax.dynamic_slice(x, (i[k], i[0], i[2]), (2, 5, 1)) for k in (0, 3, 4)],
    T,
    np.array([-1, 0, 2, 3, 99], np.int32),
)
case(
    "dynamic_slice of scalars and nothing",
    lambda x, i: (
        lax.dynamic_slice(x[0, 0, 0], (), ()),
        lax.dynamic_slice(x, (i, i, i), (0, 2, 1)),
        lax.dynamic_slice(x[:0], (i, i, i), (0, 2, 1)),
    ),
    T,
    np.int8(1),
)
case(
    "dynamic_slice far out",
    lambda x, i, u: (lax.dynamic_slice(x, (i, i, i), (2, 2, 2)), lax.dynamic_slice(x, (u, u, u), (2, 2, 2))),
    T,
    np.int64(-(2**63)),
    np.uint64(2**64 - 1),
)
case(
    "dynamic_update_slice",
    lambda x, i: [lax.dynamic_update_slice(x, x[:2, 1:, :1] * 2, (i[k], i[0], i[2])) for k in (0, 3, 4)],
    T,
    np.array([-1, 0, 2, 3, 99], np.int32),
)
case(
    "dynamic_update_slice of a scalar",
    lambda x, i: (lax.dynamic_update_slice(x.sum(), x[0, 0, 0] + 1, ()), lax.dynamic_update_slice(x, x[:0], (i, i, i))),
    T,
    np.int8(1),
)
case(
    "scatter into a scalar",
    lambda x, i: (x.sum().at[()].set(3), x.sum()[None].at[i].add(3), x.sum().at[...].add(2)),
    T,
    np.int8(0),
)
case(
    "gradients of dynamic slices",
    jax.grad(
        lambda x, i: (
            (lax.dynamic_slice(x, (i, i, 0), (2, 2, 2)) ** 2).sum()
            + (lax.dynamic_update_slice(x, x[:1] * 2, (i, i, 0)) ** 3).sum()
        )
    ),
    T,
    np.int64(2),
)
case(
    "windows",
    lambda x, i: lax.gather(x, i, lax.GatherDimensionNumbers((0, 2), (1,), (2, 0)), (2, 1, 2), mode="clip"),
    T,
    np.array([[0, 0], [1, 2], [5, 9], [-1, -4]]),
)
case(
    "windows that are filled",
    lambda x, i: lax.gather(
        x, i, lax.GatherDimensionNumbers((1, 2), (1,), (2, 0)), (2, 1, 2), mode="fill", fill_value=-1
    ),
    T,
    np.array([[0, 0], [1, 2], [5, 9], [-1, -4], [2, 1], [1, 3]]),
)
for way in (lax.scatter_add, lax.scatter_mul, lax.scatter_min, lax.scatter_max, lax.scatter_sub):
    for mode in ("clip", "drop"):
        case(
            f"windows into {way.__name__} {mode}",
            lambda x, i, new, w=way, m=mode: w(x, i, new, lax.ScatterDimensionNumbers((0, 2), (1,), (2, 0)), mode=m),
            T, np.array([[0, 0], [1, 2], [5, 9], [-1, -4], [1, 3], [0, 1]]), numbers(np.float32, 2, 6, 2),
        )  # fmt: skip
for name, x, i in (("operand", T[:0], PAIR), ("windows", T[:, :0], PAIR), ("indices", T, PAIR[:0])):
    case(
        f"{name} of nothing",
        lambda x, i: (jnp.take(x, i, 0, mode="clip") if len(x) else x, x.at[i].add(1, mode="drop")),
        x,
        i,
    )
CASES.update(host_factors.CASES | host_spectra.CASES)


@pytest.mark.parametrize("name", CASES)
def test_numpy_computes_what_xla_does(name: str) -> None:
    function, arguments = CASES[name]
    check(function, *arguments)


def test_each_rule_is_tried() -> None:
    """Each of the table's rules is in a case."""
    tried: set[str] = set()
    for function, arguments in CASES.values():
        tried.update(names(traced(function, *arguments).jaxpr))
    assert set(RULES) - tried <= {name for name in NEWER if not hasattr(lax, name)}


@settings(max_examples=60, deadline=None)
@given(st.data(), st.lists(st.integers(1, 5), min_size=1, max_size=2))
def test_any_pad_is_xlas(data: Any, shape: list[int]) -> None:
    edges = st.tuples(st.integers(-7, 7), st.integers(-7, 7), st.integers(0, 3))
    config = [data.draw(edges) for _ in shape]
    spread = [
        low + high + size + (size - 1) * between for (low, high, between), size in zip(config, shape, strict=True)
    ]
    if min(spread) >= 0:
        check(lambda x: lax.pad(x, np.float32(7), config), numbers(np.float32, *shape))


@settings(max_examples=60, deadline=None)
@given(st.data(), st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_any_index_is_numpys(data: Any, shape: list[int]) -> None:
    index = []
    for size in shape:
        kinds = st.one_of(
            st.integers(-size, size - 1),
            st.slices(size),
            st.lists(st.integers(-size, size - 1), min_size=2, max_size=2).map(np.array),
        )
        index.append(data.draw(kinds))
    x = numbers(np.float32, *shape)
    arrays = [i for i in index if isinstance(i, np.ndarray)]

    def picked(x: Any, arrays: Any) -> Any:
        left = iter(arrays)
        return x[tuple(next(left) if isinstance(i, np.ndarray) else i for i in index)]

    assert_array_equal(OnHost(traced(picked, x, arrays))([x, *arrays], [], np.zeros(1))[0], x[tuple(index)])
    check(lambda x, arrays: jax.grad(lambda y: (picked(y, arrays) ** 2).sum())(x), x, arrays)


@settings(max_examples=100, deadline=None)
@given(st.data(), st.lists(st.integers(1, 4), min_size=1, max_size=3), st.sampled_from(["clip", "fill"]))
def test_any_windows_are_xlas(data: Any, shape: list[int], mode: str) -> None:
    axes = range(len(shape))
    roles = [data.draw(st.sampled_from(["paired", "one", "named window", "window"])) for _ in axes]
    paired = tuple(i for i in axes if roles[i] == "paired")
    named = tuple(data.draw(st.permutations([i for i in axes if roles[i] in ("one", "named window")])))
    sizes = [1 if roles[i] in ("paired", "one") else data.draw(st.integers(1, shape[i])) for i in axes]
    more = data.draw(st.lists(st.integers(1, 3), max_size=2))
    batch = [*(shape[i] for i in paired), *more]
    order = data.draw(st.permutations(range(len(batch))))
    windows = sum(role in ("named window", "window") for role in roles)
    offsets = sorted(data.draw(st.permutations(range(windows + len(batch))))[:windows])
    along = tuple(order.index(i) for i in range(len(paired)))
    known = lax.GatherDimensionNumbers(
        tuple(offsets), tuple(i for i in axes if roles[i] == "one"), named, paired, along,
    )  # fmt: skip
    indices = draw(np.int32, *(batch[i] for i in order), len(named), low=-2, high=6, seed=data.draw(st.integers(0, 99)))

    def gathered(x: Any, indices: Any) -> Any:
        return lax.gather(x, indices, known, sizes, mode=mode, fill_value=5)

    check(gathered, numbers(np.float32, *shape), indices)
    check(jax.grad(lambda x, i: (gathered(x, i) ** 2).sum()), numbers(np.float32, *shape), indices)


@pytest.mark.parametrize("kind", [np.float16, jnp.bfloat16, jnp.int4])
def test_dtypes_that_are_not_numpys_are_xlas(kind: Any) -> None:
    with pytest.raises(NotForHost, match="dtype"):
        OnHost(traced(lambda x: x.astype(kind) + x.astype(kind), np.ones(3, np.int8)))


@pytest.mark.parametrize(
    ("function", "shape", "words"),
    [
        (lambda x: jnp.broadcast_to(x, (200, 200)) + x, (1,), "many elements"),
        (lambda x: [x := x + 1 for _ in range(100)], (1,), "many equations"),
        (lambda x: x @ x, (110, 110), "a large product"),
        (jnp.sum, (200, 200), "many elements"),
        (lax.bessel_i0e, (2, 2), "bessel_i0e"),
        (lambda x: jnp.exp(1j * x), (2, 2), "exp of complex numbers"),
        (lax.linalg.cholesky, (20, 2, 2), "many matrices"),
        (lax.linalg.lu, (104, 104), "a large product"),
        (lax.linalg.eigh, (2, 0, 0), "empty matrices"),
        (lax.lgamma, (1000,), "many numbers"),
    ],
)
def test_what_is_much_is_xlas(function: Any, shape: tuple[int, ...], words: str) -> None:
    with pytest.raises(NotForHost, match=words):
        OnHost(traced(function, np.ones(shape, np.float32)))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 0)])
def test_lapack_is_not_asked_about_empty_matrices(shape: tuple[int, ...], capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NotForHost, match="empty matrices"):
        OnHost(traced(jnp.linalg.svd, np.ones(shape, np.float32)))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("function", [jnp.sum, jnp.cumsum, lambda x: lax.cumsum(x, reverse=True), lambda x: x @ x])
def test_sums_begin_with_zero(function: Any) -> None:
    (found,) = OnHost(traced(function, np.full(3, -0.0)))([np.full(3, -0.0)], [], np.zeros(1))
    assert not np.signbit(found).any()


def test_a_loop_of_which_nothing_is_wanted_is_left_out() -> None:
    def function(x: Any) -> Any:
        lax.scan(lambda carry, _: (carry, None), (), None, length=3)
        return x + 1

    assert OnHost(traced(function, np.ones(2)))([np.ones(2)], [], np.zeros(1))[0].tolist() == [2.0, 2.0]


def test_what_nobody_reads_is_not_computed() -> None:
    host = OnHost(traced(lambda x: (jnp.sin(x), x + 1)[1], np.ones(3, np.float32)))
    assert [name for name in host.computed.__globals__ if name.startswith("f")] == ["f0"]


def test_numpy_spreads_what_is_repeated_along_new_axes() -> None:
    x, row, one = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones(3, np.float32), np.float32(2)
    column = np.array([5, 7], np.float32)

    def along_columns(x: Any, column: Any) -> Any:
        return x + jnp.broadcast_to(column[:, None], (2, 3))

    def both(row: Any, column: Any) -> Any:  # of two that are spread one must be whole
        return jnp.broadcast_to(row, (2, 3)) * jnp.broadcast_to(column[:, None], (2, 3))

    def chosen(x: Any, row: Any, one: Any) -> Any:
        return jnp.where(x > row, jnp.broadcast_to(row, (2, 3)), one)

    def read_twice(x: Any, row: Any) -> Any:
        spread = jnp.broadcast_to(row, (2, 3))
        return x - spread, spread, spread.sum(0)

    check(lambda x, row: x + row, x, row)
    check(along_columns, x, column)
    check(both, row, column)
    check(chosen, x, row, one)
    check(read_twice, x, row)
    host = OnHost(traced(lambda x, row: x + row, x, row))
    assert len([name for name in host.computed.__globals__ if name.startswith("f")]) == 2  # a view of the row, the sum


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda x: x <= 0.5, [(7,)]),
        (lambda x: jnp.maximum(jnp.where(x != x, x, 2.0), 0.25) + 1, [(7, 2)]),
        (lambda corner, x: jnp.maximum(corner, x), [(1, 1, 2), (7, 2)]),
        (lambda column, row: column - row, [(7, 1), (5,)]),
    ],
)
def test_numbers_and_axes_that_are_spread_hold_no_size(
    function: Callable[..., Any], shapes: list[tuple[int, ...]]
) -> None:
    host = OnHost(traced(function, *[np.ones(shape, np.float32) for shape in shapes]))
    assert host.is_of_any_size
    for size in (1, 4, 9):
        arrays = [np.linspace(0, 1, math.prod(s), dtype=np.float32).reshape(s)
                  for s in [tuple([size if n == 7 else n for n in shape]) for shape in shapes]]  # fmt: skip
        (found,) = host(arrays, [], np.zeros(1))
        assert_array_equal(found, function(*arrays))


def test_a_constant_with_dimensions_is_of_one_size_also_where_it_has_one_element() -> None:
    assert not OnHost(traced(lambda x: x + jnp.arange(x.shape[0]) + 1, np.ones(1, np.float32))).is_of_any_size
