"""What is asked of XLA beyond its defaults for some executables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax

from funcgrad._program.line import Loop, Step, avals_of

_MOST_DIMENSIONS = 6
# Sums and what they are of go to a library, which writes past its memory where an array has more dimensions than that:
# (x * y[..., None, None]).sum(4) of x (2, 12, 11, 10, 2, 2, 2) ends the process (jax 0.10.2). Its products are safe.
_SUMS_BY_XLA = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_DOT"}


def options_for(line: Iterable[Step | Loop]) -> dict[str, Any]:
    """Return jax.jit's `compiler_options` for a line."""
    has_many = jax.default_backend() == "cpu" and any(len(a.shape) > _MOST_DIMENSIONS for a in avals_of(line))
    return _SUMS_BY_XLA if has_many else {}
