"""vmap: a function of one example becomes a function of a batch; every op that it records is the op of the batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax

from funcgrad._tape.levels import BatchLevel, thread
from funcgrad._tape.variable import Variable
from funcgrad._tensor import functions as fg
from funcgrad._tensor.aliases import write
from funcgrad._tensor.pytree import leaves_of, spread, with_leaves
from funcgrad._tensor.tensor import Tensor
from funcgrad.func.plain import is_plain, plain
from funcgrad.utils._pytree import tree_structure

_RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function that maps `func` over a dimension of its inputs, without a loop.

    in_dims: which dimension of each input, an int or None (not mapped), in the structure of the arguments or a prefix
    of it. out_dims: where the dimension goes in the results. randomness: what random ops inside do: raise ("error"),
    draw for each entry ("different") or once for all ("same"). chunk_size: how many entries at a time.
    Raises ValueError where in_dims, sizes or results do not fit.

    >>> vmap(dot)(ones(3, 5), ones(3, 5))
    tensor([5., 5., 5.])
    """
    if randomness not in _RANDOMNESS:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        if is_plain(args) and chunk_size is None:
            axes = list(in_dims) if isinstance(in_dims, tuple) else in_dims
            return jax.vmap(functools.partial(plain(func), **kwargs), axes, out_dims)(*args)
        label = getattr(func, "__name__", repr(func))
        given = leaves_of(args)
        dims, size = _checked(f"vmap({label}, in_dims={in_dims}, ...)(<inputs>)", in_dims, args, given)
        parts = []
        for start in range(0, max(size, 1), chunk_size or max(size, 1)):
            part = given
            if chunk_size is not None:
                part = [_part(x, dim, start, min(chunk_size, size - start)) for x, dim in zip(given, dims, strict=True)]
            length = min(chunk_size or size, size - start)
            parts.append(_run(label, func, with_leaves(args, part), kwargs, dims, length, out_dims, randomness))
        return parts[0] if len(parts) == 1 else _joined(label, parts, out_dims)

    return mapped


def _run(
    label: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any], dims: Sequence[Any], size: int,
    out_dims: Any, randomness: str,
) -> Any:  # fmt: skip
    level = BatchLevel(size, randomness)
    given = [x if not dim else fg.movedim(x, dim, 0) for x, dim in zip(leaves_of(args), dims, strict=True)]
    entries = [x if dim is None else Tensor._of(level.lift(x._current())) for x, dim in zip(given, dims, strict=True)]
    before = [x._current() if isinstance(x, Tensor) else None for x in entries]
    thread.batches.append(level)
    try:
        with level.running():
            result = func(*with_leaves(args, entries), **kwargs)
            for written in zip(given, entries, before, strict=True):
                _write_back(level, *written)
    finally:
        thread.batches.pop()
    places = _places(label, out_dims, result)
    leaves = leaves_of(result)
    return with_leaves(result, [_whole(label, level, *pair) for pair in zip(leaves, places, strict=True)])


def _checked(label: str, in_dims: Any, args: tuple[Any, ...], given: Sequence[Any]) -> tuple[list[Any], int]:
    """Return the dimension that is mapped of each leaf, and the size of the batch."""
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{label}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"{label.partition(',')[0]})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying "
            "to vmap over a function with no inputs. The latter is unsupported."
        )
    try:
        dims = spread(in_dims, args, "in_dims")
    except ValueError:
        raise ValueError(f"{label}: {_incompatible('in_dims', in_dims, 'inputs', args)}") from None
    dims = [_dim(label, *pair) for pair in zip(dims, given, strict=True)]
    sizes = [x.shape[dim] for x, dim in zip(given, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return dims, sizes[0]


def _dim(label: str, dim: Any, given: Any) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{label}: Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    if not isinstance(given, (Tensor, jax.Array)):
        raise ValueError(
            f"{label}: Got in_dim={dim} for an input but the input is of type {type(given)}. We cannot vmap over "
            "non-Tensor arguments, please use None as the respective in_dim"
        )
    rank = len(given.shape)
    if not -rank <= dim < rank:
        raise ValueError(
            f"{label}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {rank} so "
            f"expected in_dim to satisfy -{rank} <= in_dim < {rank}."
        )
    return dim % rank


def _write_back(level: BatchLevel, given: Any, entry: Any, before: Variable | None) -> None:
    """Let an input have what the function wrote to it in place, for all entries."""
    if before is None or (now := entry._current()).value is before.value:
        return
    if entry is given:
        if level.is_own(now):
            write(given, before)
            raise RuntimeError(_UNMAPPED)
    elif now.aval.shape == before.aval.shape:  # not so: it took another shape, which is the name's alone
        given._check_writable()
        given._write(_batch_of(level, entry)._current())


_UNMAPPED = (
    "vmap: an in-place operation is not possible on a Tensor that is not vmapped over (its in_dims is None) with one "
    "that is: each entry would write another value. Use an operation that is not in place, or map over both."
)


def _part(given: Any, dim: int | None, start: int, length: int) -> Any:
    return given if dim is None else fg.narrow(given, dim, start, length)


def _incompatible(prefix: str, dims: Any, what: str, tree: Any) -> str:
    return (
        f"{prefix} is not compatible with the structure of `{what}`. {prefix} has structure {tree_structure(dims)} but "
        f"{what} has structure {tree_structure(tree)}."
    )


def _places(label: str, out_dims: Any, result: Any) -> list[Any]:
    if not all(dim is None or isinstance(dim, int) for dim in leaves_of(out_dims)):
        raise ValueError(
            f"vmap({label}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints "
            "representing where in the outputs the vmapped dimension should appear."
        )
    if isinstance(result, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
        return list(out_dims)
    try:
        return spread(out_dims, result, "out_dims")
    except ValueError:
        words = _incompatible("out_dims", out_dims, "outputs", result)
        raise ValueError(f"vmap({label}, ..., out_dims={out_dims})(<inputs>): {words}") from None


def _whole(label: str, level: BatchLevel, result: Any, dim: int | None) -> Any:
    """Return a result with the batch as its dimension `dim`."""
    is_entry = isinstance(result, Tensor) and level.is_own(result._current())
    if dim is None:
        if is_entry:
            raise ValueError(f"vmap({label}, ...): `{label}` can not return a BatchedTensor when out_dim is None")
        return result
    if not isinstance(result, Tensor):
        raise ValueError(
            f"vmap({label}, ...): `{label}` must only return Tensors, got type {type(result)}. Did you mean to set "
            "out_dims= to None for output?"
        )
    batch = _batch_of(level, result)
    if not -batch.ndim <= dim < batch.ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-batch.ndim}, {batch.ndim - 1}], but got {dim})"
        )
    return batch if dim == 0 else fg.movedim(batch, 0, dim)


def _batch_of(level: BatchLevel, entry: Tensor) -> Tensor:
    """Return all entries, the batch as the first dimension: alike where nothing of the batch is in them."""
    variable = entry._current()
    if level.is_own(variable):
        return Tensor._of(level.lower(variable))
    return entry.unsqueeze(0).expand(level.size, *entry.shape)


def _joined(label: str, parts: list[Any], out_dims: Any) -> Any:
    places = _places(label, out_dims, parts[0])
    columns = zip(*map(leaves_of, parts), strict=True)
    joined = [
        column[0] if dim is None else fg.cat(list(column), dim) for column, dim in zip(columns, places, strict=True)
    ]
    return with_leaves(parts[0], joined)
