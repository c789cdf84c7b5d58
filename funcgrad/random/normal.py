"""Normal numbers as torch's CPU kernels make them: Box-Muller on blocks of 16, or in pairs of doubles.

16 or more numbers in a row are made in blocks: 8 radii, 8 angles; 8 cosines, then 8 sines. Where 16 does not divide the
count, the last 16 are drawn again as a block of their own. Fewer than 16 are made one by one from doubles; of each pair
the second waits for the next call.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad.random.mersenne import Doubles, MersenneTwister

Floats = np.ndarray[Any, np.dtype[np.float32]]

BLOCK = 16
_CHUNK = 1 << 13  # pairs made at once: their temporaries stay in the cache
_f32, _f64 = np.float32, np.float64


def normal_float32(
    stream: MersenneTwister, count: int, mean: float = 0.0, std: float = 1.0, is_half: bool = False
) -> Floats:
    """Draw `count` float32 numbers from N(mean, std^2); those that become 16-bit floats waste no words on the rest."""
    if count < BLOCK:
        return (normal_pairs(stream, count) * std + mean).astype(_f32)
    made = np.empty(count, _f32)
    whole = count - count % BLOCK
    for start in range(0, whole, 2 * _CHUNK):
        stop = min(start + 2 * _CHUNK, whole)
        made[start:stop] = _scaled(_blocks_float32(stream, stop - start), mean, std)
    if whole < count:
        if not is_half:
            stream.skip(count - whole)  # torch fills the whole array with uniforms first
        made[count - BLOCK :] = _scaled(_blocks_float32(stream, BLOCK), mean, std)
    return made


def _scaled(made: Floats, mean: float, std: float) -> Floats:
    return _multiply_add(made, _f32(std), _f32(mean)) if (mean, std) != (0.0, 1.0) else made


def normal_float64(stream: MersenneTwister, count: int, mean: float = 0.0, std: float = 1.0) -> Doubles:
    """Draw `count` float64 numbers from N(mean, std^2)."""
    if count < BLOCK:
        return normal_pairs(stream, count) * std + mean
    made = np.empty(count, _f64)
    whole = count - count % BLOCK
    for start in range(0, whole, 2 * _CHUNK):
        stop = min(start + 2 * _CHUNK, whole)
        made[start:stop] = _blocks_float64(stream, stop - start)
    if whole < count:
        stream.skip(2 * (count - whole))
        made[count - BLOCK :] = _blocks_float64(stream, BLOCK)
    return made if (mean, std) == (0.0, 1.0) else made * std + mean


def normal_pairs(stream: MersenneTwister, count: int) -> Doubles:
    """Draw `count` standard normal doubles in pairs: r cos, r sin, with r = sqrt(-2 log(1 - u2)), angle 2 pi u1."""
    made = np.empty(count, _f64)
    filled = 0
    if count and stream.next_normal is not None:
        made[0], stream.next_normal, filled = stream.next_normal, None, 1
    missing = count - filled
    uniform = stream.doubles(2 * ((missing + 1) // 2))
    radius = np.sqrt(-2.0 * np.log1p(-uniform[1::2]))
    angle = (2.0 * math.pi) * uniform[::2]
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)
    made[filled:] = pairs[:missing]
    if missing % 2:
        stream.next_normal = float(pairs[-1])
    return made


def _blocks_float64(stream: MersenneTwister, count: int) -> Doubles:
    uniform = stream.doubles(count).reshape(-1, 2, BLOCK // 2)
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform[:, 0]))
    angle = (2.0 * math.pi) * uniform[:, 1]
    made = np.empty_like(uniform)
    np.multiply(radius, np.cos(angle), out=made[:, 0])
    np.multiply(radius, np.sin(angle), out=made[:, 1])
    return made.reshape(-1)


def _blocks_float32(stream: MersenneTwister, count: int) -> Floats:
    words = stream.words32(count)
    words &= np.uint32(0xFFFFFF)
    uniform = (words.view(np.int32).astype(_f32) * _f32(2.0**-24)).reshape(-1, 2, BLOCK // 2)
    radius = np.sqrt(_f32(-2) * _log(_f32(1) - uniform[:, 0]))
    sine, cosine = _sine_cosine(_f32(2 * math.pi) * uniform[:, 1])
    made = np.empty_like(uniform)
    np.multiply(radius, cosine, out=made[:, 0])
    np.multiply(radius, sine, out=made[:, 1])
    return made.reshape(-1)


def _multiply_add(a: Any, b: Any, c: Any) -> Floats:
    """Return a * b + c rounded once, as a fused instruction does: a float32 product is exact in float64."""
    return (np.multiply(a, b, dtype=_f64) + c).astype(_f32)


# Logarithm, sine and cosine are Cephes's single-precision polynomials (Moshier 1989, netlib.org/cephes), evaluated with
# fused multiply-adds in the order in which torch's AVX kernel does it: the numbers equal torch's in every bit.
_LOG = tuple(map(_f32, (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
    2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)))  # fmt: skip
_LN2_LOW, _LN2_HIGH = _f32(-2.12194440e-4), _f32(0.693359375)
_QUARTER_PI = tuple(map(_f32, (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)))
_COSINE = tuple(map(_f32, (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)))
_SINE = tuple(map(_f32, (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)))


def _polynomial(x: Floats, coefficients: tuple[Any, ...]) -> Floats:
    result: Any = coefficients[0]
    for coefficient in coefficients[1:]:
        result = _multiply_add(result, x, coefficient)
    return result


def _log(x: Floats) -> Floats:
    bits = x.view(np.int32)
    mantissa = ((bits & 0x007FFFFF) | 0x3F000000).view(_f32)
    is_small = mantissa < _f32(math.sqrt(0.5))
    exponent = ((bits >> 23) - 0x7E - is_small).astype(_f32)
    x = (mantissa - _f32(1)) + np.where(is_small, mantissa, _f32(0))
    square = x * x
    result = _polynomial(x, _LOG) * x
    result = _multiply_add(result, square, exponent * _LN2_LOW)
    result = _multiply_add(square, _f32(-0.5), result)
    return _multiply_add(exponent, _LN2_HIGH, x + result)


def _sine_cosine(x: Floats) -> tuple[Floats, Floats]:
    """Return sin(x), cos(x) for x >= 0, from the octant of x and what is left of x there."""
    octant = ((x * _f32(4 / math.pi)).astype(np.int32) + 1) & ~1
    turns = octant.astype(_f32)
    for part in _QUARTER_PI:
        x = _multiply_add(turns, part, x)
    square = x * x
    cosine = _polynomial(square, _COSINE) * square
    cosine = _multiply_add(cosine, square, square * _f32(-0.5)) + _f32(1)
    sine = _multiply_add(_polynomial(square, _SINE) * square, x, x)
    is_even = (octant & 2) == 0
    sine, cosine = np.where(is_even, sine, cosine), np.where(is_even, cosine, sine)
    sine.view(np.uint32)[...] ^= ((octant & 4) << 29).view(np.uint32)
    cosine.view(np.uint32)[...] ^= ((~(octant - 2) & 4) << 29).view(np.uint32)
    return sine, cosine
