"""Hooks around the forward of every module: kept below `nn`, so that what counts and traces can see its calls."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from funcgrad._tape.nodes import RemovableHandle

Hook = Callable[..., Any]
Hooks = OrderedDict[int, Hook]

everywhere_forward: Hooks = OrderedDict()
everywhere_forward_pre: Hooks = OrderedDict()
everywhere_with_kwargs: OrderedDict[int, bool] = OrderedDict()
everywhere_always_called: OrderedDict[int, bool] = OrderedDict()


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, args)` before the forward of every module."""
    return RemovableHandle(everywhere_forward_pre, hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, result)` after the forward of every module.

    With `always_call` it runs also when forward or an earlier hook raised.
    """
    handle = RemovableHandle(everywhere_forward, hook)
    if with_kwargs:
        handle.enter(everywhere_with_kwargs, True)
    if always_call:
        handle.enter(everywhere_always_called, True)
    return handle
