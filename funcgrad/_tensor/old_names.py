"""Names of old: those that torch has taken out, whose errors say what to call instead, and those that still work."""

from __future__ import annotations

from typing import Any

from funcgrad._base.warning import warn
from funcgrad._tensor.arguments import as_spread_dims
from funcgrad._tensor.registry import FUNCTIONS, METHODS, method
from funcgrad._tensor.tensor import Tensor

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


@method()
def reinforce(self: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Say what to call instead. Raises RuntimeError, as torch does."""
    raise RuntimeError("reinforce() was removed.\nUse torch.distributions instead.")


@method()
def resize(self: Tensor, *sizes: Any) -> Tensor:
    """Return the same elements in another shape. Torch warns that `resize_` or `reshape` say better what is meant."""
    warn("non-inplace resize is deprecated")
    return self.reshape(as_spread_dims(sizes))


@method()
def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """Return the same elements in the shape of another tensor."""
    warn("non-inplace resize_as is deprecated")
    return self.reshape(tensor.shape)


def _without_device(kind: str) -> Any:
    def move(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Raise RuntimeError: JAX finds no such device on this machine."""
        raise RuntimeError(f"JAX finds no {kind.upper()} device on this machine")

    move.__name__ = move.__qualname__ = kind
    return move


for _name in ("ipu", "mtia", "xpu"):
    METHODS[_name] = _without_device(_name)
