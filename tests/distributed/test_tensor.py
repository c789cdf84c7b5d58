"""A DTensor on a mesh of one process is the whole tensor, with a mesh and placements; figures are torch 2.13.0's."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.distributed import init_device_mesh
from funcgrad.distributed import nn as collectives
from funcgrad.distributed.functional_collectives import all_gather_tensor, wait_tensor
from funcgrad.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
    ones,
    parallel,
)
from funcgrad.distributed.tensor.dtensor import compute_local_shape_and_global_offset

MESH = init_device_mesh("cpu", (1,), mesh_dim_names=("tp",))


def test_it_is_printed_with_its_mesh_and_placements() -> None:
    placed = distribute_tensor(torch.ones(2), MESH, [Shard(0)])
    assert repr(placed) == (
        "DTensor(local_tensor=tensor([1., 1.]), device_mesh=DeviceMesh((tp=1), 'cpu', stride=((),)), "
        "placements=(Shard(dim=0),))"
    )
    assert [str(place) for place in (Shard(1), Replicate(), Partial(), Partial("avg"))] == [
        "S(1)",
        "R",
        "P(sum)",
        "P(avg)",
    ]


def test_functions_of_it_are_placed_and_gradients_go_through() -> None:
    plain = torch.arange(6.0).reshape(2, 3).requires_grad_()
    placed = DTensor.from_local(plain, MESH, [Shard(-1)])
    assert placed.placements == (Shard(1),)
    assert (placed * 2).placements == (Shard(1),)
    assert (placed @ placed.T).placements == (Replicate(),)
    whole = (placed * placed).redistribute(placements=[Replicate()]).full_tensor()
    assert type(whole) is torch.Tensor
    whole.sum().backward()
    assert plain.grad is not None
    assert plain.grad.tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]


def test_each_dimension_of_the_mesh_wants_a_placement() -> None:
    with pytest.raises(ValueError, match="must have the same length"):
        distribute_tensor(torch.ones(2), MESH, [Shard(0), Replicate()])
    assert ones(2, 3, device_mesh=init_device_mesh("cpu", (1, 1))).placements == (Replicate(), Replicate())


def test_a_dimension_is_cut_as_torch_cuts_it() -> None:
    assert [Shard.local_shard_size_and_offset(10, 3, rank) for rank in range(3)] == [(4, 0), (4, 4), (2, 8)]
    assert Shard.local_shard_size_and_offset(2, 3, 2) == (0, 2)
    assert compute_local_shape_and_global_offset((4, 5), MESH, [Shard(0)]) == ((4, 5), (0, 0))


def test_modules_stay_whole_and_their_hooks_are_called() -> None:
    layer, seen = nn.Linear(3, 2), []

    def enter(module: Any, inputs: Any, mesh: Any) -> Any:
        seen.append(mesh)
        return tuple(distribute_tensor(x, mesh, [Replicate()]) for x in inputs)

    def leave(module: Any, outputs: Any, mesh: Any) -> Any:
        return outputs.to_local()

    assert distribute_module(layer, MESH, lambda name, part, mesh: seen.append(name), enter, leave) is layer
    assert type(layer(torch.ones(1, 3))) is torch.Tensor
    assert seen == ["", MESH]
    assert parallel.parallelize_module(layer, MESH, parallel.ColwiseParallel()) is layer


def test_a_mesh_is_known_by_its_shape_and_names() -> None:
    mesh = init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
    assert mesh["tp"] == MESH
    assert (mesh.ndim, mesh.mesh.tolist(), repr(mesh)) == (2, [[0]], "DeviceMesh((dp=1, tp=1), 'cpu', stride=((), ()))")
    with pytest.raises(KeyError, match="pp"):
        mesh["pp"]


@pytest.mark.usefixtures("group")
def test_collectives_that_return_what_they_make() -> None:
    x = torch.ones(2, requires_grad=True)
    (gathered,) = collectives.all_gather(x)
    (gathered * wait_tensor(all_gather_tensor(x, 0))).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0]
