"""DTensor, and the functions that make one. Each process has the whole: it can be replicated, but not split."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from funcgrad._tensor import functions as fg
from funcgrad._tensor.overriding import arm, default, disabled
from funcgrad._tensor.pytree import leaves_of
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.device_mesh import DeviceMesh
from funcgrad.distributed.tensor.placements import Placement, Replicate, Shard
from funcgrad.random import functions as random


class DTensor(Tensor):
    """A tensor that each process of a mesh has as a whole. Functions of it are functions of the whole.

    A result is placed like the first argument that has its shape, else replicated: torch follows the
    placement through each op, which with one process changes no number.
    """

    device_mesh: DeviceMesh
    placements: tuple[Placement, ...]
    __torch_function__: ClassVar[Any] = disabled  # until the first is made: a process that makes none pays nothing

    @staticmethod
    def from_local(
        local_tensor: Tensor, device_mesh: DeviceMesh | None = None, placements: Sequence[Placement] | None = None,
        **_: Any,
    ) -> DTensor:  # fmt: skip
        """Return the tensor whose part in this process, so the whole, is `local_tensor`; gradients go through."""
        return distribute_tensor(local_tensor, device_mesh, placements or [Replicate()])

    def to_local(self, **_: Any) -> Tensor:
        """Return this process's part as a plain tensor; gradients go through."""
        return self._of_class(Tensor)

    full_tensor = to_local

    @property
    def _local_tensor(self) -> Tensor:
        return self.to_local()

    def redistribute(
        self, device_mesh: DeviceMesh | None = None, placements: Sequence[Placement] | None = None, **_: Any
    ) -> DTensor:
        """Return the tensor placed otherwise."""
        return distribute_tensor(self.to_local(), device_mesh or self.device_mesh, placements or self.placements)

    def __repr__(self, **options: Any) -> str:
        local = self.to_local()
        return f"DTensor(local_tensor={local}, device_mesh={self.device_mesh}, placements={self.placements})"


def _placed(
    cls: Any, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
) -> Any:
    """Call a function with the whole tensors, and place its result."""
    result = default(cls, func, types, args, kwargs)
    sources = [x for x in leaves_of((args, kwargs or {})) if isinstance(x, DTensor)]
    for found in leaves_of(result):
        if isinstance(found, DTensor) and "placements" not in vars(found):
            found.device_mesh, found.placements = _place_of(found, sources)
    return result


def _place_of(result: DTensor, sources: Sequence[DTensor]) -> tuple[DeviceMesh, tuple[Placement, ...]]:
    for source in sources:
        if source.shape == result.shape:
            return source.device_mesh, source.placements
    mesh = sources[0].device_mesh
    return mesh, (Replicate(),) * mesh.ndim


def distribute_tensor(
    tensor: Tensor, device_mesh: DeviceMesh | None = None, placements: Sequence[Placement] | None = None, **_: Any
) -> DTensor:
    """Return a tensor placed on a mesh: replicated, unless `placements` has one placement for each of its dimensions.

    ValueError where there are more or fewer. RuntimeError where several processes were to have a part each.
    """
    mesh = device_mesh or DeviceMesh(tensor.device.type)
    placed = tuple(placements) if placements is not None else (Replicate(),) * mesh.ndim
    if len(placed) != mesh.ndim:
        raise ValueError(
            "`placements` must have the same length as `device_mesh.ndim`! "
            f"Found placements length: {len(placed)}, and device_mesh.ndim: {mesh.ndim}."
        )
    if mesh.size() > 1 and not all(isinstance(place, Replicate) for place in placed):
        raise RuntimeError(
            f"a tensor cannot be split over {mesh.size()} processes here: each has all of it (Replicate)"
        )
    if DTensor.__torch_function__ is disabled:
        DTensor.__torch_function__ = classmethod(_placed)
        arm()
    result = tensor._of_class(DTensor)
    result.device_mesh = mesh
    result.placements = tuple(
        Shard(place.dim + tensor.ndim) if type(place) is Shard and place.dim < 0 else place for place in placed
    )
    return result


def distribute_module(
    module: Any, device_mesh: DeviceMesh | None = None, partition_fn: Callable[..., Any] | None = None,
    input_fn: Callable[..., Any] | None = None, output_fn: Callable[..., Any] | None = None,
) -> Any:  # fmt: skip
    """Return the module, whose parameters are whole in the one process; the functions are called as torch calls them.

    `partition_fn(name, submodule, mesh)` once for each part, `input_fn(module, inputs, mesh)` before each forward,
    `output_fn(module, outputs, mesh)` after it.
    """
    mesh = device_mesh or DeviceMesh("cpu")
    if partition_fn is not None:
        for name, part in module.named_modules():
            partition_fn(name, part, mesh)
    if input_fn is not None:
        module.register_forward_pre_hook(lambda found, inputs: input_fn(found, inputs, mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda found, _inputs, outputs: output_fn(found, outputs, mesh))
    return module


def compute_local_shape_and_global_offset(
    global_shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape of this process's part and where it begins: the whole."""
    return tuple(global_shape), (0,) * len(global_shape)


def _made_by(make: Callable[..., Any]) -> Callable[..., DTensor]:
    def made(
        *size: Any, device_mesh: DeviceMesh | None = None, placements: Sequence[Placement] | None = None, **options: Any
    ) -> DTensor:
        return distribute_tensor(make(*size, **options), device_mesh, placements)

    made.__doc__ = f"{(make.__doc__ or '').splitlines()[0]} The result is placed on a mesh."
    return made


empty, ones, zeros, full, rand, randn = (
    _made_by(make) for make in (fg.empty, fg.ones, fg.zeros, fg.full, random.rand, random.randn)
)
