"""How torch's CPU kernels turn the stream's words into samples: one function per distribution, arrays out.

Every function takes the stream, the number of samples and their numpy dtype, draws what torch draws, in torch's order,
and returns a flat array. Arguments are trusted: `methods` and `functions` check them. Checked on an AMD processor; if
torch hands `bernoulli_` and `exponential_` to MKL (Intel processors), torch's numbers for these two, and
for dropout and multinomial that rest on them, are others.
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from funcgrad.random import normal
from funcgrad.random.mersenne import Doubles, MersenneTwister, Words32, Words64

Samples = np.ndarray[Any, Any]
Integers = np.ndarray[Any, np.dtype[np.int64]]
DType = np.dtype[Any]

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_CHUNK = 1 << 14  # numbers made at once: their temporaries stay in the cache
_WIDE_RANGE = 1 << 28  # from here on torch takes a 64-bit word for each integer
_SMALL_PERMUTATION = 2000  # up to here a Python loop is faster than arrays
_WIDE_PERMUTATION = (2**32 - 1) // 20  # likewise for each swap
_DIGITS = {np.dtype(np.float16): 11, np.dtype(ml_dtypes.bfloat16): 8, _F32: 24, _F64: 53}


def largest_integer(kind: DType) -> int:
    """Return the largest integer that `random_` without bounds draws: a float's mantissa is used up to 2^digits."""
    if kind in _DIGITS:
        return 1 << _DIGITS[kind]
    return 1 if kind.kind == "b" else int(np.iinfo(kind).max)


def smallest_integer(kind: DType) -> int:
    """Return the smallest integer that `kind` holds exactly, as torch counts it."""
    if kind in _DIGITS:
        return -(1 << _DIGITS[kind])
    return 0 if kind.kind == "b" else int(np.iinfo(kind).min)


def uniform(stream: MersenneTwister, count: int, kind: DType, low: float = 0.0, high: float = 1.0) -> Samples:
    """Draw from [low, high). Complex numbers are two draws each, the real part first."""
    if kind.kind == "c":
        return uniform(stream, 2 * count, _part(kind), low, high).view(kind)
    if kind == _F64:
        made: Samples = stream.doubles(count)
        if (low, high) != (0.0, 1.0):
            made = _fused_float64(made, high - low, low)
            made[made == high] = low
        return made
    made = np.empty(count, kind)
    for start in range(0, count, _CHUNK):
        part = made[start : start + _CHUNK]
        part[:] = _uniform_of_24_bits(stream, len(part), kind, low, high)
    return made


def _uniform_of_24_bits(stream: MersenneTwister, count: int, kind: DType, low: float, high: float) -> Samples:
    made = low24(stream, count) * np.float32(2.0**-24)
    low32, high32 = np.float32(low), np.float32(high)
    if (low, high) != (0.0, 1.0):
        made = (np.multiply(made, high32 - low32, dtype=_F64) + low32).astype(_F32)
    elif kind == _F32:
        return made
    made = made.astype(kind, copy=False)
    made[made == high32.astype(kind)] = low32.astype(kind)  # rounding may reach what the interval excludes
    return made


def normals(stream: MersenneTwister, count: int, kind: DType, mean: float = 0.0, std: float = 1.0) -> Samples:
    """Draw from N(mean, std^2). Each part of a complex number has mean `mean` and half the variance."""
    if kind.kind == "c":
        return normals(stream, 2 * count, _part(kind), mean, std / math.sqrt(2.0)).view(kind)
    if kind == _F64:
        return normal.normal_float64(stream, count, mean, std)
    return normal.normal_float32(stream, count, mean, std, kind.itemsize == 2).astype(kind, copy=False)


def single_normals(stream: MersenneTwister, count: int, kind: DType, mean: float = 0.0, std: float = 1.0) -> Samples:
    """Draw from N(mean, std^2) one by one, as into a tensor whose elements do not lie in storage in their order."""
    if kind.kind == "c":
        return single_normals(stream, 2 * count, _part(kind), mean, std / math.sqrt(2.0)).view(kind)
    return rounded(normal.normal_pairs(stream, count) * std + mean, kind)


def log_normal(stream: MersenneTwister, count: int, kind: DType, mean: float = 1.0, std: float = 2.0) -> Samples:
    """Draw exp(x), x from N(mean, std^2)."""
    return rounded(np.exp(normal.normal_pairs(stream, count) * std + mean), kind)


def integers(stream: MersenneTwister, count: int, kind: DType, low: int, high: int) -> Samples:
    """Draw from low ... high - 1: a word modulo the range."""
    span = high - low
    if span >> 64:
        return stream.words64(count).astype(kind)
    if span >= _WIDE_RANGE:
        drawn: Words32 | Words64 = stream.words64(count) % np.uint64(span)
    else:
        drawn = stream.words32(count) % np.uint32(span)
    return (drawn.astype(np.int64) + np.int64(low)).astype(kind)


def integers_of_dtype(stream: MersenneTwister, count: int, kind: DType) -> Samples:
    """Draw from all that `kind` can hold from 0 on; floats up to 2^digits."""
    if kind in (np.int64, np.uint64, np.float64):
        return (stream.words64(count) % np.uint64(largest_integer(kind) + 1)).astype(kind)
    return (stream.words32(count) % np.uint64(largest_integer(kind) + 1)).astype(kind)


def permutation(stream: MersenneTwister, count: int, kind: DType) -> Samples:
    """Shuffle 0 ... count - 1: place i is swapped with place i + (word modulo what is left), i = 0, 1, ..."""
    if count < 2:
        return np.arange(count).astype(kind)
    is_wide = count >= _WIDE_PERMUTATION
    words: Words32 | Words64 = stream.words64(count - 1) if is_wide else stream.words32(count - 1)
    left = np.arange(count, 1, -1, dtype=words.dtype)
    partners = (words % left).astype(np.int64)
    partners += np.arange(count - 1)
    shuffled = _shuffled_in_order if count < _SMALL_PERMUTATION else _shuffled_at_once
    return shuffled(partners).astype(kind, copy=False)


def _shuffled_in_order(partners: Integers) -> Integers:
    shuffled = list(range(len(partners) + 1))
    for place, partner in enumerate(partners.tolist()):
        shuffled[place], shuffled[partner] = shuffled[partner], shuffled[place]
    return np.array(shuffled, np.int64)


def _shuffled_at_once(partners: Integers) -> Integers:
    """Do all swaps with a few array operations (`python -m timeit -s "import funcgrad" "funcgrad.randperm(1000000)"`).

    Place p keeps p until the first swap (i, p), which puts there what place i held at turn i. So what place i holds at
    its turn is what place `last[i]` held at its own, and so on down to a place that nobody had swapped before.
    """
    count = len(partners) + 1
    shift = count.bit_length()
    by_partner = np.sort((partners << shift) | np.arange(count - 1))
    turns, places = by_partner & ((1 << shift) - 1), by_partner >> shift
    is_repeated = np.append(False, places[1:] == places[:-1])
    previous = np.where(is_repeated, np.append(0, turns[:-1]), -1)  # the turn before that swapped the same place
    last = np.arange(count)
    others = turns != places
    last[places[others]] = turns[others]  # of equal places the last one, as numpy promises
    while not np.array_equal(further := last[last], last):
        last = further
    shuffled = np.empty(count, np.int64)
    shuffled[turns] = np.where(is_repeated, last[previous], places)
    own = turns == places
    shuffled[turns[own]] = last[turns[own]]
    shuffled[-1] = last[-1]
    return shuffled


def bernoulli(stream: MersenneTwister, count: int, kind: DType, p: float = 0.5) -> Samples:
    """Draw 1 where a double is less than p, else 0."""
    return stream.below(count, p).astype(kind, copy=False)


def uniforms_against(stream: MersenneTwister, count: int, kind: DType) -> Samples:
    """Draw what probabilities of this dtype are compared with: 53 bits for float64, else 24 bits as float32."""
    if kind == _F64:
        return stream.doubles(count)
    return low24(stream, count) * np.float32(2.0**-24)


def exponential(stream: MersenneTwister, count: int, kind: DType, rate: float = 1.0) -> Samples:
    """Draw -log(1 - u) / rate."""
    return rounded((-1.0 / rate) * np.log1p(-stream.doubles(count)), kind)


def cauchy(stream: MersenneTwister, count: int, kind: DType, median: float = 0.0, sigma: float = 1.0) -> Samples:
    """Draw median + sigma tan(pi (u - 1/2))."""
    return rounded(median + sigma * np.tan(math.pi * (stream.doubles(count) - 0.5)), kind)


def geometric(stream: MersenneTwister, count: int, kind: DType, p: float) -> Samples:
    """Draw ceil(log(u) / log(1 - p)): how many trials until the first success."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.ceil(np.log(stream.doubles(count)) / math.log1p(-p)).astype(kind)


def low24(stream: MersenneTwister, count: int) -> normal.Floats:
    """Draw the low 24 bits of `count` words, as float32."""
    words = stream.words32(count)
    words &= np.uint32(0xFFFFFF)
    return words.view(np.int32).astype(_F32)


def rounded(samples: Doubles, kind: DType) -> Samples:
    """Return doubles as `kind`; 16-bit floats are rounded by way of float32, as torch does."""
    with np.errstate(over="ignore"):
        return (samples.astype(_F32) if kind.itemsize == 2 and kind.kind != "i" else samples).astype(kind, copy=False)


def _part(kind: DType) -> DType:
    return _F64 if kind.itemsize == 16 else _F32


def _fused_float64(x: Doubles, scale: float, shift: float) -> Doubles:
    """Return x * scale + shift rounded once: the product's own error (Dekker 1971) is added back to the sum's."""
    product = x * scale
    x_high, scale_high = _upper_half(x), float(_upper_half(np.float64(scale)))
    x_low, scale_low = x - x_high, scale - scale_high
    lost = ((x_high * scale_high - product) + x_high * scale_low + x_low * scale_high) + x_low * scale_low
    total = product + shift
    kept = total - product
    return total + (((product - (total - kept)) + (shift - kept)) + lost)


def _upper_half(x: Any) -> Any:
    scaled = x * 134217729.0  # 2^27 + 1
    return scaled - (scaled - x)
