"""The random numbers of transforms: torch's own stream, drawn in torchvision's order; in a loader's worker, its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.devices import device as Device
from funcgrad._tensor.interop import from_host, to_host
from funcgrad.random import draw
from funcgrad.random.generator import Generator, default_generator
from funcgrad.utils.data.worker_info import get_worker_info

_CPU = Device("cpu")


def _generator() -> Generator:
    here = get_worker_info()
    sources = getattr(here, "rng", None)
    return default_generator if sources is None else sources.torch_generator


def _drawn(sampler: draw.Sampler, count: int, kind: Any, *numbers: Any) -> np.ndarray[Any, Any]:
    generator = _generator()
    if generator.stream is not None:
        return np.asarray(sampler.host(generator.stream, count, kind.numpy, *numbers))
    return to_host(draw.draw(sampler, generator, (count,), kind, numbers, _CPU))


def uniform(low: float = 0.0, high: float = 1.0) -> float:
    """Draw one float32 from [low, high)."""
    return float(_drawn(draw.UNIFORM, 1, dtypes.float32, float(low), float(high))[0])


def log_uniform(low: float, high: float) -> float:
    """Draw one float32 whose logarithm is uniform between those of the bounds."""
    start, end = np.log(np.array([low, high], np.float32))
    return float(np.exp(np.float32(uniform(float(start), float(end)))))


def integer(high: int, low: int = 0) -> int:
    """Draw one integer from low ... high - 1."""
    return int(_drawn(draw.INTEGERS, 1, dtypes.int64, int(low), int(high))[0])


def permutation(count: int) -> list[int]:
    """Draw an order of 0 ... count - 1."""
    return _drawn(draw.PERMUTATION, count, dtypes.int64).tolist()


def normals(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Draw float32 numbers from N(0, 1)."""
    count = int(np.prod(shape))
    return _drawn(draw.NORMAL, count, dtypes.float32, 0.0, 1.0).reshape(shape)


def place(probabilities: Sequence[float]) -> int:
    """Draw a place, each with its probability."""
    weights = from_host(np.array(probabilities, np.float32))
    return int(draw.multinomial(weights, 1, False, _generator()).item())


def symmetric_beta(alpha: float) -> float:
    """Draw from Beta(alpha, alpha)."""
    both = from_host(np.full(2, alpha, np.float32))
    return float(draw.draw_each(draw.DIRICHLET, _generator(), [both], None)[0].item())


def mark() -> Any:
    """Return where the stream stands, for `rewind`; None where a key is drawn from, which does not go back."""
    stream = _generator().stream
    return None if stream is None else stream.state_bytes()


def rewind(start: Any) -> None:
    """Draw the same numbers again as after `mark`."""
    stream = _generator().stream
    if stream is not None:
        stream.set_state_bytes(start)
