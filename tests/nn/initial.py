"""The initial values that the tests compare: each a function of nn.init, on tensors of several shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "uniform_": lambda init, x: init.uniform_(x, -1.0, 2.0),
    "normal_": lambda init, x: init.normal_(x, 1.0, 0.3),
    "trunc_normal_": lambda init, x: init.trunc_normal_(x, std=0.02),
    "trunc_normal_ cut": lambda init, x: init.trunc_normal_(x),
    "trunc_normal_ narrow": lambda init, x: init.trunc_normal_(x, a=0.1, b=0.2),
    "trunc_normal_ tail": lambda init, x: init.trunc_normal_(x, mean=3.0),
    "constant_": lambda init, x: init.constant_(x, 0.3),
    "ones_": lambda init, x: init.ones_(x),
    "zeros_": lambda init, x: init.zeros_(x),
    "xavier_uniform_": lambda init, x: init.xavier_uniform_(x, gain=2.0),
    "xavier_normal_": lambda init, x: init.xavier_normal_(x),
    "kaiming_uniform_": lambda init, x: init.kaiming_uniform_(x, a=0.1),
    "kaiming_normal_": lambda init, x: init.kaiming_normal_(x, mode="fan_out", nonlinearity="relu"),
    "orthogonal_": lambda init, x: init.orthogonal_(x, gain=1.5),
    "eye_": lambda init, x: init.eye_(x),
    "sparse_": lambda init, x: init.sparse_(x, 0.4),
    "dirac_": lambda init, x: init.dirac_(x, groups=2),
}
_SHAPES = {"eye_": ((3, 5),), "sparse_": ((10, 4),), "dirac_": ((6, 3, 3), (4, 2, 3, 2))}
NAMES = tuple(f"{call} {shape}" for call in _CALLS for shape in _SHAPES.get(call, ((3, 4), (6, 4, 3), (20, 5))))


def made(torch: Any, name: str) -> Any:
    """Return the tensor that the named call makes from seed 3, in torch or here."""
    call, _, shape = name.rpartition(" (")
    torch.manual_seed(3)
    return _CALLS[call](torch.nn.init, torch.empty(*(int(size) for size in shape.rstrip(")").split(","))))
