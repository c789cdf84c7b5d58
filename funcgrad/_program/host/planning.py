"""Which programs numpy runs: small ones on a CPU, in dtypes of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np

from funcgrad._base.config import settings
from funcgrad._program.host.running import PROGRAM, Limits, OnHost
from funcgrad._program.host.table import NotForHost
from funcgrad._program.line import Loop, Step
from funcgrad._program.value import Aval


def is_small(
    line: Sequence[Step | Loop], leaf_avals: Iterable[Aval], limits: Limits = PROGRAM, *, is_here: bool = False
) -> bool:
    """Tell whether a line may be one for numpy, as far as shows without tracing it.

    is_here: whether what it is given is numpy's already, so that an accelerator would have to be given it first.
    """
    if not settings.host or not (is_here or jax.default_backend() == "cpu") or len(line) > limits.equations:
        return False
    steps = [step for step in line if isinstance(step, Step)]
    if len(steps) < len(line) or any(aval.placement is not None for aval in leaf_avals):
        return False
    return sum(math.prod(aval.shape) for step in steps for aval in step.avals) <= limits.elements


def on_host(
    execute: Any, line: Sequence[Step | Loop], leaf_avals: Iterable[Aval], *inputs: Any, limits: Limits = PROGRAM,
    is_here: bool = False,
) -> OnHost | None:  # fmt: skip
    """Return how numpy runs a line; None for one that XLA had better run.

    execute: the jitted function of the line, which keeps what is traced of it here. inputs: what it is given, as
    jax.ShapeDtypeStructs. is_here: as for `is_small`.
    """
    if not is_small(line, leaf_avals, limits, is_here=is_here):
        return None
    with jax.enable_x64(True):
        traced = execute.trace(*inputs)
    try:
        return OnHost(traced.jaxpr, limits)
    except NotForHost:
        return None


def struct_of(known: Aval | None) -> jax.ShapeDtypeStruct:
    """Return the shape and dtype of an array, or of a number that is an input (None)."""
    return jax.ShapeDtypeStruct((), np.dtype(np.float64)) if known is None else known.struct


def struct_of_numbers(count: int) -> jax.ShapeDtypeStruct:
    """Return the shape and dtype of so many numbers that are inputs."""
    return jax.ShapeDtypeStruct((count,), np.dtype(np.float64))
