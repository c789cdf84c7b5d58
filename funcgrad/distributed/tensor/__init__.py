"""torch.distributed.tensor with one process: a DTensor is a tensor that knows a mesh of one and its placements."""

from __future__ import annotations

from funcgrad.distributed.tensor import experimental, parallel
from funcgrad.distributed.tensor.dtensor import (
    DTensor,
    distribute_module,
    distribute_tensor,
    empty,
    full,
    ones,
    rand,
    randn,
    zeros,
)
from funcgrad.distributed.tensor.placements import Partial, Placement, Replicate, Shard

__all__ = [
    "DTensor", "Partial", "Placement", "Replicate", "Shard", "distribute_module", "distribute_tensor", "empty",
    "experimental", "full",
    "ones", "parallel", "rand", "randn", "zeros",
]  # fmt: skip
