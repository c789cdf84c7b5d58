"""torch.utils.flop_counter: how many floating point operations a block takes, by module and by torch's kernels.

>>> with FlopCounterMode(display=False) as counter:
...     y = torch.ones(2, 3) @ torch.ones(3, 4)
>>> counter.get_total_flops()
48
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, Self

from funcgrad._tape.observing import calls_observed
from funcgrad._tensor.packets import packet
from funcgrad._tensor.tensor import Tensor
from funcgrad.utils._pytree import tree_map_only
from funcgrad.utils.flop_counter.calls import kernels
from funcgrad.utils.flop_counter.formulas import (
    addmm_flop,
    baddbmm_flop,
    bmm_flop,
    conv_backward_flop,
    conv_flop,
    conv_flop_count,
    flop_registry,
    mm_flop,
    register_flop_formula,
    sdpa_backward_flop,
    sdpa_backward_flop_count,
    sdpa_flop,
    sdpa_flop_count,
)
from funcgrad.utils.flop_counter.tables import table
from funcgrad.utils.module_tracker import ModuleTracker

__all__ = [
    "FlopCounterMode", "ModuleTracker", "addmm_flop", "baddbmm_flop", "bmm_flop", "conv_backward_flop", "conv_flop",
    "conv_flop_count", "flop_registry", "mm_flop", "register_flop_formula", "sdpa_backward_flop",
    "sdpa_backward_flop_count", "sdpa_flop", "sdpa_flop_count",
]  # fmt: skip
_EVERY_DEPTH = 999_999


class FlopCounterMode:
    """Within it this thread's operations are counted, forward and backward; at its end a table is printed.

    mods: no longer needed. depth: how deep in the modules the table goes. custom_mapping: more formulas, by kernel.
    Counted is what torch would run, as soon as it is recorded, whether or not a program runs it yet.
    """

    def __init__(
        self, mods: Any = None, depth: int | None = 2, display: bool = True,
        custom_mapping: dict[Any, Callable[..., Any]] | None = None,
    ) -> None:  # fmt: skip
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self.depth, self.display = depth, display
        self.flop_counts: dict[str, dict[Any, int]] = {}
        self.flop_registry: dict[Any, Callable[..., Any]] = {**flop_registry, **(custom_mapping or {})}
        self.mod_tracker = ModuleTracker()

    def get_total_flops(self) -> int:
        """Return the number of operations."""
        return sum(self.flop_counts.get("Global", {}).values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Return the number of operations by module ("Global": all) and by kernel (`torch.ops.aten.mm`)."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Return the table, of modules as deep as `depth` (by default, as said at the start)."""
        return table(self.flop_counts, depth or self.depth or _EVERY_DEPTH)

    def __enter__(self) -> Self:
        self.flop_counts.clear()
        self._stack = ExitStack()
        self._stack.enter_context(self.mod_tracker)
        self._stack.enter_context(calls_observed(self._seen))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()
        if self.display:
            print(self.get_table(self.depth))

    def _seen(self, op: Any, inputs: Sequence[Any], statics: Any, results: Any) -> None:
        if hasattr(op, "_schema"):
            self._count_own(op, inputs, statics, results)
            return
        for kernel in kernels(op, inputs, statics, results):
            target = packet(kernel.name)
            if kernel.counted and target in self.flop_registry:
                self._count(target, self.flop_registry[target](*kernel.arguments, out_shape=kernel.result))

    def _count_own(self, op: Any, args: Sequence[Any], kwargs: dict[str, Any], result: Any) -> None:
        """Count an operator of torch.library, if it has a formula."""
        formula = self.flop_registry.get(op)
        if formula is None:
            return
        if getattr(formula, "_get_raw", False):
            self._count(op, formula(*args, **kwargs, out_val=result))
            return
        args, kwargs, shape = tree_map_only(Tensor, lambda x: x.shape, (tuple(args), kwargs, result))
        self._count(op, formula(*args, **kwargs, out_shape=shape))

    def _count(self, target: Any, count: int) -> None:
        for module in self.mod_tracker.parents:
            counts = self.flop_counts.setdefault(module, {})
            counts[target] = counts.get(target, 0) + count
