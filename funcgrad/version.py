"""torch.version: which torch's names these are. `cuda` is what XLA brings, None where there is no GPU of NVIDIA's."""

from __future__ import annotations

import re
from typing import Any

from funcgrad._tensor.placement import available


class TorchVersion(str):
    """A version as text that compares by its numbers, with text or with a tuple of numbers.

    >>> TorchVersion("2.13.0") > "2.9", TorchVersion("2.13.0") >= (2, 13)
    (True, True)
    """

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return _numbers(self) < _numbers(other)

    def __le__(self, other: Any) -> bool:
        return _numbers(self) <= _numbers(other)

    def __gt__(self, other: Any) -> bool:
        return _numbers(self) > _numbers(other)

    def __ge__(self, other: Any) -> bool:
        return _numbers(self) >= _numbers(other)

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) if isinstance(other, str) and "+" in other else _numbers(self) == _numbers(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def _numbers(version: Any) -> tuple[int, int, int]:
    """Return major, minor and patch; (-1, -1, -1) for what is no version."""
    if isinstance(version, str):
        found = re.match(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?", version)
        parts = [int(part or 0) for part in found.groups()] if found else [-1, -1, -1]
    elif isinstance(version, (tuple, list)):
        parts = [int(part) for part in version if str(part).isdigit()]
    else:
        parts = [-1, -1, -1]
    major, minor, patch = [*parts, 0, 0, 0][:3]
    return major, minor, patch


__version__ = TorchVersion("2.13.0+funcgrad")
VISION_VERSION = "0.28.0+funcgrad"  # torchvision's names
hip = rocm = xpu = None
debug = False
git_version = "Unknown"  # what torch says where it was not built from a checkout


def __getattr__(name: str) -> Any:
    """Answer `cuda` when it is asked for: JAX looks for a GPU then. XLA tells it as 13010, which is 13.1."""
    if name != "cuda":
        raise AttributeError(f"module 'torch.version' has no attribute {name!r}")
    found = [re.search(r"cuda (\d+)", gpu.client.platform_version) for gpu in available("cuda")[:1]]
    number = int(found[0][1]) if found and found[0] else None
    return None if number is None else f"{number // 1000}.{number % 1000 // 10}"
