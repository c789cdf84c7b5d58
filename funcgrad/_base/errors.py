"""What funcgrad raises beside Python's own exceptions, drawn as a tree.

RuntimeError                torch's usual choice: wrong shapes, a second backward, a leaf changed in place
├── FuncgradError           something only funcgrad can say
│   ├── ForkedProcessError  a forked child touched XLA
│   └── FlushError          a recorded program could not be run; the cause is chained
├── BatchIsRead             within vmap, Python looked at numbers of which each entry has its own
├── LinAlgError             a matrix cannot be factored or solved with
└── ShapeError              an op was given shapes or dtypes that it cannot take
TypeError
└── NotATensor              an argument is neither a tensor nor a number; operators then ask the other operand
IndexError, TypeError, ValueError, KeyError are raised where torch raises them.
"""

from __future__ import annotations

from collections.abc import Callable


def shown_as(base: type[Exception]) -> Callable[[type[Exception]], type[Exception]]:
    """Let a class call itself by Python's exception that it is: a traceback then reads as torch's does."""

    def rename(kind: type[Exception]) -> type[Exception]:
        kind.__name__ = kind.__qualname__ = base.__name__
        kind.__module__ = "builtins"
        kind.__reduce__ = lambda self: (base, self.args)  # type: ignore[method-assign]  # pickles find it by that name
        return kind

    return rename


class FuncgradError(RuntimeError):
    """Something only funcgrad can say."""


class ForkedProcessError(FuncgradError):
    """A forked child touched XLA, whose threads did not survive the fork."""


class FlushError(FuncgradError):
    """A recorded program could not be run; the cause is chained."""


class _LinAlgError(RuntimeError):
    """A matrix cannot be factored or solved with."""


LinAlgError = _LinAlgError  # torch's class has that name in errors, and this one in `torch.linalg`


@shown_as(RuntimeError)
class ShapeError(RuntimeError):
    """An op was given shapes or dtypes that it cannot take."""


@shown_as(RuntimeError)
class BatchIsRead(RuntimeError):  # noqa: N818 - it reads as what it says
    """Python looks at numbers of which each entry of a batch has its own."""


@shown_as(TypeError)
class NotATensor(TypeError):  # noqa: N818 - it reads as what it says
    """An argument is neither a tensor nor a number; operators then ask the other operand."""
