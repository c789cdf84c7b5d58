"""The C library's heap keeps what XLA lets go.

On a CPU XLA asks for the memory of each result, and of what lies between, in each run, and glibc fetches large pieces
from the system anew: each page is then filled with zeros once more, which can take as long as the computing itself.
"""

from __future__ import annotations

import ctypes
import os
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's malloc.h
_KEPT = {_MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 1 << 30}  # bytes; glibc takes no more for the first
_CHOSEN_BY = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES")


def keep_freed_memory() -> bool:
    """Let the heap keep up to a GiB for the next run; tell whether it will. What the environment says goes first."""
    if sys.platform != "linux" or any(name in os.environ for name in _CHOSEN_BY):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
    return mallopt is not None and {mallopt(option, size) for option, size in _KEPT.items()} == {1}
