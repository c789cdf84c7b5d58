"""DeviceMesh: the processes of a group as a grid, each line of which is a group too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._base.world import world
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.groups import ProcessGroup, new_group


class DeviceMesh:
    """A grid of processes. `mesh`: their ranks, nested by dimensions; all in one dimension if None.

    All processes make it. RuntimeError where it has not as many places as there are processes.
    """

    def __init__(
        self, device_type: str, mesh: Any = None, *, mesh_dim_names: Sequence[str] | None = None, **_: Any
    ) -> None:
        self.device_type = device_type
        self._ranks: np.ndarray[Any, Any] = np.arange(world().size) if mesh is None else np.asarray(mesh, np.int32)
        self.mesh_dim_names = tuple(mesh_dim_names) if mesh_dim_names else None
        _check(self.shape)
        self._groups = [self._line(dim) for dim in range(self.ndim)]

    def _line(self, dim: int) -> ProcessGroup:
        """Make the groups of a dimension; return that of the line in which this process stands."""
        here = world()
        if here.size == 1:
            return here.group or ProcessGroup(None, [0], 0)
        lines = np.moveaxis(self._ranks, dim, -1).reshape(-1, self.shape[dim])
        made = [new_group(line.tolist()) for line in lines]
        return next(each for each in made if isinstance(each, ProcessGroup))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of processes in each dimension."""
        return self._ranks.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._ranks.ndim

    @property
    def mesh(self) -> Tensor:
        """The ranks. Shape: the mesh's."""
        return from_host(self._ranks.astype(np.int32), device="cpu")

    def size(self, mesh_dim: int | None = None) -> int:
        """Return how many processes there are, in one dimension or in all."""
        return self._ranks.size if mesh_dim is None else self.shape[mesh_dim]

    def get_rank(self) -> int:
        """Return this process's rank among all."""
        return world().rank

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """Return where this process is in a dimension, the only one if None."""
        return self.get_coordinate()[self._dimension(mesh_dim)]

    def get_coordinate(self) -> list[int]:
        """Return where this process is in each dimension."""
        return [int(places[0]) for places in np.nonzero(self._ranks == world().rank)]

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """Return the group of the line of a dimension in which this process stands."""
        return self._groups[self._dimension(mesh_dim)]

    def get_all_groups(self) -> list[ProcessGroup]:
        """Return the group of each dimension."""
        return list(self._groups)

    def _dimension(self, named: int | str | None) -> int:
        if isinstance(named, str):
            return self._named(named)
        if named is None and self.ndim > 1:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` needs to be specified "
                "when device_mesh.ndim > 1."
            )
        return named or 0

    def _named(self, name: str) -> int:
        names = self.mesh_dim_names or ()
        if name not in names:
            raise KeyError(f"Invalid mesh_dim_name {name}: the mesh has {self.mesh_dim_names}")
        return names.index(name)

    def __getitem__(self, names: str | Sequence[str]) -> DeviceMesh:
        """Return the mesh of some dimensions, in which this process stands. KeyError for a name that there is not."""
        wanted = (names,) if isinstance(names, str) else tuple(names)
        dimensions = list(map(self._named, wanted))
        here = tuple([slice(None) if i in dimensions else place for i, place in enumerate(self.get_coordinate())])
        part = object.__new__(DeviceMesh)
        part.device_type, part.mesh_dim_names = self.device_type, wanted
        order = [sorted(dimensions).index(i) for i in dimensions]
        part._ranks, part._groups = self._ranks[here].transpose(order), [self._groups[i] for i in dimensions]
        return part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceMesh) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self._facts())

    def _facts(self) -> tuple[Any, ...]:
        return self.device_type, self.shape, self._ranks.tobytes(), self.mesh_dim_names

    def __repr__(self) -> str:
        if self.mesh_dim_names:
            sizes = zip(self.mesh_dim_names, self.shape, strict=True)
            shown = f"({', '.join(f'{name}={size}' for name, size in sizes)})"
        else:
            shown = str(self.shape)
        strides = [math.prod(self.shape[i + 1 :]) for i in range(self.ndim)]
        told = tuple([() if size == 1 else stride for size, stride in zip(self.shape, strides, strict=True)])
        return f"DeviceMesh({shown}, '{self.device_type}', stride={told})"


def init_device_mesh(
    device_type: str, mesh_shape: Sequence[int], *, mesh_dim_names: Sequence[str] | None = None, **_: Any
) -> DeviceMesh:
    """Return the mesh of all processes in this shape; RuntimeError for one of more or fewer."""
    _check(mesh_shape)
    ranks = np.arange(math.prod(mesh_shape)).reshape(tuple(mesh_shape))
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names)


def _check(shape: Sequence[int]) -> None:
    if math.prod(shape) != world().size:
        raise RuntimeError(f"a mesh of {tuple(shape)} needs {math.prod(shape)} processes, and there are {world().size}")
