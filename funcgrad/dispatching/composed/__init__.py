"""What PyTorch composes of other functions of aten: linear is `t` and `addmm`, x[0] is `select`.

A rule gets `aten`, which calls functions by their schemas, and the public function's arguments. It returns
NotImplemented for arguments that it does not cover: what the function's own schema says, or what it calls, is told.
"""

from __future__ import annotations

from funcgrad.dispatching.composed import arithmetic, layers, selecting  # noqa: F401 - they enter their rules
from funcgrad.dispatching.composed.rules import RULES, UNTOLD

__all__ = ["RULES", "UNTOLD"]
