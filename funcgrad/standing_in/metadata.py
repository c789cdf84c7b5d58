"""What `importlib.metadata` tells while funcgrad stands in: torch is installed, in the version that it says it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution
from pathlib import Path

from funcgrad.version import VISION_VERSION, __version__

_VERSIONS = {"torch": str(__version__), "torchvision": VISION_VERSION}
_PACKAGE = Path(__file__).resolve().parents[1]


class StandIn(Distribution):
    """The distribution of a name that funcgrad answers to."""

    def __init__(self, name: str) -> None:
        self._files = {
            "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {_VERSIONS[name]}\n",
            "top_level.txt": f"{name}\n",
        }

    def read_text(self, filename: str) -> str | None:
        """Return what stands in a file of the distribution; None where it has no such file."""
        return self._files.get(filename)

    def locate_file(self, path: object) -> Path:
        """Return where a file of the distribution is: in funcgrad's folder."""
        return _PACKAGE / str(path)


def distributions_named(name: str | None) -> Iterator[StandIn]:
    """Yield the distributions of this name, written in any way; all where no name is given."""
    wanted = None if name is None else re.sub(r"[-_.]+", "-", name).lower()
    return (StandIn(known) for known in _VERSIONS if wanted in (None, known))
