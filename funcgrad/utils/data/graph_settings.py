"""torch.utils.data.graph_settings: what a DataLoader sets in a pipe and in all that it is put together of."""

from __future__ import annotations

import inspect
from typing import Any

from funcgrad._base.warning import warn
from funcgrad.random.generator import Generator
from funcgrad.utils.data import draws
from funcgrad.utils.data.datapipes.iter.ordering import SHARDING_PRIORITIES
from funcgrad.utils.data.graph import DataPipeGraph, traverse_dps

__all__ = [
    "apply_random_seed", "apply_sharding", "apply_shuffle_seed", "apply_shuffle_settings", "get_all_graph_pipes",
]  # fmt: skip


def get_all_graph_pipes(graph: DataPipeGraph) -> list[Any]:
    """Return the pipes of a graph, each once: a pipe before those that it is made of."""
    found: dict[int, Any] = {}

    def collect(part: DataPipeGraph) -> None:
        for number, (pipe, sources) in part.items():
            if number not in found:
                found[number] = pipe
                collect(sources)

    collect(graph)
    return list(found.values())


def apply_sharding(
    datapipe: Any, num_of_instances: int, instance_id: int, sharding_group: Any = SHARDING_PRIORITIES.DEFAULT
) -> Any:
    """Let each `sharding_filter` in a pipe take one part of so many. RuntimeError where one is behind another."""

    def share_out(graph: DataPipeGraph, before: Any) -> None:
        for pipe, sources in graph.values():
            sharing = before
            if _has(pipe, "apply_sharding"):
                if before is not None:
                    raise RuntimeError(
                        "Sharding twice on a single pipeline is likely unintended and will cause data loss. "
                        f"Sharding already applied to {before} while trying to apply to {pipe}"
                    )
                takes_group = len(inspect.signature(pipe.apply_sharding).parameters) >= 3
                given = {"sharding_group": sharding_group} if takes_group else {}
                pipe.apply_sharding(num_of_instances, instance_id, **given)
                sharing = pipe
            share_out(sources, sharing)

    share_out(traverse_dps(datapipe), None)
    return datapipe


def _has(pipe: Any, *names: str) -> bool:
    return all(inspect.ismethod(getattr(pipe, name, None)) for name in names)


def apply_shuffle_settings(datapipe: Any, shuffle: bool | None = None) -> Any:
    """Turn the shufflers in a pipe on or off and return it, with one at its end where it has none to turn on."""
    if shuffle is None:
        return datapipe
    pipes = get_all_graph_pipes(traverse_dps(datapipe))
    shufflers = [pipe for pipe in pipes if _has(pipe, "set_shuffle", "set_seed")]
    if not shufflers and shuffle:
        warn(
            "`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. Be aware "
            "that the default buffer size might not be sufficient for your task."
        )
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for shuffler in shufflers:
        shuffler.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe: Any, rng: Generator) -> Any:
    """Give each pipe that has a `set_seed` a seed drawn from `rng`, and return the pipe."""
    for pipe in get_all_graph_pipes(traverse_dps(datapipe)):
        if _has(pipe, "set_seed"):
            pipe.set_seed(draws.seed(rng))
    return datapipe


def apply_shuffle_seed(datapipe: Any, rng: Generator) -> Any:
    """Do as `apply_random_seed` does, with a warning that this is its older name."""
    warn(
        "`apply_shuffle_seed` is deprecated since 1.12 and will be removed in the future releases. Please use "
        "`apply_random_seed` instead.",
        FutureWarning,
    )
    return apply_random_seed(datapipe, rng)
