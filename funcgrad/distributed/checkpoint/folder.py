"""The folder of one checkpoint: orbax writes each shard from its own device, in the background, and reads it there."""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from funcgrad._tensor.interop import from_host, to_jax
from funcgrad._tensor.names import assign_host, assign_jax
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.checkpoint.naming import Leaf, Outline
from funcgrad.serialization import load as load_object
from funcgrad.serialization import save as save_object

HAS_ORBAX = importlib.util.find_spec("orbax") is not None
_REST = "__rest__"  # beside the tensors: as bytes, all that is no array, and the outline of the state


class CheckpointException(RuntimeError):  # noqa: N818 - torch's own name
    """A checkpoint cannot be read, or does not hold what was asked of it."""


def orbax() -> Any:
    """Return orbax.checkpoint; ImportError that says how to get it where it is not installed."""
    if not HAS_ORBAX:
        raise ImportError(
            "sharded and asynchronous checkpoints need orbax: pip install 'funcgrad[checkpoint]' (or orbax-checkpoint)",
            name="orbax",
        )
    return importlib.import_module("orbax.checkpoint")


def write(folder: str | os.PathLike[str], leaves: Mapping[str, Leaf], plan: Outline) -> Callable[[], None]:
    """Begin to write: the numbers are those of now. Call the result to wait until all is in `folder`.

    The folder of an earlier checkpoint is replaced once the new one is whole.
    """
    library = orbax()
    target = Path(folder).absolute()
    draft = target.with_name(f"{target.name}.{secrets.token_hex(4)}") if target.exists() else target
    arrays = {name: to_jax(leaf.detach()) for name, leaf in leaves.items() if _is_array(leaf)}
    rest = {name: leaf for name, leaf in leaves.items() if name not in arrays}
    tree = {**arrays, _REST: _as_bytes({"outline": plan, "rest": rest})}
    writer = library.AsyncCheckpointer(library.PyTreeCheckpointHandler())
    with jax.enable_x64(True):
        writer.save(draft, args=library.args.PyTreeSave(tree))

    def finish() -> None:
        with writer:
            writer.wait_until_finished()
        if draft != target:
            _replace(draft, target)

    return finish


def _is_array(leaf: Leaf) -> bool:
    return isinstance(leaf, Tensor) and leaf.numel() > 0  # orbax refuses arrays without elements


def _as_bytes(given: Any) -> np.ndarray[Any, Any]:
    file = io.BytesIO()
    save_object(given, file)
    return np.frombuffer(file.getvalue(), np.uint8)


def _replace(draft: Path, target: Path) -> None:
    old = target.with_name(f"{target.name}.{secrets.token_hex(4)}")
    target.rename(old)
    draft.rename(target)
    shutil.rmtree(old)


class Reader:
    """A checkpoint that is there. `shapes`: its arrays'. `rest`: its other leaves. `outline`: how they are nested."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._library = orbax()
        self._folder = Path(folder).absolute()
        if not self._folder.is_dir():
            raise CheckpointException(f"there is no checkpoint: no such folder: {self._folder}")
        with self._opened() as opened:
            tree = opened.metadata(self._folder).item_metadata
        if tree is None or _REST not in tree.tree:
            raise CheckpointException(f"{self._folder} holds no checkpoint that is whole, or another program's")
        self.shapes = {name: tuple(found.shape) for name, found in tree.tree.items() if name != _REST}
        rest = load_object(io.BytesIO(self._restore({_REST: self._on_host()})[_REST].tobytes()))
        self.outline: Outline = rest["outline"]
        self.rest: dict[str, Leaf] = rest["rest"]

    def read_into(self, tensors: Mapping[str, Tensor]) -> None:
        """Write arrays into tensors by name, in place: cast to each one's dtype, and sharded as it is."""
        placements = {name: tensor._current().value.aval.placement for name, tensor in tensors.items()}
        arrays = self._restore({name: self._arguments(tensors[name], place) for name, place in placements.items()})
        for name, tensor in tensors.items():
            assign = assign_host if placements[name] is None else assign_jax
            assign(tensor.detach(), arrays[name])

    def read(self, names: Iterable[str]) -> dict[str, Tensor]:
        """Return arrays by name, on the host."""
        arrays = self._restore(dict.fromkeys(names, self._on_host()))
        return {name: from_host(array) for name, array in arrays.items()}

    def _opened(self) -> Any:
        return self._library.Checkpointer(self._library.PyTreeCheckpointHandler())

    def _on_host(self, kind: Any = None) -> Any:
        return self._library.RestoreArgs(restore_type=np.ndarray, dtype=kind)

    def _arguments(self, tensor: Tensor, placement: Any) -> Any:
        kind = tensor.dtype.numpy
        return (
            self._on_host(kind) if placement is None else self._library.ArrayRestoreArgs(sharding=placement, dtype=kind)
        )

    def _restore(self, wanted: dict[str, Any]) -> dict[str, Any]:
        if not wanted:
            return {}
        args = self._library.args.PyTreeRestore(dict.fromkeys(wanted, 0), wanted, partial_restore=True)
        with self._opened() as opened, jax.enable_x64(True):
            return opened.restore(self._folder, args=args)
