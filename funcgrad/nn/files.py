"""torch.load as scripts call it: layers and Parameters are known by then, whether or not the script has named one."""

from __future__ import annotations

from funcgrad.nn import modules, parameter
from funcgrad.serialization import load

__all__ = ["load", "modules", "parameter"]
