"""save, async_save and load: a state's tensors go to a folder, each shard by itself, and come back where they are."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Protocol, runtime_checkable

from funcgrad._base.world import world
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.checkpoint.folder import CheckpointException, Reader, write
from funcgrad.distributed.checkpoint.naming import Leaf, Outline, flattened, outline, put_at


@runtime_checkable
class Stateful(Protocol):
    """What has a state of its own, as modules and optimizers have: it is asked for it, and given it back."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any:
        """Take on a state."""
        ...


class FileSystemWriter:
    """Where a checkpoint is written; the other options of torch's are accepted and not needed."""

    def __init__(self, path: str | os.PathLike[str], *_: Any, overwrite: bool = True, **__: Any) -> None:
        self.path, self.overwrite = path, overwrite

    def write(self, leaves: Mapping[str, Leaf], plan: Outline) -> Callable[[], None]:
        """Begin to write leaves by name; call the result to wait until all is there."""
        return write(self.path, leaves, plan)


class FileSystemReader:
    """Where a checkpoint is read."""

    def __init__(self, path: str | os.PathLike[str], *_: Any, **__: Any) -> None:
        self.path = path

    def open(self) -> Any:
        """Return the checkpoint, as `folder.Reader` is one."""
        return Reader(self.path)


def save(
    state_dict: Mapping[str, Any], *, checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: FileSystemWriter | None = None, **_: Any,
) -> None:  # fmt: skip
    """Write a nested state to a folder, which is there as a whole or not at all; needs orbax.

    A tensor that is sharded over devices is written shard by shard. Objects with a `state_dict` are asked for it. Of
    several processes, which have the same state, the first writes it, and the others wait for that.
    """
    if world().rank == 0:
        _write(state_dict, checkpoint_id, storage_writer)()
    if world().size > 1:
        world().group.exchange(b"")


def async_save(
    state_dict: Mapping[str, Any], *, checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: FileSystemWriter | None = None, **_: Any,
) -> Future[None]:  # fmt: skip
    """Begin to write a state as it is now, and return at once; the Future is done when the folder is whole."""
    future = Future[None]()
    finish = _write(state_dict, checkpoint_id, storage_writer) if world().rank == 0 else lambda: None

    def run() -> None:
        try:
            future.set_result(finish())
        except BaseException as error:  # whoever waits for the future is told
            future.set_exception(error)

    threading.Thread(target=run, name="checkpoint").start()
    return future


def load(
    state_dict: dict[str, Any], *, checkpoint_id: str | os.PathLike[str] | None = None,
    storage_reader: FileSystemReader | None = None, planner: Any = None, **_: Any,
) -> None:  # fmt: skip
    """Read into a state: its tensors in place, sharded as they are now and in their dtypes; all else is replaced.

    CheckpointException for what the checkpoint does not hold, or in another shape.
    """
    states = _states(state_dict)
    reader = (storage_reader or FileSystemReader(_named(checkpoint_id))).open()
    named = flattened(states)
    tensors = {name: leaf for name, (_, leaf) in named.items() if name in reader.shapes and isinstance(leaf, Tensor)}
    for name, (_place, leaf) in named.items():
        _check(reader, name, leaf)
    reader.read_into(tensors)
    others = {**reader.rest, **reader.read(name for name in named if name in reader.shapes and name not in tensors)}
    for name, (place, _) in named.items():
        if name not in tensors:
            put_at(states, place, others[name])
    for key, given in list(state_dict.items()):
        if isinstance(given, Stateful):
            given.load_state_dict(states[key])
        else:
            state_dict[key] = states[key]


def _write(state: Mapping[str, Any], folder: Any, writer: FileSystemWriter | None) -> Any:
    writer = writer or FileSystemWriter(_named(folder))
    if not writer.overwrite and os.path.exists(writer.path):
        raise CheckpointException(f"Checkpoint already exists and overwrite=False: {writer.path}")
    states = _states(state)
    return writer.write({name: leaf for name, (_, leaf) in flattened(states).items()}, outline(states))


def _states(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value.state_dict() if isinstance(value, Stateful) else value for key, value in given.items()}


def _named(folder: str | os.PathLike[str] | None) -> str | os.PathLike[str]:
    if folder is None:
        raise ValueError("a checkpoint needs a folder: checkpoint_id, or a FileSystemWriter or FileSystemReader")
    return folder


def _check(reader: Any, name: str, leaf: Any) -> None:
    if name not in reader.shapes and name not in reader.rest:
        raise CheckpointException(f"Missing key in checkpoint state_dict: {name}.")
    if isinstance(leaf, Tensor) and reader.shapes.get(name, leaf.shape) != tuple(leaf.shape):
        raise CheckpointException(
            f"Size mismatch between saved {list(reader.shapes[name])} and current: {list(leaf.shape)} for {name}"
        )
