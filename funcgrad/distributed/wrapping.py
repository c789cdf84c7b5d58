"""torch.distributed.fsdp.wrap: which parts of a model are sharded by themselves; with one process, none need be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def size_based_auto_wrap_policy(*_: Any, **__: Any) -> bool:
    """Tell that nothing is wrapped by itself."""
    return False


transformer_auto_wrap_policy = always_wrap_policy = lambda_auto_wrap_policy = size_based_auto_wrap_policy


class ModuleWrapPolicy:
    """Accepted."""

    def __init__(self, module_classes: Any) -> None:
        self.module_classes = module_classes

    __call__ = staticmethod(size_based_auto_wrap_policy)


@contextmanager
def enable_wrap(**_: Any) -> Iterator[None]:
    """Accepted."""
    yield


def wrap(module: Any, **_: Any) -> Any:
    """Return the module itself."""
    return module
