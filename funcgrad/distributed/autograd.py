"""torch.distributed.autograd, for code that asks whether it is there: no backward pass goes through other processes."""

from __future__ import annotations

from typing import Any, NoReturn

from funcgrad.distributed.rpc import is_available

__all__ = ["context", "is_available"]


class context:  # noqa: N801 - torch's own spelling
    """A block whose backward pass other processes take part in; RuntimeError: always, there is one process."""

    def __init__(self) -> None:
        _refuse()


def backward(*_: Any, **__: Any) -> NoReturn:
    """Raise RuntimeError: there is one process."""
    _refuse()


def get_gradients(*_: Any) -> NoReturn:
    """Raise RuntimeError: there is one process."""
    _refuse()


def _refuse() -> NoReturn:
    raise RuntimeError("torch.distributed.autograd: funcgrad has one process; `backward()` without it is whole")
