"""Box-Muller on blocks of 16 float32 numbers, in every bit as torch's AVX kernel does it; compiled once it pays.

Logarithm, sine and cosine are Cephes's single-precision polynomials (Moshier 1989, netlib.org/cephes), evaluated with
fused multiply-adds in the kernel's order. The same functions are numpy's and JAX's: by numpy some 90 passes over small
arrays, compiled one (decision 31).
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from funcgrad._program.process import has_own_cpu
from funcgrad._program.waiting import on_host
from funcgrad.random.mersenne import Words32

Floats = np.ndarray[Any, np.dtype[np.float32]]

BLOCK = 16
MOST = 1 << 14  # words at once: numpy's temporaries stay in the cache
_f32, _f64 = np.float32, np.float64

_LOG = tuple(map(_f32, (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
    2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)))  # fmt: skip
_LN2_LOW, _LN2_HIGH = _f32(-2.12194440e-4), _f32(0.693359375)
_QUARTER_PI = tuple(map(_f32, (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)))
_COSINE = tuple(map(_f32, (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)))
_SINE = tuple(map(_f32, (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)))


class Compiled:
    """The kernels that are compiled, by how many words they take. A shorter array is filled up to the next.

    One is rented first, as programs are (decision 31): numpy does its work until that took as long as compiling.
    """

    seconds = 0.2  # that a compile takes
    _CALL, _WORD = 150e-6, 40e-9  # seconds of numpy's
    _SIZES = (1 << 10, MOST)

    def __init__(self) -> None:
        self._kernels: dict[int, Any] = {}
        self._spent: dict[int, float] = dict.fromkeys(self._SIZES, 0.0)

    def normals(self, words: Words32) -> Floats:
        """Return standard normal numbers, as many as there are words: at most MOST, and a multiple of BLOCK."""
        count = len(words)
        size = next(size for size in self._SIZES if count <= size)
        if self._spent[size] < self.seconds or not has_own_cpu():
            self._spent[size] += self._CALL + self._WORD * count
            return _normals(np, words)
        if size not in self._kernels:
            self._kernels[size] = _compiled(size)
        if count < size:
            words = np.resize(words, size)
        return on_host(self._kernels[size](words))[:count]


COMPILED = Compiled()


def _compiled(size: int) -> Any:
    # A float32 that is computed in float64 has to be rounded to one, so that no precision may be in excess.
    with jax.enable_x64(True):
        lowered = jax.jit(lambda words: _normals(jnp, words)).lower(jax.ShapeDtypeStruct((size,), np.uint32))
        return lowered.compile({"xla_allow_excess_precision": False})


def _normals(xp: Any, words: Any) -> Any:
    """Return 8 radii times cosines, then 8 times sines, of each 8 words for radii and 8 for angles. xp: numpy or JAX's.

    words: (n,), n a multiple of 16; of each the low 24 bits are a uniform number.
    """
    uniform = ((words & np.uint32(0xFFFFFF)).astype(np.int32).astype(_f32) * _f32(2.0**-24)).reshape(-1, 2, BLOCK // 2)
    radius = xp.sqrt(_f32(-2) * _log(xp, _f32(1) - uniform[:, 0]))
    sine, cosine = _sine_cosine(xp, _f32(2 * math.pi) * uniform[:, 1])
    return xp.stack([radius * cosine, radius * sine], 1).reshape(-1)


def multiply_add(a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c rounded once, as a fused instruction does: a float32 product is exact in float64."""
    return (a.astype(_f64) * b.astype(_f64) + c.astype(_f64)).astype(_f32)


def _polynomial(x: Any, coefficients: tuple[Any, ...]) -> Any:
    result: Any = coefficients[0]
    for coefficient in coefficients[1:]:
        result = multiply_add(result, x, coefficient)
    return result


def _log(xp: Any, x: Any) -> Any:
    bits = x.view(np.int32)
    mantissa = ((bits & 0x007FFFFF) | 0x3F000000).view(_f32)
    is_small = mantissa < _f32(math.sqrt(0.5))
    exponent = ((bits >> 23) - 0x7E - is_small.astype(np.int32)).astype(_f32)
    x = (mantissa - _f32(1)) + xp.where(is_small, mantissa, _f32(0))
    square = x * x
    result = _polynomial(x, _LOG) * x
    result = multiply_add(result, square, exponent * _LN2_LOW)
    result = multiply_add(square, _f32(-0.5), result)
    return multiply_add(exponent, _LN2_HIGH, x + result)


def _sine_cosine(xp: Any, x: Any) -> tuple[Any, Any]:
    """Return sin(x), cos(x) for x >= 0, from the octant of x and what is left of x there."""
    octant = ((x * _f32(4 / math.pi)).astype(np.int32) + 1) & ~1
    turns = octant.astype(_f32)
    for part in _QUARTER_PI:
        x = multiply_add(turns, part, x)
    square = x * x
    cosine = _polynomial(square, _COSINE) * square
    cosine = multiply_add(cosine, square, square * _f32(-0.5)) + _f32(1)
    sine = multiply_add(_polynomial(square, _SINE) * square, x, x)
    is_even = (octant & 2) == 0
    sine, cosine = xp.where(is_even, sine, cosine), xp.where(is_even, cosine, sine)
    return _with_sign(sine, octant & 4), _with_sign(cosine, ~(octant - 2) & 4)


def _with_sign(x: Any, is_turned: Any) -> Any:
    """Turn the sign round where the bit of 4 is set."""
    return (x.view(np.int32) ^ (is_turned << 29)).view(_f32)
