"""What samplers draw from a generator. Without one it is the CPU's default generator, as in torch, wherever data go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._base import dtypes
from funcgrad._base.devices import device as Device
from funcgrad._tensor.interop import to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.random import draw
from funcgrad.random.functions import multinomial
from funcgrad.random.generator import Generator, manual_seed

_CPU = Device("cpu")


def seed(generator: Generator | None = None) -> int:
    """Draw a seed: one integer of 63 bits."""
    return _drawn(draw.INTEGERS_OF_DTYPE, generator, 1)[0]


def seeded(number: int) -> Generator:
    """Return a new generator that starts from `number`."""
    return Generator().manual_seed(number)


def seed_default(number: int) -> None:
    """Start the default generator from `number`."""
    manual_seed(number)


def permutation(count: int, generator: Generator | None) -> list[int]:
    """Draw an order of 0 ... count - 1."""
    return _drawn(draw.PERMUTATION, generator, count)


def integers(high: int, count: int, generator: Generator | None) -> list[int]:
    """Draw `count` integers from 0 ... high - 1."""
    return _drawn(draw.INTEGERS, generator, count, 0, high)


def choices(weights: Tensor, count: int, replacement: bool, generator: Generator | None) -> Sequence[int]:
    """Draw `count` indices, each as likely as its weight."""
    return to_host(multinomial(weights, count, replacement, generator=generator)).tolist()


def _drawn(sampler: draw.Sampler, generator: Generator | None, count: int, *numbers: Any) -> list[int]:
    return to_host(draw.draw(sampler, generator, (count,), dtypes.int64, numbers, _CPU)).tolist()
