"""How a list of samples becomes one batch: the same structure, with a new first dimension in every leaf.

Samples of host numbers (numpy arrays, Python numbers) are stacked by numpy and become a tensor once, not once each.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from funcgrad._tensor import functions as fg
from funcgrad._tensor.interop import from_host, host_numbers, is_on_host, rows_on_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.utils.data.dataset import Rows
from funcgrad.utils.data.worker_info import get_worker_info

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)
np_str_obj_array_pattern = re.compile(r"[SaUO]")  # collate functions of projects ask it of a dtype's text
_TEXT = "SUO"  # numpy's kinds for bytes, text and objects

CollateMap = Mapping[Any, Callable[..., Any]]


def default_collate(batch: Sequence[Any]) -> Any:
    """Join samples into a batch.

    Tensors, numpy arrays and numbers become one tensor with a new first dimension; mappings, named tuples and sequences
    are joined field by field (a tuple becomes a list); text and bytes stay a list.

    >>> default_collate([(np.zeros(2, np.float32), 1), (np.ones(2, np.float32), 0)])
    [tensor([[0., 0.],
            [1., 1.]]), tensor([1, 0])]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """Join samples into a batch; `collate_fn_map` says how for each type of leaf, as `default_collate_fn_map` does."""
    if type(batch) is Rows:
        return list(batch.columns)
    first = batch[0]
    join = _rule(first, collate_fn_map or {})
    if join is not None:
        return join(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return _rebuild_mapping(
            first, {k: collate([d[k] for d in batch], collate_fn_map=collate_fn_map) for k in first}
        )
    if not isinstance(first, Sequence):
        raise TypeError(default_collate_err_msg_format.format(type(first)))
    if len(set(map(len, batch))) > 1:
        raise RuntimeError("each element in list of batch should be of equal size")
    return _rebuild(first, [collate(field, collate_fn_map=collate_fn_map) for field in zip(*batch, strict=True)])


def default_convert(data: Any) -> Any:
    """Make tensors of the numpy arrays in one sample, which keeps its structure (a tuple becomes a list)."""
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in _TEXT else fg.as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuild_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuild(data, [default_convert(item) for item in data])
    return data


def pin_memory(data: Any, device: Any = None) -> Any:
    """Return one batch, in its structure, with what their method `pin_memory` gives for the parts that have one."""
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, Mapping):
        return _rebuild_mapping(data, {key: pin_memory(data[key], device) for key in data})
    if not isinstance(data, Sequence) or isinstance(data, (str, bytes)):
        return data
    fields = [pin_memory(item, device) for item in data]
    return type(data)(fields) if isinstance(data, tuple) and not hasattr(data, "_fields") else _rebuild(data, fields)


def _rule(first: Any, rules: CollateMap) -> Callable[..., Any] | None:
    exact = rules.get(type(first))
    if exact is not None:
        return exact
    return next((rules[kind] for kind in rules if isinstance(first, kind)), None)


def _rebuild(like: Sequence[Any], fields: list[Any]) -> Any:
    """Put joined fields into a sequence of the same type, or a list where that type cannot be made from them."""
    if isinstance(like, tuple):
        return type(like)(*fields) if hasattr(like, "_fields") else fields
    if type(like) is list:
        return fields
    try:
        if not isinstance(like, MutableSequence):
            return type(like)(fields)  # type: ignore[call-arg]  # where it cannot be made so, TypeError
        clone = copy.copy(like)
        for i, field in enumerate(fields):
            clone[i] = field
        return clone
    except TypeError:
        return fields


def _rebuild_mapping(like: Mapping[Any, Any], fields: dict[Any, Any]) -> Any:
    """Put joined fields into a mapping of the same type, or a dict where that type cannot be made from them."""
    if type(like) is dict:
        return fields
    try:
        if not isinstance(like, MutableMapping):
            return type(like)(fields)  # type: ignore[call-arg]  # where it cannot be made so, TypeError
        clone = copy.copy(like)
        clone.update(fields)
        return clone
    except TypeError:
        return fields


def collate_tensor_fn(batch: Sequence[Tensor], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Stack tensors: on the host where their numbers are here already, else as an op; subclasses are asked by it."""
    if get_worker_info() is not None:
        _check_shareable(batch)
    if any(type(tensor) is not Tensor or tensor.requires_grad for tensor in batch):
        return fg.stack(tuple(batch))
    values = [tensor._current().value for tensor in batch]
    rows = rows_on_host(values)
    if rows is not None:
        return from_host(rows)
    if not all(map(is_on_host, values)):
        return fg.stack(tuple(batch))
    return collate_numpy_array_fn([host_numbers(value) for value in values])  # type: ignore[misc]  # the host has them


def _check_shareable(batch: Sequence[Any]) -> None:
    """Raise what torch's workers raise, which write a batch into memory that they share."""
    for tensor in batch:
        if not isinstance(tensor, Tensor):
            raise AttributeError(f"'{type(tensor).__name__}' object has no attribute 'numel'")
    if any(tensor.requires_grad for tensor in batch):
        raise RuntimeError(
            "stack(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )


def collate_numpy_array_fn(batch: Sequence[np.ndarray], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Stack numpy arrays, and make a tensor of the whole."""
    first = batch[0]
    if first.dtype.kind in _TEXT:
        raise TypeError(default_collate_err_msg_format.format(first.dtype))
    if any(array.dtype != first.dtype for array in batch):
        return fg.stack(tuple(fg.as_tensor(array) for array in batch))
    for i, array in enumerate(batch):
        if array.shape != first.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first.shape)} at entry 0 "
                f"and {list(array.shape)} at entry {i}"
            )
    # np.stack prepares each array on its own, which for small ones takes longer than all the rest.
    stacked = np.concatenate(batch).reshape(len(batch), *first.shape) if first.ndim else np.array(batch)
    return from_host(stacked)


def collate_numpy_scalar_fn(batch: Sequence[np.generic], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Make a tensor of numpy scalars."""
    if any(type(number) is not type(batch[0]) for number in batch):
        return fg.as_tensor(batch)
    return from_host(np.array(batch, dtype=batch[0].dtype))


def collate_float_fn(batch: Sequence[float], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Make a float64 tensor of Python floats."""
    return from_host(np.array(batch, dtype=np.float64))


def collate_int_fn(batch: Sequence[int], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Make a tensor of Python ints or bools."""
    numbers = np.array(batch)
    return from_host(numbers) if numbers.dtype.kind in "bi" else fg.tensor(batch)


def collate_str_fn(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Sequence[Any]:
    """Leave text and bytes as they are."""
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
