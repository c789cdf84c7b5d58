"""torch.quantization: the older name of `torch.ao.quantization`."""

from __future__ import annotations

from funcgrad.ao import quantization
from funcgrad.ao.quantization import *  # noqa: F403 - all that is there

__all__: list[str] = []
__all__ += quantization.__all__
