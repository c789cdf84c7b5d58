"""What programs run on."""

from __future__ import annotations

import jax
from jax import lax


def on_cpu() -> bool:
    """Tell whether programs run on the CPU."""
    return jax.default_backend() == "cpu"


class Convolutions:
    """Whether an accelerator may round what it convolves to TF32: torch lets it, unlike in products of matrices."""

    may_round = True

    @classmethod
    def precision(cls) -> lax.Precision:
        """Return what XLA is told of a convolution on an accelerator."""
        return lax.Precision.DEFAULT if cls.may_round else lax.Precision.HIGHEST
