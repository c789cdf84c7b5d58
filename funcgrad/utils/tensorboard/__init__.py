"""torch.utils.tensorboard: writes the files that TensorBoard shows, without TensorBoard."""

from __future__ import annotations

from funcgrad.utils.tensorboard import summary
from funcgrad.utils.tensorboard.writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter", "summary"]
