"""Normal numbers as torch's CPU kernels make them: Box-Muller on blocks of 16, or in pairs of doubles.

16 or more numbers in a row are made in blocks: 8 radii, 8 angles; 8 cosines, then 8 sines. Where 16 does not divide the
count, the last 16 are drawn again as a block of their own. Fewer than 16 are made one by one from doubles; of each pair
the second waits for the next call.
"""

from __future__ import annotations

import math

import numpy as np

from funcgrad.random.box_muller import BLOCK, COMPILED, MOST, Floats, multiply_add
from funcgrad.random.mersenne import Doubles, MersenneTwister

_f32, _f64 = np.float32, np.float64
_CHUNK = MOST - BLOCK  # words that are drawn at once; the block for the last 16 numbers may come to them


def normal_float32(
    stream: MersenneTwister, count: int, mean: float = 0.0, std: float = 1.0, is_half: bool = False
) -> Floats:
    """Draw `count` float32 numbers from N(mean, std^2); those that become 16-bit floats waste no words on the rest."""
    if count < BLOCK:
        return (normal_pairs(stream, count) * std + mean).astype(_f32)
    scale, shift = _f32(std), _f32(mean)
    whole = count - count % BLOCK
    made = np.empty(count if whole == count else whole + BLOCK, _f32)
    for start in range(0, whole, _CHUNK):
        words = stream.words32(min(_CHUNK, whole - start))
        if start + _CHUNK >= whole and whole < count:
            if not is_half:
                stream.skip(count - whole)  # torch fills the whole array with uniforms first
            words = np.concatenate([words, stream.words32(BLOCK)])
        part = COMPILED.normals(words)
        made[start : start + len(words)] = part if (mean, std) == (0.0, 1.0) else multiply_add(part, scale, shift)
    if whole < count:
        made[count - BLOCK : count] = made[whole:].copy()
    return made[:count]


def normal_float64(stream: MersenneTwister, count: int, mean: float = 0.0, std: float = 1.0) -> Doubles:
    """Draw `count` float64 numbers from N(mean, std^2)."""
    if count < BLOCK:
        return normal_pairs(stream, count) * std + mean
    made = np.empty(count, _f64)
    whole = count - count % BLOCK
    for start in range(0, whole, _CHUNK):
        stop = min(start + _CHUNK, whole)
        made[start:stop] = _blocks_float64(stream, stop - start)
    if whole < count:
        stream.skip(2 * (count - whole))
        made[count - BLOCK :] = _blocks_float64(stream, BLOCK)
    return made if (mean, std) == (0.0, 1.0) else made * std + mean


def normal_pairs(stream: MersenneTwister, count: int) -> Doubles:
    """Draw `count` standard normal doubles in pairs: r cos, r sin, with r = sqrt(-2 log(1 - u2)), angle 2 pi u1."""
    made: list[float] = []
    if count and stream.next_normal is not None:
        made, stream.next_normal = [stream.next_normal], None
    uniform = stream.doubles(2 * ((count - len(made) + 1) // 2)).tolist()
    for turn, u in zip(uniform[::2], uniform[1::2], strict=True):
        radius, angle = math.sqrt(-2.0 * math.log1p(-u)), (2.0 * math.pi) * turn
        made += (radius * math.cos(angle), radius * math.sin(angle))
    if len(made) > count:
        stream.next_normal = made.pop()
    return np.array(made, _f64)


def _blocks_float64(stream: MersenneTwister, count: int) -> Doubles:
    uniform = stream.doubles(count).reshape(-1, 2, BLOCK // 2)
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform[:, 0]))
    angle = (2.0 * math.pi) * uniform[:, 1]
    made = np.empty_like(uniform)
    np.multiply(radius, np.cos(angle), out=made[:, 0])
    np.multiply(radius, np.sin(angle), out=made[:, 1])
    return made.reshape(-1)
