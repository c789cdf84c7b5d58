"""torch's fake tensors and proxies, which its own tracers make: there are none here, and what asks gets this answer."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


class FakeTensor:
    """What no tensor is an instance of; NotImplementedError for an attempt to make one."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError("FakeTensor: funcgrad has none; a tensor of device='meta' has a shape and no numbers")


def is_fake(x: object) -> bool:
    """Say whether a tensor is fake: never."""
    return isinstance(x, FakeTensor)


def active_fake_mode() -> None:
    """Return the mode in which new tensors are fake: none."""


def detect_fake_mode(inputs: Any = None) -> None:
    """Return the mode that made these tensors, or is active: none."""


@contextmanager
def unset_fake_temporarily() -> Generator[None]:
    """Leave the mode in which new tensors are fake for a block: there is none to leave."""
    yield


class TracingContext:
    """What torch's compiler knows while it traces. It never traces here, so there is none."""

    @staticmethod
    def try_get() -> None:
        """Return the context of the trace under way: none."""

    @staticmethod
    def get() -> TracingContext:
        """Return the context of the trace under way; RuntimeError, since there is none."""
        raise RuntimeError("TracingContext.get() must be called within an ongoing trace.")


def get_proxy_mode() -> None:
    """Return the mode in which proxies are traced: none."""


__all__ = [
    "FakeTensor", "TracingContext", "active_fake_mode", "detect_fake_mode", "get_proxy_mode", "is_fake",
    "unset_fake_temporarily",
]  # fmt: skip
