"""Checkpoints in folders of safetensors files, as Hugging Face's libraries write and read them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from funcgrad._tape.modes import no_grad
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.checkpoint.folder import CheckpointException
from funcgrad.distributed.checkpoint.naming import Leaf, Outline
from funcgrad.distributed.checkpoint.saving import FileSystemReader, FileSystemWriter
from funcgrad.serialization.safetensors import load_file, save_file

_INDEX = "model.safetensors.index.json"


class HuggingFaceStorageWriter(FileSystemWriter):
    """Where a state of tensors is written, as `model-00001-of-00002.safetensors`, with an index of the files.

    `fqn_to_index_mapping`: the number of each tensor's file, from 1; all in one without. `save_distributed` writes
    files of this process's shards, which are whole, and no index.
    """

    def __init__(
        self, path: str | os.PathLike[str], fqn_to_index_mapping: Mapping[str, int] | None = None, *_: Any,
        save_distributed: bool = False, enable_consolidation: bool = False, **__: Any,
    ) -> None:  # fmt: skip
        super().__init__(path)
        self.fqn_to_index_mapping = fqn_to_index_mapping
        self._prefix = "shard-00001-" if save_distributed and not enable_consolidation else ""

    def write(self, leaves: Mapping[str, Leaf], plan: Outline) -> Callable[[], None]:
        """Write the files at once; there is nothing left to wait for. ValueError for what is no tensor."""
        folder, files = Path(self.path), self._files(leaves)
        folder.mkdir(parents=True, exist_ok=True)
        for name, names in files.items():
            save_file({key: leaves[key].detach() for key in names}, folder / name)
        if not self._prefix:
            size = sum(leaf.nbytes for leaf in leaves.values())
            weight_map = {key: name for name, names in files.items() for key in names}
            index = {"metadata": {"total_size": size}, "weight_map": weight_map}
            (folder / _INDEX).write_text(json.dumps(index, indent=2))
        return lambda: None

    def _files(self, leaves: Mapping[str, Leaf]) -> dict[str, list[str]]:
        numbers = self.fqn_to_index_mapping or dict.fromkeys(leaves, 1)
        files: dict[str, list[str]] = {}
        for key, leaf in leaves.items():
            if not isinstance(leaf, Tensor):
                raise ValueError(f"safetensors files hold tensors alone: {key} is of {type(leaf)}")
            name = f"{self._prefix}model-{numbers[key]:05d}-of-{max(numbers.values()):05d}.safetensors"
            files.setdefault(name, []).append(key)
        return files


class Metadata(NamedTuple):
    """What a checkpoint holds: the shape of each tensor."""

    state_dict_metadata: dict[str, tuple[int, ...]]


class HuggingFaceStorageReader(FileSystemReader):
    """Where a state of tensors is read: all safetensors files of a folder."""

    def read_metadata(self) -> Metadata:
        """Return what the files hold."""
        return Metadata(self.open().shapes)

    def open(self) -> _Files:
        """Return the files' tensors. CheckpointException where there is no file."""
        return _Files(self.path)


class _Files:
    """The safetensors files of a folder; has what `folder.Reader` has."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        paths = sorted(Path(folder).glob("*.safetensors"))
        if not paths:
            raise CheckpointException(f"there is no checkpoint: no safetensors file in {folder}")
        self._tensors = {key: tensor for path in paths for key, tensor in load_file(path).items()}
        self.shapes = {key: tuple(tensor.shape) for key, tensor in self._tensors.items()}
        self.rest: dict[str, Leaf] = {}

    def read_into(self, tensors: Mapping[str, Tensor]) -> None:
        """Write into tensors by name, in place, cast to each one's dtype."""
        with no_grad():
            for key, tensor in tensors.items():
                tensor.copy_(self._tensors[key])

    def read(self, names: Iterable[str]) -> dict[str, Tensor]:
        """Return tensors by name."""
        return {key: self._tensors[key] for key in names}
