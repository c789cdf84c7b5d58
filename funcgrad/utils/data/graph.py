"""torch.utils.data.graph: the pipes that a pipe is put together of, found among its attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from funcgrad._base.warning import warn
from funcgrad.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]
DataPipe = IterDataPipe[Any] | MapDataPipe[Any]
DataPipeGraph = dict[int, tuple[Any, Any]]  # a pipe's id -> the pipe, and the graph of those that it is made of


def traverse_dps(datapipe: Any) -> DataPipeGraph:
    """Return a pipe's graph: {id: (pipe, {id: (source, ...)})}. RuntimeError for what is no pipe.

    Sources are attributes that are pipes, or lists, tuples, sets and dicts of them.
    """
    return _traversed(datapipe, frozenset())


def _traversed(pipe: Any, path: frozenset[int]) -> DataPipeGraph:
    if not isinstance(pipe, (IterDataPipe, MapDataPipe)):
        raise RuntimeError(f"Expected `IterDataPipe` or `MapDataPipe`, but {type(pipe)} is found")
    if id(pipe) in path:
        return {}
    path = path | {id(pipe)}
    sources: DataPipeGraph = {}
    for source in {id(found): found for found in _pipes_in(vars(pipe))}.values():
        sources.update(_traversed(source, path))
    return {id(pipe): (pipe, sources)}


def _pipes_in(held: Any) -> Iterator[Any]:
    if isinstance(held, (IterDataPipe, MapDataPipe)):
        yield held
    elif isinstance(held, Mapping):
        for inner in held.values():
            yield from _pipes_in(inner)
    elif isinstance(held, (list, tuple, Set)):
        for inner in held:
            yield from _pipes_in(inner)


def traverse(datapipe: Any, only_datapipe: bool | None = None) -> DataPipeGraph:
    """Return a pipe's graph, as `traverse_dps` does, with a warning that this is its older name."""
    ends = " And, the behavior will be changed to the equivalent of `only_datapipe=True`." * (not only_datapipe)
    warn(
        "`traverse` function is deprecated and will be removed after 1.13. Please use `traverse_dps` instead." + ends,
        FutureWarning,
    )
    return traverse_dps(datapipe)
