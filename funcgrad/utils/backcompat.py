"""torch.utils.backcompat: switches of warnings that torch 0.2 gave; there is nothing to warn of."""

from __future__ import annotations

from types import SimpleNamespace

broadcast_warning = SimpleNamespace(enabled=False)
keepdim_warning = SimpleNamespace(enabled=False)
