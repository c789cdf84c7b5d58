"""Nested tensors from lists, from values with offsets, and from parts of dense ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.layouts import jagged, strided
from funcgrad._program.record import array_of
from funcgrad._program.value import LiftedValue
from funcgrad._tensor import functions
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.overriding import Without, arm
from funcgrad._tensor.tensor import Tensor
from funcgrad.nested.raggedness import Raggedness
from funcgrad.nested.shaping import from_parts
from funcgrad.nested.strided import StridedNestedTensor, strided_from_parts
from funcgrad.nested.tensor import NestedTensor

_ONE_RAGGED = (
    "Cannot represent given tensor list as a nested tensor with the jagged layout. Note that the jagged layout only "
    "allows for a single ragged dimension. For example: (B, *, D_0, D_1, ..., D_N), with ragged * dim."
)


def nested_tensor(
    tensor_list: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Return a new nested tensor, a leaf, of copies of tensors or of what `tensor` takes.

    layout: torch.strided (by default) or torch.jagged. RuntimeError where the entries do not fit the layout.
    """
    kind = strided if layout is None else layout
    if kind is strided and isinstance(tensor_list, Tensor):
        raise TypeError("Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in nested_tensor")
    parts = [
        x.detach() if isinstance(x, Tensor) else functions.tensor(x, dtype=dtype, device=device) for x in tensor_list
    ]
    parts = _converted(parts, dtype, device)
    for part in parts:
        if part.device.type == "cpu" and not isinstance(part._current().value, LiftedValue):
            array_of(part._current().value)  # its numbers are copied: the sizes of entries stay out of programs
    made = _of_layout(parts, kind)
    return made.requires_grad_() if requires_grad else made


def as_nested_tensor(ts: Any, dtype: Any = None, device: Any = None, layout: Any = None) -> Any:
    """Return a nested tensor of tensors, with their history; of a dense tensor, its rows are the entries."""
    if isinstance(ts, (NestedTensor, StridedNestedTensor)):
        if (layout is not None and ts.layout is not layout) or (layout is None and ts.layout is jagged):
            raise RuntimeError("as_nested_tensor(): Converting between nested tensor layouts is not supported")
        return ts.to(dtype=dtype or ts.dtype, device=device or ts.device)
    if not isinstance(ts, (Tensor, list, tuple)):
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors")
    if isinstance(ts, Tensor) and not ts.ndim:
        raise RuntimeError("as_nested_tensor(): Expected tensor argument to have dim() > 0")
    parts = [x if isinstance(x, Tensor) else functions.tensor(x) for x in ts]
    return _of_layout(_converted(parts, dtype, device), strided if layout is None else layout)


def _converted(parts: Sequence[Tensor], dtype: Any, device: Any) -> list[Tensor]:
    if dtype is None and device is None:
        return list(parts)
    return [part.to(dtype=dtype or part.dtype, device=device or part.device) for part in parts]


def _of_layout(parts: list[Tensor], layout: Any) -> Any:
    arm()
    if layout is strided:
        return strided_from_parts(parts)
    if layout is not jagged:
        raise RuntimeError(f"Specified layout is unsupported for nested tensors: {layout}")
    if not parts:
        raise RuntimeError("Cannot construct a nested tensor from an empty tensor list")
    for word, facts in (
        ("have the same dtype", {part.dtype for part in parts}),
        ("be on the same device", {str(part.device) for part in parts}),
        ("have the same dim", {part.ndim for part in parts}),
    ):
        if len(facts) > 1:
            raise RuntimeError(f"When constructing a nested tensor, all tensors in list must {word}")
    if not parts[0].ndim:
        raise RuntimeError("Cannot construct a nested tensor from a list of zero-dim tensors")
    ragged = [dim for dim in range(parts[0].ndim) if len({part.shape[dim] for part in parts}) > 1]
    if len(ragged) > 1:
        raise RuntimeError(_ONE_RAGGED)
    return from_parts(parts, ragged[0] + 1 if ragged else 1)


def nested_tensor_from_jagged(
    values: Tensor, offsets: Tensor | None = None, lengths: Tensor | None = None, jagged_dim: int | None = None,
    min_seqlen: int | None = None, max_seqlen: int | None = None,
) -> NestedTensor:  # fmt: skip
    """Return the nested tensor of these values, which share their storage with it.

    Shape: values (total, ...), or ragged in dimension `jagged_dim` - 1; offsets (B + 1,), where entries begin; lengths
    (B,), alone: they follow each other; with offsets: what lies behind an entry's length is a hole.
    """
    arm()
    if offsets is None:
        if lengths is None:
            raise RuntimeError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
        begin = from_host(np.zeros(1, np.int64), device=lengths.device)
        ends: Tensor = lengths.to(dtypes.int64).cumsum(0)
        return nested_tensor_from_jagged(values, functions.cat([begin, ends]), None, jagged_dim)
    with Without("asks_classes"):
        made: NestedTensor = values._of_class(NestedTensor)
    made._raggedness, made._ragged_idx = Raggedness.of(offsets, lengths), jagged_dim or 1
    return made


def narrow(tensor: Tensor, dim: int, start: Any, length: Any, layout: Any = strided) -> Any:
    """Return the nested tensor of a part of each row of a dense tensor: `length` elements from `start`.

    start, length: numbers, or tensors of one for each row. A view of it, with holes, where rows are not used whole.
    """
    if layout is strided:
        if not (isinstance(start, int) and isinstance(length, int)):
            raise RuntimeError("start and length must be integers for the strided layout NT impl")
        if dim != 0:
            raise RuntimeError(f"narrow(): only dim=0 supported for nested tensors, but got: {dim}")
        return as_nested_tensor([tensor[i] for i in range(start, start + length)])
    if layout is not jagged:
        raise RuntimeError(f"Specified layout is unsupported for nested narrow: {layout}")
    if dim != 1:
        raise RuntimeError("jagged layout only supports dim=1")
    count, size = tensor.shape[:2]
    starts, lengths = (np.broadcast_to(_numbers(x), count).astype(np.int64) for x in (start, length))
    begins = np.arange(count) * size + starts
    offsets = from_host(np.append(begins, begins[-1] + lengths[-1]), device=tensor.device)
    values = tensor.reshape(count * size, *tensor.shape[2:])
    if (np.diff(np.append(begins, begins[-1] + lengths[-1])) == lengths).all():
        return nested_tensor_from_jagged(values[int(begins[0]) : int(begins[-1] + lengths[-1])], offsets - offsets[0])
    return nested_tensor_from_jagged(values, offsets, from_host(lengths, device=tensor.device))


def _numbers(given: Any) -> Any:
    return to_host(given) if isinstance(given, Tensor) else given


def masked_select(tensor: Tensor, mask: Tensor) -> NestedTensor:
    """Return the elements where the mask is True, as an entry for each row. Shape: tensor, mask (B, L)."""
    if tensor.layout is not strided:
        raise RuntimeError(f"torch.nested.masked_select requires a strided tensor, given {tensor.layout}")
    if mask.layout is not strided:
        raise RuntimeError(f"torch.nested.masked_select requires a strided mask, given: {mask.layout}")
    tensor, mask = functions.broadcast_tensors(tensor, mask)
    lengths = mask.reshape(mask.shape[0], -1).sum(1)
    return nested_tensor_from_jagged(tensor[mask], lengths=lengths)


def to_padded_tensor(
    input: Tensor, padding: float, output_size: Sequence[int] | None = None, out: Any = None
) -> Tensor:
    """Return a dense tensor of a nested one, `padding` in the gaps. RuntimeError for a tensor that is not nested."""
    if not isinstance(input, (NestedTensor, StridedNestedTensor)):
        raise RuntimeError("to_padded_tensor(): expected a nested tensor; see torch.nested.nested_tensor")
    return input.to_padded_tensor(padding, output_size)  # type: ignore[attr-defined]  # nested tensors have it
