"""torch.device: a kind of device and, where given, its number. Which JAX device that is, `_tensor.placement` knows."""

from __future__ import annotations

import re
from typing import Any

from funcgrad._base.naming import WrittenInC

_kind = type
_DEVICE = re.compile(r"[a-zA-Z_]+(:([1-9]\d*|0))?")
_TORCHS = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip
KINDS = (*_TORCHS, "tpu")


_NO_DEVICE = (
    "device() received an invalid combination of arguments - got ({0}), but expected one of:\n"
    " * (torch.device device)\n"
    "      didn't match because some of the arguments have invalid types: (!{0}!)\n"
    " * (str type, int index = -1)\n"
)


class Default:
    """The device of tensors that name none (None: JAX's own default), and the GPU that "cuda" means."""

    device: device | None = None
    gpu = 0


_OUTER: list[Any] = []


class device(metaclass=WrittenInC):  # noqa: N801 - torch's own spelling
    """device("cuda:1"), device("cuda", 1) or device(1). As a `with` block, the device of tensors that name none.

    Raises RuntimeError for a kind that torch does not know.
    """

    __slots__ = ("index", "type")
    index: int | None
    type: str

    def __new__(cls, type: Any = None, index: int | None = None, *, device: Any = None) -> device:
        given = device if type is None else type
        if isinstance(given, cls):
            return given
        self = super().__new__(cls)
        if isinstance(given, int) and not isinstance(given, bool):
            if given < 0:
                raise RuntimeError("Device index must not be negative")
            self.type, self.index = "cuda", given
            return self
        if not isinstance(given, str):
            raise TypeError(_NO_DEVICE.format(_kind(given).__name__))
        if index is not None and not isinstance(index, int):
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {_kind(index).__name__}")
        if not given:
            raise RuntimeError("Device string must not be empty")
        kind, _, number = given.partition(":")
        if not _DEVICE.fullmatch(given):
            raise RuntimeError(f"Invalid device string: '{given}'")
        if kind not in KINDS:
            raise RuntimeError(f"Expected one of {', '.join(_TORCHS)} device type at start of device string: {kind}")
        if number and index is not None:
            raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {given}")
        if index is not None and index < 0:
            raise RuntimeError(f"Device index must not be negative, but got {index}")
        self.type, self.index = kind, int(number) if number else index
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{number})"

    def __enter__(self) -> device:
        _OUTER.append(Default.device)
        Default.device = self
        return self

    def __exit__(self, *_: object) -> None:
        Default.device = _OUTER.pop()

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (str(self),)
