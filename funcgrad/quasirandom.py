"""torch.quasirandom: Sobol sequences, points that fill the unit cube more evenly than random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import qmc

from funcgrad._base.dtypes import get_default_dtype
from funcgrad._tensor.call import write_out
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.random.functions import randint
from funcgrad.random.generator import Generator

__all__ = ["SobolEngine"]


class SobolEngine:
    """Draws the points of a Sobol sequence one after another; `scramble` permutes and shifts it by random bits.

    dimension: of the cube, 1 to 21201. seed: of the scrambling; without one the default generator is asked.
    Source: Joe and Kuo 2008, https://web.maths.unsw.edu.au/~fkuo/sobol, whose direction numbers SciPy has; Owen 1998.

    >>> SobolEngine(2).draw(3)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500]])
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self._directions = qmc.Sobol(dimension, scramble=False, bits=self.MAXBIT)._sv.astype(np.int64)
        self._shift = np.zeros(dimension, np.int64)
        if scramble:
            self._scramble()
        self.reset()

    def reset(self) -> SobolEngine:
        """Go back to the first point."""
        self._point, self.num_generated = self._shift.copy(), 0
        return self

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """Return the next `n` points. Shape: result (n, dimension)."""
        points = self._advance(n)
        drawn = from_host(points * 2.0**-self.MAXBIT, dtype=get_default_dtype() if dtype is None else dtype)
        return drawn if out is None else write_out(out, drawn)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """Return the next 2^m points. ValueError where the points drawn in all would be no power of two: uneven."""
        count = 2**m
        total = self.num_generated + count
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2: with the "
                f"{self.num_generated} points drawn before, 2**{m} make {total}. 'SobolEngine.draw()' takes any number."
            )
        return self.draw(count, out, dtype)

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out the next `n` points."""
        self._advance(n)
        return self

    def _advance(self, count: int) -> np.ndarray[Any, Any]:
        """Return the next points as integers: in Gray code's order, each differs from the last by one direction."""
        places = np.arange(self.num_generated, self.num_generated + count)
        lowest = np.log2(np.maximum(places & -places, 1)).astype(np.int64)  # of the bits that are set
        steps = self._directions[:, lowest].T
        if count and not self.num_generated:
            steps[0] = 0
        points = np.bitwise_xor.accumulate(np.concatenate([self._point[None], steps]))
        self._point, self.num_generated = points[-1], self.num_generated + count
        return points[1:]

    def _scramble(self) -> None:
        """Multiply the directions, bit by bit, with a random lower triangular matrix, and draw the shift."""
        generator = None if self.seed is None else Generator().manual_seed(self.seed)
        bits = np.arange(self.MAXBIT)
        shift = to_host(randint(2, (self.dimension, self.MAXBIT), generator=generator))
        self._shift = (shift << bits).sum(-1)
        drawn = to_host(randint(2, (self.dimension, self.MAXBIT, self.MAXBIT), generator=generator))
        lower = np.tril(drawn, -1) + np.eye(self.MAXBIT, dtype=np.int64)
        ones = (self._directions[:, None, :] >> bits[::-1, None]) & 1  # (dimension, bit from the highest, direction)
        self._directions = ((lower @ ones % 2) << bits[::-1, None]).sum(1)

    def __repr__(self) -> str:
        options = ", scramble=True" * self.scramble + f", seed={self.seed}" * (self.seed is not None)
        return f"{type(self).__name__}(dimension={self.dimension}{options})"
