"""Which programs numpy runs: small ones on a CPU, in dtypes of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np

from funcgrad._base.config import settings
from funcgrad._program.host.running import ELEMENTS, EQUATIONS, OnHost
from funcgrad._program.host.table import NotForHost
from funcgrad._program.line import Loop, Step
from funcgrad._program.value import Aval
from funcgrad._program.whole import Whole

_NUMBER = np.dtype(np.float64)


def is_small(line: Sequence[Step | Loop], leaf_avals: Iterable[Aval]) -> bool:
    """Tell whether a line may be one for numpy, as far as shows without tracing it."""
    if not settings.host or jax.default_backend() != "cpu" or len(line) > EQUATIONS:
        return False
    steps = [step for step in line if isinstance(step, Step)]
    if len(steps) < len(line) or any(aval.placement is not None for aval in leaf_avals):
        return False
    return sum(math.prod(aval.shape) for step in steps for aval in step.avals) <= ELEMENTS


def on_host(execute: Any, whole: Whole, leaf_avals: Sequence[Aval], numbers: int) -> OnHost | None:
    """Return how numpy runs a line; None for one that XLA had better run.

    execute: the jitted function of the line, which keeps what is traced of it here. numbers: how many it is given.
    """
    if not is_small(whole.line, leaf_avals):
        return None
    given, kept = ([leaf_avals[i].struct for i in leaves] for leaves in (whole.given, whole.kept))
    return _found(execute, given, kept, jax.ShapeDtypeStruct((numbers,), _NUMBER))


def step_on_host(execute: Any, step: Step, given: Sequence[Aval | None]) -> OnHost | None:
    """Return how numpy runs one instruction. execute: its jitted function. given: what is known of its arrays."""
    arrays = [aval for aval in given if aval is not None]
    if not is_small([step], arrays):
        return None
    return _found(execute, [jax.ShapeDtypeStruct((), _NUMBER) if aval is None else aval.struct for aval in given])


def _found(execute: Any, *inputs: Any) -> OnHost | None:
    with jax.enable_x64(True):
        traced = execute.trace(*inputs)
    try:
        return OnHost(traced.jaxpr)
    except NotForHost:
        return None
