"""Moves a sample between torch and funcgrad: tensors anywhere in it, dtypes, devices, layouts, memory formats."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import torch

import funcgrad
from funcgrad._tensor.interop import from_host, to_host
from tests.ops.calling import numpy_dtype

_NAMED = (torch.dtype, torch.memory_format, torch.layout)
_NOT_IN_NUMPY = {
    torch.bfloat16: (torch.int16, ml_dtypes.bfloat16),
    **{
        getattr(torch, name): (torch.uint8, getattr(ml_dtypes, name))
        for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
    },
}
_WIDER = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
          torch.complex64: torch.complex128}  # fmt: skip


class NoCounterpartError(Exception):
    """A sample has something without a counterpart: a batch of sparse matrices, a dtype that torch calls shell."""


class Arguments(NamedTuple):
    """A sample's arguments in one library, and those of its tensors that want a gradient, in order."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    leaves: list[Any]


def name_of(dtype: Any) -> str:
    """Return the name that a dtype of torch or funcgrad has in both."""
    return str(dtype).removeprefix("torch.")


def from_torch(tensor: torch.Tensor) -> np.ndarray:
    """Return a torch tensor's numbers. NoCounterpartError: it has a layout or a dtype that numpy lacks."""
    if tensor.layout is not torch.strided:
        return from_torch(tensor.detach().to_dense())
    if tensor.ndim > 64:
        raise NoCounterpartError("more than 64 dimensions, which no JAX array has")
    plain = tensor.detach().resolve_conj().resolve_neg().cpu()
    plain = torch.zeros(plain.shape, dtype=plain.dtype) if plain._is_zerotensor() else plain
    if plain.dtype in _NOT_IN_NUMPY:
        bits, kind = _NOT_IN_NUMPY[plain.dtype]
        return plain.contiguous().view(bits).numpy().view(kind).reshape(tuple(plain.shape))
    try:
        return plain.numpy()
    except TypeError as error:
        raise NoCounterpartError(str(error)) from error


def into_ours(array: np.ndarray, requires_grad: bool = False) -> funcgrad.Tensor:
    """Return our tensor of some numbers, which lie in memory as those do."""
    numbers = np.array(array)
    if not numbers.flags.c_contiguous and not numbers.dtype.type.__module__.startswith("ml_dtypes"):
        return funcgrad.from_numpy(numbers).requires_grad_(requires_grad)
    return from_host(numbers, requires_grad=requires_grad)


def sparse_into_ours(tensor: torch.Tensor) -> funcgrad.Tensor:
    """Return our sparse tensor of the same layout. NoCounterpartError: it is a batch of compressed matrices."""
    layout, size = translated(tensor.layout), tuple(tensor.shape)
    if layout is funcgrad.sparse_coo:
        parts = (into_ours(from_torch(tensor._indices())), into_ours(from_torch(tensor._values())))
        return funcgrad.sparse_coo_tensor(
            *parts, size, is_coalesced=tensor.is_coalesced(), requires_grad=tensor.requires_grad
        )
    by_row = layout in (funcgrad.sparse_csr, funcgrad.sparse_bsr)
    names = ("crow_indices", "col_indices") if by_row else ("ccol_indices", "row_indices")
    starts, plain, values = (into_ours(from_torch(getattr(tensor, name)().detach())) for name in (*names, "values"))
    if starts.ndim > 1:
        raise NoCounterpartError("a batch of compressed matrices")
    return funcgrad.sparse_compressed_tensor(
        starts, plain, values, size, layout=layout, requires_grad=tensor.requires_grad
    )


def into_torch(array: np.ndarray, requires_grad: bool = False) -> torch.Tensor:
    """Return torch's tensor of some numbers."""
    if array.dtype == ml_dtypes.bfloat16:
        made = torch.from_numpy(np.array(array).view(np.int16)).view(torch.bfloat16)
    else:
        made = torch.from_numpy(np.array(array))
    return made.requires_grad_(requires_grad)


def _walk(part: Any, visit: Callable[[Any], Any]) -> Any:
    if isinstance(part, torch.Size):
        return visit(part)
    if isinstance(part, tuple) and hasattr(part, "_fields"):
        return type(part)(*(_walk(inner, visit) for inner in part))
    if isinstance(part, (list, tuple)):
        return type(part)(_walk(inner, visit) for inner in part)
    if isinstance(part, dict):
        return {key: _walk(inner, visit) for key, inner in part.items()}
    if isinstance(part, slice):
        return slice(_walk(part.start, visit), _walk(part.stop, visit), _walk(part.step, visit))
    return visit(part)


def _arguments(sample: Any, tensor: Callable[[torch.Tensor], Any], other: Callable[[Any], Any]) -> Arguments:
    made: dict[int, Any] = {}
    leaves: list[Any] = []

    def visit(part: Any) -> Any:
        if not isinstance(part, torch.Tensor):
            return other(part)
        if id(part) not in made:
            made[id(part)] = tensor(part)
            if part.requires_grad:
                leaves.append(made[id(part)])
        return made[id(part)]

    args = (_walk(sample.input, visit), *_walk(tuple(sample.args), visit))
    return Arguments(args, _walk(sample.kwargs, visit), leaves)


def kinds_in(sample: Any) -> set[str]:
    """Return the names of the dtypes of a sample's tensors: the coarsest says how near results have to be."""
    found: set[str] = set()
    _arguments(sample, lambda tensor: found.add(name_of(tensor.dtype)), lambda part: part)
    return found


def arguments_of_ours(sample: Any) -> Arguments:
    """Return a sample's arguments as ours, with fresh tensors."""

    def fresh(tensor: torch.Tensor) -> funcgrad.Tensor:
        if tensor.is_meta:
            return funcgrad.empty(tuple(tensor.shape), dtype=translated(tensor.dtype), device="meta")
        if tensor.layout is not torch.strided:
            return sparse_into_ours(tensor)
        whole = _whole(tensor)
        if whole is tensor:
            return into_ours(from_torch(tensor), tensor.requires_grad)
        part = into_ours(from_torch(whole)).as_strided(tuple(tensor.shape), tensor.stride(), _offset(tensor))
        return part.requires_grad_(tensor.requires_grad)

    return _arguments(sample, fresh, translated)


def arguments_of_torch(sample: Any, *, wider: bool = False) -> Arguments:
    """Return a sample's arguments as torch's, with fresh tensors; `wider` in double precision."""

    def fresh(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.layout is not torch.strided:
            kind = _WIDER.get(tensor.dtype, tensor.dtype) if wider else tensor.dtype
            return tensor.detach().clone().to(kind).requires_grad_(tensor.requires_grad)
        whole = _whole(tensor)
        copied = whole.detach().clone()
        copied = copied.to(_WIDER.get(copied.dtype, copied.dtype)) if wider else copied
        if whole is not tensor:
            copied = copied.as_strided(tensor.shape, tensor.stride(), _offset(tensor))
        return copied.requires_grad_(tensor.requires_grad)

    return _arguments(sample, fresh, lambda part: _WIDER.get(part, part) if wider and _is_dtype(part) else part)


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    """Return what a tensor shows a part of: there is more in its storage than itself. Else the tensor."""
    base = tensor._base
    if base is None or base.dtype is not tensor.dtype or base.numel() <= tensor.numel() or not base.is_contiguous():
        return tensor
    return base


def _offset(tensor: torch.Tensor) -> int:
    return int(tensor.storage_offset())


def _is_dtype(part: Any) -> bool:
    return isinstance(part, torch.dtype)


def translated(part: Any) -> Any:
    """Return our counterpart of an argument that is no tensor."""
    if isinstance(part, _NAMED):
        name = str(part).removeprefix("torch.")
        if not hasattr(funcgrad, name):
            raise NoCounterpartError(f"{name} is no {type(part).__name__} of ours")
        return getattr(funcgrad, name)
    if isinstance(part, (torch.nn.functional.ScalingType, torch.nn.functional.SwizzleType)):
        return getattr(getattr(funcgrad.nn.functional, type(part).__name__.removeprefix("_")), part.name)
    if type(part).__module__.startswith("torch.nn"):  # a module, or an options object
        fields = (
            {f.name: getattr(part, f.name) for f in dataclasses.fields(part)} if dataclasses.is_dataclass(part) else {}
        )
        return getattr(funcgrad.nn, type(part).__name__)(**fields)
    if isinstance(part, torch.device):
        return funcgrad.device(str(part))
    if isinstance(part, torch.Size):
        return funcgrad.Size(part)
    if isinstance(part, torch.Generator):
        raise NoCounterpartError("a generator")
    return part


def flat(result: Any) -> list[Any]:
    """Return a call's results as a flat list of leaves."""
    if isinstance(result, (torch.Size, funcgrad.Size)):
        return [tuple(result)]
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in flat(part)]
    if isinstance(result, dict):
        return [leaf for key in sorted(result) for leaf in flat(result[key])]
    if isinstance(result, (torch.Tensor, funcgrad.Tensor)) and str(result.layout) != "torch.strided":
        return [result.to_dense()]
    return [result]


def tensors(results: list[Any]) -> Iterator[tuple[int, Any]]:
    """Walk through the tensors among results that a gradient can flow from."""
    for i, each in enumerate(results):
        if isinstance(each, (torch.Tensor, funcgrad.Tensor)) and each.requires_grad:
            yield i, each


def read(leaf: Any) -> Any:
    """Return a tensor's numbers, of either library; anything else as it is, dtypes by name."""
    if isinstance(leaf, torch.Tensor):
        return from_torch(leaf)
    if isinstance(leaf, funcgrad.Tensor):
        return to_host((leaf if leaf.layout is funcgrad.strided else leaf.to_dense()).detach())
    if isinstance(leaf, (torch.dtype, funcgrad.dtype)):
        return name_of(leaf)
    return leaf


def random_numbers(seed: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Return fixed random numbers, normal around 0: a cotangent or a tangent."""
    draw = np.random.RandomState(seed)
    numbers = draw.normal(size=shape)
    if dtype.startswith("complex"):
        numbers = numbers + 1j * draw.normal(size=shape)
    return np.asarray(numbers).astype(numpy_dtype(dtype))
