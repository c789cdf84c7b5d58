"""The Mersenne Twister as torch's CPU generator runs it: one stream of 32-bit numbers, its seeding, its state in bytes.

numpy's MT19937 is the same engine with the same legacy seeding; what is torch's own is how draws are put together
(low bits, high word first), the second normal that waits for the next call, and the 5056 bytes of a saved state.
"""

from __future__ import annotations

import struct
import threading
from typing import Any

import numpy as np

Words32 = np.ndarray[Any, np.dtype[np.uint32]]
Words64 = np.ndarray[Any, np.dtype[np.uint64]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]

DEFAULT_SEED = 67280421310721
_WORDS = 624
_ALL32, _ALL64 = 2**32 - 1, 2**64 - 1
_HALF = np.uint64(32)
_FEW = 256  # words; of fewer the raw ones are quicker: numpy's `integers` begins with checks
_LOW53, _STEP53 = np.uint64((1 << 53) - 1), 2.0**-53
# initial seed; words left, seeded; next word; 624 words (8 bytes each); normal x, y, rho, valid; float normal, valid
_STATE = struct.Struct(f"<QiiQ{8 * _WORDS}sdddi4xf?3x")
STATE_BYTES = _STATE.size


class MersenneTwister:
    """A stream of random words. Hold `lock` around draws that belong together."""

    __slots__ = ("_bits", "_draw", "lock", "next_float_normal", "next_normal", "seed")
    seed: int
    next_normal: float | None
    next_float_normal: float | None

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self._bits = np.random.MT19937(0)
        self._draw = np.random.Generator(self._bits).integers
        self.lock = threading.RLock()
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Start anew from `seed`: all 64 bits are remembered, the low 32 start the stream."""
        self.seed = seed & _ALL64
        self._bits._legacy_seeding(self.seed & _ALL32)  # init_genrand, Matsumoto and Nishimura 2002
        self.next_normal = self.next_float_normal = None

    def words32(self, count: int) -> Words32:
        """Draw `count` words of 32 bits."""
        if count <= _FEW:
            return self._bits.random_raw(count).astype(np.uint32)
        return self._draw(0, _ALL32, count, np.uint32, True)

    def words64(self, count: int) -> Words64:
        """Draw `count` words of 64 bits: two words of 32, the high one first."""
        if count <= _FEW:
            words = self._bits.random_raw(2 * count)
            return (words[::2] << _HALF) | words[1::2]
        return self._draw(0, _ALL64, count, np.uint64, True)

    def doubles(self, count: int) -> Doubles:
        """Draw `count` doubles in [0, 1): the low 53 bits of a 64-bit word."""
        words = self.words64(count)
        words &= _LOW53
        return np.multiply(words.view(np.int64), _STEP53, dtype=np.float64)  # int64 converts faster than uint64

    def below(self, count: int, probability: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Draw `count` doubles and tell which are less than `probability`, without making the doubles."""
        words = self.words64(count)
        words &= _LOW53
        return words < np.uint64(_ceil_scaled(probability))

    def skip(self, words: int) -> None:
        """Draw `words` words of 32 bits and forget them."""
        self._bits.random_raw(words, output=False)

    def mark(self) -> Any:
        """Return where the stream stands, for `rewind`."""
        return self._bits.state

    def rewind(self, mark: Any) -> None:
        """Go back to where the stream stood; a waiting second normal stays."""
        self._bits.state = mark

    def state_bytes(self) -> bytes:
        """Return the state as the bytes that torch's `get_state` gives."""
        held = self._bits.state["state"]
        key, position = held["key"], held["pos"]
        # Right after seeding torch has one word left and reads from 0, after a whole block one left and reads from 624.
        is_fresh = position == _WORDS and int(key[0]) == self.seed & _ALL32
        normal, float_normal = self.next_normal, self.next_float_normal
        return _STATE.pack(
            self.seed, _WORDS - position + 1, 1, 0 if is_fresh else position, key.astype("<u8").tobytes(),
            0.0, normal or 0.0, 0.0, normal is not None, float_normal or 0.0, float_normal is not None,
        )  # fmt: skip

    def set_state_bytes(self, state: bytes) -> None:
        """Take up a state that `state_bytes` (or torch) gave; RuntimeError where the bytes are no such state."""
        if len(state) != STATE_BYTES:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG state size to be "
                f"{len(state)}"
            )
        seed, left, seeded, position, words, _, normal, _, has_normal, float_normal, has_float = _STATE.unpack(state)
        if not (seeded and 1 <= left <= _WORDS and 0 <= position <= _WORDS):
            raise RuntimeError("RNG state is invalid: these bytes are no state of torch's CPU generator")
        key = np.frombuffer(words, "<u8").astype(np.uint32)
        self._bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": _WORDS - left + 1}}
        self.seed = seed
        self.next_normal = normal if has_normal else None
        self.next_float_normal = float_normal if has_float else None


def _ceil_scaled(probability: float) -> int:
    """Return the least integer k with k / 2^53 >= probability, so that (word / 2^53 < p) is (word < k)."""
    scaled = probability * 2.0**53  # exact: a power of two
    whole = int(scaled)
    return whole + (whole < scaled)
