"""DeviceMesh as scripts make it for one process: every dimension has size 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.groups import ProcessGroup


class DeviceMesh:
    """A grid of processes with this one alone in it. `mesh`: the ranks, nested by dimensions; one dimension if None."""

    def __init__(
        self, device_type: str, mesh: Any = None, *, mesh_dim_names: Sequence[str] | None = None, **_: Any
    ) -> None:
        self.device_type = device_type
        self.shape: tuple[int, ...] = (1,) if mesh is None else np.shape(mesh)
        self.mesh_dim_names = tuple(mesh_dim_names) if mesh_dim_names else None
        _check(self.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def mesh(self) -> Tensor:
        """The ranks: that of this process. Shape: the mesh's."""
        return fg.zeros(self.shape, dtype=dtypes.int32)

    def size(self, mesh_dim: int | None = None) -> int:
        """Return 1."""
        return 1

    def get_rank(self) -> int:
        """Return 0."""
        return 0

    def get_local_rank(self, mesh_dim: Any = None) -> int:
        """Return 0."""
        return 0

    def get_coordinate(self) -> list[int]:
        """Return where this process is: 0 in each dimension."""
        return [0] * self.ndim

    def get_group(self, mesh_dim: Any = None) -> ProcessGroup:
        """Return the group of one dimension."""
        return ProcessGroup()

    def get_all_groups(self) -> list[ProcessGroup]:
        """Return the group of each dimension."""
        return [ProcessGroup() for _ in self.shape]

    def __getitem__(self, names: str | Sequence[str]) -> DeviceMesh:
        """Return the mesh of some dimensions. KeyError for a name that there is not."""
        wanted = (names,) if isinstance(names, str) else tuple(names)
        for name in wanted:
            if name not in (self.mesh_dim_names or ()):
                raise KeyError(f"Invalid mesh_dim_name {name}: the mesh has {self.mesh_dim_names}")
        return DeviceMesh(self.device_type, np.zeros((1,) * len(wanted)), mesh_dim_names=wanted)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceMesh) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self._facts())

    def _facts(self) -> tuple[Any, ...]:
        return self.device_type, self.shape, self.mesh_dim_names

    def __repr__(self) -> str:
        if self.mesh_dim_names:
            shown = f"({', '.join(f'{name}=1' for name in self.mesh_dim_names)})"
        else:
            shown = str(self.shape)
        return f"DeviceMesh({shown}, '{self.device_type}', stride={((),) * self.ndim})"


def init_device_mesh(
    device_type: str, mesh_shape: Sequence[int], *, mesh_dim_names: Sequence[str] | None = None, **_: Any
) -> DeviceMesh:
    """Return a mesh of one process; RuntimeError for a larger one."""
    _check(mesh_shape)
    return DeviceMesh(device_type, np.zeros(tuple(mesh_shape)), mesh_dim_names=mesh_dim_names)


def _check(shape: Sequence[int]) -> None:
    if math.prod(shape) != 1:
        raise RuntimeError(f"a mesh of {tuple(shape)} needs {math.prod(shape)} processes, and this is the only")
