"""funcgrad in torch's place: after `install()`, `import torch` and every dotted path below it mean funcgrad."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from pathlib import Path

from funcgrad.standing_in.finder import Finder, hide_views
from funcgrad.standing_in.naming import give_names_back
from funcgrad.standing_in.places import TOPS

__all__ = ["install", "install_in_children", "is_installed", "uninstall"]

_CHILDREN = str(Path(__file__).with_name("children"))  # where Python finds a file of torch's name
# Parts of Python's packages that torch loads: scripts say `urllib.request` after no more than `import urllib`.
_LOADED_WITH_TORCH = ("concurrent.futures", "multiprocessing.connection", "multiprocessing.spawn", "urllib.request")


def install() -> None:
    """Let `import torch`, `import torchvision` and all paths below them mean funcgrad, from now on in this process.

    RuntimeError where a part of the real torch is loaded already: its tensors and ours would meet.
    """
    if is_installed():
        return
    loaded = sorted(name for name in sys.modules if name.partition(".")[0] in TOPS)
    if loaded:
        raise RuntimeError(f"install() comes too late: {loaded[0]} is imported already; call it before that import")
    sys.meta_path.insert(0, Finder())
    for part in _LOADED_WITH_TORCH:
        importlib.import_module(part)
    # PyTorch warns of no fork. Here a child may do all but use tensors, which is refused where it would wait for ever.
    warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)


def install_in_children() -> None:
    """Let `import torch` mean funcgrad in each Python that this process starts, as launchers do, and in theirs."""
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if _CHILDREN not in before:
        os.environ["PYTHONPATH"] = os.pathsep.join([_CHILDREN, *filter(None, before)])


def take_place(name: str) -> None:
    """Put funcgrad in the place of the module of this name, which is being imported."""
    del sys.modules[name]
    install()
    importlib.import_module(name)


def uninstall() -> None:
    """Let `import torch` mean torch again. Names that are imported already stay as they are."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, Finder)]
    hide_views()
    for name in [name for name in sys.modules if name.partition(".")[0] in TOPS]:
        del sys.modules[name]
    give_names_back()


def is_installed() -> bool:
    """Tell whether `import torch` means funcgrad."""
    return any(isinstance(finder, Finder) for finder in sys.meta_path)
