"""torch._logging: which parts of torch's compiler write logs, of which there are none to be written here."""

from __future__ import annotations

from typing import Any


def set_logs(**levels: Any) -> None:
    """Accept the levels that torch's own parts are to log at."""
