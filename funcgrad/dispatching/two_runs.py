"""What a checkpointed function called in its two runs, for the error that says that they differ."""

from __future__ import annotations

import itertools
import traceback
from contextlib import AbstractContextManager
from typing import Any, Never

from funcgrad._base.warning import is_own
from funcgrad._tape.recompute import CheckpointError
from funcgrad._tensor.tensor import Tensor
from funcgrad.dispatching.modes import TorchDispatchMode
from funcgrad.utils._dtype_abbrs import dtype_abbrs
from funcgrad.utils._pytree import tree_map
from funcgrad.utils.weak import WeakTensorKeyDictionary


class Log(TorchDispatchMode):
    """A mode that notes each call, `$1: f32[2] = torch._ops.aten.sin.default($0)`, and the lines that led to it."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.lines: list[list[str]] = []
        self._numbers = WeakTensorKeyDictionary()
        self._next = itertools.count()

    def __enter__(self) -> Any:
        self.calls.clear()
        self.lines.clear()
        self._numbers, self._next = WeakTensorKeyDictionary(), itertools.count()
        return super().__enter__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        given = [str(tree_map(self._shown, x)) for x in args]
        given += [f"{name}={tree_map(self._shown, x)}" for name, x in kwargs.items()]
        name = f"{func.__module__}.{func.__name__}"
        self.calls.append(f"{tree_map(self._shown_with_type, result)} = {name}({', '.join(given)})")
        frames = reversed(traceback.extract_stack())
        self.lines.append([f"{f.filename}:{f.lineno}:{f.name}" for f in frames if not is_own(f.filename)])
        return result

    def _shown(self, x: Any) -> str:
        if not isinstance(x, Tensor):
            return repr(x)
        if x not in self._numbers:
            self._numbers[x] = next(self._next)
        return f"${self._numbers[x]}"

    def _shown_with_type(self, x: Any) -> str:
        if not isinstance(x, Tensor):
            return repr(x)
        return f"{self._shown(x)}: {dtype_abbrs[x.dtype]}[{', '.join(map(str, x.shape))}]"

    def with_lines(self, label: str) -> str:
        """Return each call with the lines that led to it, the innermost first."""
        count = len(self.calls)
        parts = [
            "\n".join([f"{call}   ({number} of {count} in {label})\n", *lines, "\n\n"])
            for number, (call, lines) in enumerate(zip(self.calls, self.lines, strict=True), 1)
        ]
        return "".join(parts)


class TwoRuns:
    """The logs of a checkpoint's forward and of its second run."""

    def __init__(self) -> None:
        self.forward, self.again = Log(), Log()

    def contexts(self) -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
        """Return what each of the runs stands in."""
        return self.forward, self.again

    def explain(self, error: CheckpointError) -> Never:
        """Raise a CheckpointError that lists what both runs called."""
        raise CheckpointError(
            _TEXT.format(
                forward_traces=self.forward.with_lines("original"),
                recompute_traces=self.again.with_lines("recompute"),
                forward_ops="\n".join(self.forward.calls),
                recompute_ops="\n".join(self.again.calls),
            )
        ) from error


_TEXT = """ \
An error happened while unpacking tensors; dumping logs of latest computation
because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.
Scroll all the way down for guidance on how to navigate these logs.

+~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~+
|        1. Stack traces of the operators that ran in the original forward     |
+------------------------------------------------------------------------------+

{forward_traces}
+~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~+
|        2. Stack traces of the operators that ran during recomputation        |
+------------------------------------------------------------------------------+

{recompute_traces}
+~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~+
|       3. Log of operators in the original forward and recomputation          |
+------------------------------------------------------------------------------+
(Scroll up to correlate stack traces with each operation listed below. This
 helps identify their source in the code.)

IMPORTANT: Differences in "detach" calls between the original forward and the
           recomputation are expected. They are introduced by the checkpointing
           mechanism and can be ignored.

Operations executed during the original forward:

{forward_ops}

Operations executed during recomputation:

{recompute_ops}

+------------------------------------------------------------------------------+
 ERROR: Detected non-determinism while running activation checkpointing

 You are seeing this error because you passed `debug=True` to checkpoint and
 tensors to be saved during the original forward and differ between those saved
 during recomputation. This can happen if different operators were ran in the
 original forward and in the recomputation.

 To identify where the mismatch may be coming from, you can do the following:

 1) Compare the operators ran during original forward and recomputation to
    see where they differ. These operators are printed above in the order they
    were executed.

 2) Review the stack trace for each operator to locate its invocation source.
    Each operator's stack trace is printed in their execution order.

 Note that the logs can be quite long. Here's how they are structured:
 (Tip: you can Ctrl-f for these headers)

 1. Stack traces of the operators that ran in the original forward
 2. Stack traces of the operators that ran during recomputation
 3. Log of operators in the original forward and recomputation
 4. Error message                                             <--- You are here
--------------------------------------------------------------------------------
"""
