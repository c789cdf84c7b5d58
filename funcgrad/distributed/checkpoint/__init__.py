"""torch.distributed.checkpoint over orbax: large states go to a folder, shard by shard, in the background if wished."""

from __future__ import annotations

from funcgrad.distributed.checkpoint import format_utils, hf_storage, state_dict
from funcgrad.distributed.checkpoint.folder import CheckpointException
from funcgrad.distributed.checkpoint.saving import (
    FileSystemReader,
    FileSystemWriter,
    Stateful,
    async_save,
    load,
    save,
)

save_state_dict, load_state_dict = save, load

__all__ = [
    "CheckpointException", "FileSystemReader", "FileSystemWriter", "Stateful", "async_save", "format_utils",
    "hf_storage", "load", "load_state_dict", "save", "save_state_dict", "state_dict",
]  # fmt: skip
