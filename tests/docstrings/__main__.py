"""`python -m tests.docstrings`: each example that does otherwise than in torch, then how many agree.

`python -m tests.docstrings 'torch.sparse.*'` takes the docstrings whose whole name matches. All take some minutes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.docstrings.both import both
from tests.docstrings.compare import differences
from tests.docstrings.exceptions import EXCEPTIONS_BY_PLACE, is_at, reason


def main(wanted: str) -> None:
    """Run, print; the exit status is 1 where an example differs that has no reason for it."""
    with tempfile.TemporaryDirectory() as folder:
        found = list(differences(*both(Path(folder), 0, 1, wanted)))
    parted = [each for each in found if each is not None]
    unexplained = [each for each in parted if reason(each.name, each.ours.source) is None]
    for each in parted:
        print(f"{each}\nreason: {reason(each.name, each.ours.source) or 'none'}\n")
    if wanted == ".*":
        for place in EXCEPTIONS_BY_PLACE:
            if not any(is_at(place, each.name, each.ours.source) for each in parted):
                print(f"an exception that is not needed: {place}")
    agree, explained = len(found) - len(parted), len(parted) - len(unexplained)
    print(f"docstrings: {len(found)} examples; agree {agree}, differ for a known reason {explained}")
    sys.exit(bool(unexplained))


if __name__ == "__main__":
    main(*sys.argv[1:] or [".*"])
