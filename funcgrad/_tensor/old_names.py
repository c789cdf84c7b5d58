"""Names of old: torch.lu, and those that torch has taken out, whose errors say what to call instead."""

from __future__ import annotations

from typing import Any

from funcgrad._ops.table import TABLE
from funcgrad._tensor.call import call, write_out
from funcgrad._tensor.registry import FUNCTIONS, METHODS, both
from funcgrad._tensor.tensor import Tensor


@both()
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:  # noqa: N803 - torch's own
    """Return L and U in one matrix, and the pivots; with `get_infos` also whether each matrix could be factored.

    An older spelling of `linalg.lu_factor`.
    """
    packed, pivots, info = call(TABLE["lu_factor_ex"], (A,), (pivot,))
    parts = (packed, pivots, info) if get_infos else (packed, pivots)
    return parts if out is None else write_out(tuple(out), parts)


_REMOVED = {
    "eig": "`torch.linalg.eig`, which returns complex tensors",
    "lstsq": "`torch.linalg.lstsq`, whose arguments are reversed",
    "matrix_rank": "`torch.linalg.matrix_rank`, where 'symmetric' is called 'hermitian'",
    "solve": "`torch.linalg.solve`, whose arguments are reversed",
    "symeig": "`torch.linalg.eigh` or `torch.linalg.eigvalsh`, which by default read the lower triangle",
}


def _removed(name: str, instead: str) -> Any:
    def removed(*args: Any, **kwargs: Any) -> Any:
        """Say what to call instead. Raises RuntimeError, as torch does."""
        raise RuntimeError(f"This function was deprecated since version 1.9 and is now removed. Use {instead}.")

    removed.__name__ = removed.__qualname__ = name
    return removed


for _name, _instead in _REMOVED.items():
    FUNCTIONS[_name] = _removed(_name, _instead)
    if _name != "matrix_rank":
        METHODS[_name] = FUNCTIONS[_name]
