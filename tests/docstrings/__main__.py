"""`python -m tests.docstrings`: each example that does otherwise than in torch, then how many agree.

`python -m tests.docstrings 'torch.sparse.*'` takes the docstrings whose whole name matches. All take some minutes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.docstrings.both import both
from tests.docstrings.compare import differences
from tests.docstrings.exceptions import reason


def main(wanted: str) -> None:
    """Run, print; the exit status is 1 where an example differs that has no reason for it."""
    with tempfile.TemporaryDirectory() as folder:
        found = list(differences(*both(Path(folder), 0, 1, wanted)))
    parted = [each for each in found if each is not None]
    for each in parted:
        why = reason(each.name, each.ours.source)
        print(f"{each}\nreason: {why}\n" if why else f"{each}\n")
    print(f"docstrings: {len(found)} examples; agree {len(found) - len(parted)}")
    sys.exit(any(reason(each.name, each.ours.source) is None for each in parted))


if __name__ == "__main__":
    main(*sys.argv[1:] or [".*"])
