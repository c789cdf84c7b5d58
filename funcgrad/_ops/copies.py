"""Rows that return what a view shows as a tensor of its own: torch's `<view>_copy`, each with its view's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._ops import parts, views
from funcgrad._ops.table import TABLE, Op

assert parts, views  # they enter the views

_UNDER_ANOTHER_NAME = {"unfold": "tensor_unfold", "detach": "alias"}
_PUBLIC = {"select": ""}  # `_tensor.places` checks the place before this row is given it
_VIEWS = (
    "alias", "as_strided", "detach", "diagonal", "expand", "permute", "select", "squeeze", "t", "transpose", "unfold",
    "unsqueeze", "view", "view_as_complex", "view_as_real",
)  # fmt: skip


def _node(name: Any) -> str | Callable[..., str]:
    """Return torch's name of the copy's node: its view's with `_copy` behind it."""
    if callable(name):
        return lambda shapes, statics: f"{name(shapes, statics)}_copy"
    return f"{name}_copy"


def _enter(name: str) -> None:
    view = TABLE[_UNDER_ANOTHER_NAME.get(name, name)]
    copied = Op(
        view.function, grad=None if name == "detach" else _node(view.grad), names=_PUBLIC.get(name, f"{name}_copy")
    )
    copied.name = f"{name}_copy"
    TABLE[copied.name] = copied


for _name in _VIEWS:
    _enter(_name)
