"""`funcgrad.utils`: the name under which torch's scripts look for `data`."""

from __future__ import annotations

from funcgrad.utils import data

__all__ = ["data"]
