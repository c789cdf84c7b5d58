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
from funcgrad.func.wrapped import _remove_batch_dim, batch_of, enter, level_at
from funcgrad.random.generator import get_rng_state, set_rng_state
from funcgrad.utils._pytree import TreeSpec, tree_flatten, tree_structure, tree_unflatten

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
        size, dims, given, structure = _process_batched_inputs(in_dims, args, func)
        if chunk_size is None:
            return _run(func, kwargs, size, (dims, given, structure), out_dims, randomness)
        parts = []
        drawn = get_rng_state() if randomness == "same" else None
        for start in range(0, max(size, 1), chunk_size):
            length = min(chunk_size, size - start)
            part = [_part(x, dim, start, length) for x, dim in zip(given, dims, strict=True)]
            if drawn is not None:
                set_rng_state(drawn)
            parts.append(_run(func, kwargs, length, (dims, part, structure), out_dims, randomness))
        return parts[0] if len(parts) == 1 else _joined(func, parts, out_dims)

    return mapped


def _run(
    func: Callable[..., Any], kwargs: dict[str, Any], size: int, inputs: tuple[list[Any], list[Any], TreeSpec],
    out_dims: Any, randomness: str,
) -> Any:  # fmt: skip
    level = BatchLevel(size, randomness)
    dims, given, structure = inputs
    alike = [x for x, dim in zip(given, dims, strict=True) if dim is None and isinstance(x, Tensor)]
    level.entered = [(x, x, x._current()) for x in alike]
    thread.batches.append(level)
    try:
        with level.running():
            nesting = len(thread.running)
            result = func(*_create_batched_inputs(dims, given, nesting, structure), **kwargs)
            for written in level.entered:
                _write_back(level, *written)
            return _unwrap_batched(result, out_dims, nesting, size, func)
    finally:
        level.entered.clear()
        level.revived.clear()
        thread.batches.pop()


# Three steps by torch's names, with its parameters: libraries with containers of tensors put their own in these places.


def _process_batched_inputs(
    in_dims: Any, args: tuple[Any, ...], func: Callable[..., Any]
) -> tuple[int, list[int | None], list[Any], TreeSpec]:
    """Return the size of the batch; of each leaf the dimension that is mapped; the leaves and their structure."""
    label = f"vmap({_get_name(func)}, in_dims={in_dims}, ...)(<inputs>)"
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
        spread_dims = spread(in_dims, args, "in_dims")
    except ValueError:
        raise ValueError(f"{label}: {_incompatible('in_dims', in_dims, 'inputs', args)}") from None
    given, structure = tree_flatten(args)
    dims = [_dim(label, *pair) for pair in zip(spread_dims, given, strict=True)]
    sizes = [x.shape[dim] for x, dim in zip(given, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0], dims, given, structure


def _create_batched_inputs(
    flat_in_dims: Sequence[int | None], flat_args: Sequence[Any], vmap_level: int, args_spec: TreeSpec
) -> Any:
    """Return the arguments as each entry of the batch has them."""
    level, pairs = level_at(vmap_level), zip(flat_in_dims, flat_args, strict=True)
    return tree_unflatten([x if dim is None else enter(level, x, dim) for dim, x in pairs], args_spec)


def _unwrap_batched(
    batched_outputs: Any, out_dims: Any, vmap_level: int, batch_size: int, func: Callable[..., Any]
) -> Any:
    """Return the results with the batch as one of their dimensions."""
    name = _get_name(func)
    leaves, structure = tree_flatten(batched_outputs)
    places = zip(leaves, _places(name, out_dims, batched_outputs), strict=True)
    whole = [_maybe_remove_batch_dim(name, leaf, vmap_level, batch_size, dim) for leaf, dim in places]
    return tree_unflatten(whole, structure)


def _get_name(func: Callable[..., Any]) -> str:
    """Return what errors call a function."""
    if isinstance(func, functools.partial):
        return f"functools.partial({_get_name(func.func)}, ...)"
    return getattr(func, "__name__", repr(func))


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


def _write_back(level: BatchLevel, given: Tensor, entry: Tensor, before: Variable) -> None:
    """Let an input have what the function wrote to it in place, for all entries."""
    now = entry._current()
    if now.value is before.value:
        return
    if entry is given:
        if level.is_own(now):
            write(given, before)
            raise RuntimeError(_UNMAPPED)
    elif now.aval.shape == before.aval.shape:  # not so: it took another shape, which is the name's alone
        given._check_writable()
        given._write(batch_of(level, entry)._current())


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


def _maybe_remove_batch_dim(
    name: str, batched_output: Any, vmap_level: int, batch_size: int, out_dim: int | None
) -> Any:
    """Return a result with the batch as its dimension `out_dim`; None: nothing of the batch may be in it."""
    if out_dim is None:
        if isinstance(batched_output, Tensor) and level_at(vmap_level).is_own(batched_output._current()):
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return batched_output
    if not isinstance(batched_output, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(batched_output)}. Did you mean to "
            "set out_dims= to None for output?"
        )
    return _remove_batch_dim(batched_output, vmap_level, batch_size, out_dim)


def _joined(func: Callable[..., Any], parts: list[Any], out_dims: Any) -> Any:
    places = _places(_get_name(func), out_dims, parts[0])
    columns = zip(*map(leaves_of, parts), strict=True)
    joined = [
        column[0] if dim is None else fg.cat(list(column), dim) for column, dim in zip(columns, places, strict=True)
    ]
    return with_leaves(parts[0], joined)
