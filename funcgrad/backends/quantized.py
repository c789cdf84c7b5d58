"""torch.backends.quantized: quantised layers compute as torch's do on x86, inputs in 7 bits."""

from __future__ import annotations

__all__ = ["engine", "supported_engines"]
engine = "x86"
supported_engines = ["x86"]
