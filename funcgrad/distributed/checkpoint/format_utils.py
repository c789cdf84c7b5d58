"""Between a checkpoint's folder and the one file that `torch.save` writes."""

from __future__ import annotations

import os

from funcgrad.distributed.checkpoint.folder import Reader
from funcgrad.distributed.checkpoint.naming import filled
from funcgrad.distributed.checkpoint.saving import save
from funcgrad.serialization import load as load_file
from funcgrad.serialization import save as save_file

__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]


def dcp_to_torch_save(dcp_checkpoint_dir: str | os.PathLike[str], torch_save_path: str | os.PathLike[str]) -> None:
    """Write what a checkpoint's folder holds to one file."""
    reader = Reader(dcp_checkpoint_dir)
    save_file(filled(reader.outline, {**reader.rest, **reader.read(reader.shapes)}), torch_save_path)


def torch_save_to_dcp(torch_save_path: str | os.PathLike[str], dcp_checkpoint_dir: str | os.PathLike[str]) -> None:
    """Write what one file holds to a checkpoint's folder."""
    save(load_file(torch_save_path), checkpoint_id=dcp_checkpoint_dir)
