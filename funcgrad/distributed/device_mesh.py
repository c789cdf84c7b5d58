"""DeviceMesh as scripts make it for one process: every dimension has size 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from funcgrad.distributed.groups import ProcessGroup


class DeviceMesh:
    """A grid of processes with this one alone in it."""

    def __init__(
        self, device_type: str, mesh: Any = None, *, mesh_dim_names: Sequence[str] | None = None, **_: Any
    ) -> None:
        self.device_type, self.mesh = device_type, mesh
        self.mesh_dim_names = tuple(mesh_dim_names) if mesh_dim_names else None

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return (1,) * (len(self.mesh_dim_names) if self.mesh_dim_names else 1)

    def size(self, mesh_dim: int | None = None) -> int:
        """Return 1."""
        return 1

    def get_rank(self) -> int:
        """Return 0."""
        return 0

    def get_local_rank(self, mesh_dim: Any = None) -> int:
        """Return 0."""
        return 0

    def get_group(self, mesh_dim: Any = None) -> ProcessGroup:
        """Return the group of one dimension."""
        return ProcessGroup()

    def __getitem__(self, names: str | Sequence[str]) -> DeviceMesh:
        wanted = (names,) if isinstance(names, str) else tuple(names)
        return DeviceMesh(self.device_type, self.mesh, mesh_dim_names=wanted)


def init_device_mesh(
    device_type: str, mesh_shape: Sequence[int], *, mesh_dim_names: Sequence[str] | None = None, **_: Any
) -> DeviceMesh:
    """Return a mesh of one process; RuntimeError for a larger one."""
    if math.prod(mesh_shape) != 1:
        raise RuntimeError(
            f"a mesh of {tuple(mesh_shape)} needs {math.prod(mesh_shape)} processes, and this is the only"
        )
    return DeviceMesh(device_type, None, mesh_dim_names=mesh_dim_names or [f"dim_{i}" for i in range(len(mesh_shape))])
