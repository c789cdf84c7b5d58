"""Which worker of a DataLoader runs some code: what it tells the samples and the functions that join them."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from funcgrad.random.generator import Generator


class RandomState(NamedTuple):
    """A thread worker's own random sources, since the global ones belong to every thread."""

    random_generator: random.Random
    torch_generator: Generator
    numpy_generator: np.random.Generator


@dataclass(frozen=True)
class WorkerInfo:
    """What `get_worker_info` tells: which worker this is, of how many, its seed, and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: RandomState | None = None
    worker_method: str = "thread"


here = threading.local()


def get_worker_info() -> WorkerInfo | None:
    """Return which worker of a DataLoader runs this code, or None outside of one."""
    return getattr(here, "info", None)
