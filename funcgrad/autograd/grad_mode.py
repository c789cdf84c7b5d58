"""The grad modes under the path where torch has them, and switches of its engine that are accepted."""

from __future__ import annotations

from funcgrad._tape.modes import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)

__all__ = [
    "enable_grad", "enforce_grad_layout_policy", "inference_mode", "no_grad", "set_grad_enabled",
    "set_multithreading_enabled",
]  # fmt: skip


class set_multithreading_enabled:  # noqa: N801 - torch's own spelling
    """Accepted: a backward pass is recorded by the thread that asks for it."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


class enforce_grad_layout_policy:  # noqa: N801 - torch's own spelling
    """Accepted: XLA chooses how gradients lie in memory."""

    def __init__(self, enable: bool = True) -> None:
        self.mode = enable

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...
