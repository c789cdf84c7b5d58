"""What TensorBoard reads as tensors: numbers, meshes, layouts of charts.

Sources: tensorflow/core/framework/tensor.proto, tensorboard/plugins/mesh/plugin_data.proto, custom_scalar/layout.proto.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from funcgrad.utils.tensorboard.event_file import content, doubles, integer, plugin, varints

_TEXT = 7  # the number of the type of texts
_KINDS = {  # dtype -> the number of its type, and of the field that holds its numbers
    "float32": (1, 5), "float64": (2, 6), "int32": (3, 7), "uint8": (4, 7), "int16": (5, 7), "int8": (6, 7),
    "complex64": (8, 9), "int64": (9, 10), "bool": (10, 11), "bfloat16": (14, 13), "complex128": (18, 12),
    "float16": (19, 13),
}  # fmt: skip


def tensor_field(tag: str, array: NDArray[Any]) -> bytes:
    """Return the field of a summary's value that holds an array. ValueError for a dtype that has no place there."""
    if array.dtype.name not in _KINDS:
        raise ValueError(f"{tag} has unsupported tensor dtype torch.{array.dtype.name}")
    kind, field = _KINDS[array.dtype.name]
    return content(8, integer(1, kind) + _shape(array.shape) + _numbers(field, array.reshape(-1)))


def _shape(sizes: Sequence[int]) -> bytes:
    return content(2, b"".join(content(2, integer(1, size)) for size in sizes))


def _numbers(field: int, flat: NDArray[Any]) -> bytes:
    if flat.dtype.kind == "c":
        flat = flat.view(np.float32 if flat.dtype == np.complex64 else np.float64)
    if field == 13:
        flat = flat.view(np.uint16)  # floats of 16 bits, as their bits
    if flat.dtype == np.float64:
        return doubles(field, flat)
    if flat.dtype == np.float32:
        return content(field, struct.pack(f"<{flat.size}f", *flat))
    return varints(field, map(int, flat))


def scalar_field(value: float, is_double: bool) -> bytes:
    """Return the fields of a number in the new style, in double or in single precision."""
    numbers = integer(1, 2) + doubles(6, [value]) if is_double else integer(1, 1) + content(5, struct.pack("<f", value))
    return plugin("scalars") + content(8, numbers)


_PARTS = {"VERTEX": 1, "FACE": 2, "COLOR": 3}


def mesh_values(tag: str, parts: Mapping[str, NDArray[Any]], config: Any) -> Iterator[tuple[str, bytes]]:
    """Yield the tag and the fields of each part of a mesh. Shape: VERTEX and COLOR (B, N, 3), FACE (B, F, 3)."""
    there = sum(1 << _PARTS[part] for part in parts)
    written = "{}" if config is None else json.dumps(config, sort_keys=True)
    for part, array in parts.items():
        said = content(2, tag) + integer(3, _PARTS[part]) + content(5, written)
        said += varints(6, array.shape) + integer(7, there)
        yield f"{tag}_{part}", plugin("mesh", said) + tensor_field(tag, array.astype(np.float32))


def layout_fields(layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> bytes:
    """Return the fields that say which numbers are drawn together: category -> title -> ["Multiline", tags].

    ["Margin", [value, lower, upper]] draws one number and its bounds; AssertionError for other than three tags.
    """
    categories = []
    for category, charts in layout.items():
        drawn = [content(2, content(1, title) + _chart(kind, tags)) for title, (kind, tags) in charts.items()]
        categories.append(content(2, content(1, category) + b"".join(drawn)))
    tensor = integer(1, _TEXT) + content(2, b"") + content(8, b"".join(categories))
    return plugin("custom_scalars") + content(8, tensor)


def _chart(kind: str, tags: Sequence[str]) -> bytes:
    if kind != "Margin":
        return content(2, b"".join(content(1, tag) for tag in tags))
    if len(tags) != 3:
        raise AssertionError("len(tags) != 3")
    return content(3, content(1, b"".join(content(i, tag) for i, tag in enumerate(tags, 1))))
