"""torch.nn._reduction: the numbers that torch's kernels take for "none", "mean" and "sum", and its older words."""

from __future__ import annotations

from funcgrad._base.warning import warn
from funcgrad._ops.loss_reduction import reduction_of

_NUMBERS = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}
_OLD_WORD = "reduction='elementwise_mean' is deprecated, please use reduction='mean' instead."
_OLD_ARGUMENTS = "size_average and reduce args will be deprecated, please use reduction='{}' instead."


def get_enum(reduction: str) -> int:
    """Return 0 for "none", 1 for "mean", 2 for "sum"; ValueError for another word."""
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if reduction == "elementwise_mean":
        warn(_OLD_WORD)
    return _NUMBERS[reduction]


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """Return the word for what `size_average` and `reduce` said."""
    reduction = reduction_of("mean", size_average, reduce)
    if emit_warning:
        warn(_OLD_ARGUMENTS.format(reduction))
    return reduction


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """Return the number for what `size_average` and `reduce` said."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
