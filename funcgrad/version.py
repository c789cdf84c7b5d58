"""torch.version: which torch's names these are. There is no CUDA build to speak of: XLA brings its own."""

from __future__ import annotations

import re
from typing import Any


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
cuda = hip = rocm = xpu = None
debug = False
git_version = "Unknown"  # what torch says where it was not built from a checkout
