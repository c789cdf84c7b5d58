"""The words that torch.types and torch.nn.common_types give to annotations."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from funcgrad._base.devices import device
from funcgrad._base.dtypes import dtype
from funcgrad._base.layouts import layout
from funcgrad._base.size import Size
from funcgrad._tensor.tensor import Tensor

Number = int | float | bool
Device = device | str | int | None
DeviceLikeType = device | str | int
TensorOrTensors = Tensor | Sequence[Tensor]
FileLike = str
Storage = object

_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex
_dtype, _device, _size, _layout = dtype, device, Size | list[int] | tuple[int, ...], layout

_scalar_or_tuple_any_t = int | tuple[int, ...]
_size_any_t = _scalar_or_tuple_any_t
_size_1_t = int | tuple[int]
_size_2_t = int | tuple[int, int]
_size_3_t = int | tuple[int, int, int]
_size_4_t = int | tuple[int, int, int, int]
_size_any_opt_t = int | None | tuple[int | None, ...]
_size_2_opt_t = int | None | tuple[int | None, int | None]
_size_3_opt_t = int | None | tuple[int | None, int | None, int | None]
_ratio_2_t = float | tuple[float, float]
_ratio_3_t = float | tuple[float, float, float]
_ratio_any_t = float | tuple[float, ...]
_tensor_list_t = Tensor | list[Tensor]
