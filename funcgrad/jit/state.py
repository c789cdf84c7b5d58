"""Whether scripting and tracing are on: PYTORCH_JIT=0 turns them off, and then what is given comes back as it is."""

from __future__ import annotations

import os

_WORDS = {"1": True, "true": True, "yes": True, "1v": True, "0": False, "false": False, "no": False, "0v": False}
_TOLD = {"1v": "> Using PyTorch JIT", "0v": "> PyTorch JIT DISABLED"}


class EnabledProxy:
    """A switch that is true while it is on. ValueError: PYTORCH_JIT is neither 0 nor 1."""

    def __init__(self) -> None:
        given = os.environ.get("PYTORCH_JIT", "1")
        if given.lower() not in _WORDS:
            raise ValueError("Unknown setting of PYTORCH_JIT. Try using 0 or 1.")
        self.enabled = _WORDS[given.lower()]
        if given in _TOLD:
            print(_TOLD[given])

    def __bool__(self) -> bool:
        return self.enabled


_enabled = EnabledProxy()


def disable() -> None:
    """Let scripting and tracing return what they are given."""
    _enabled.enabled = False


def enable() -> None:
    """Turn scripting and tracing on again."""
    _enabled.enabled = True
