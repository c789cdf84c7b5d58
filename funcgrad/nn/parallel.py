"""DataParallel: kept for torch's scripts. A batch on a mesh of devices needs no copies of the module."""

from __future__ import annotations

from typing import Any

from funcgrad.nn.module import Module


class DataParallel(Module):
    """Call `module` as it is; its parameters keep torch's prefix "module."."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.dim = dim
        self.module = module
        self.device_ids = [] if device_ids is None else list(device_ids)
        self.output_device = output_device

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*inputs, **kwargs)
