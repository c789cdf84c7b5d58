"""Runs programs that use libraries written for PyTorch under both, unchanged, and compares what they print.

    python -m tests.libraries                    # those whose libraries are installed
    python -m tests.libraries einops_layers      # some of them
    python -m tests.libraries --write-docs       # and the table into docs/libraries.md

A program is a file in `programs`; its docstring begins with the names of the distributions that it needs: `einops,
timm: what it does`. Where PyTorch cannot run it for want of another (torchvision,
say), it runs under funcgrad alone.
"""

from __future__ import annotations

import argparse
import ast
import importlib.metadata
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.examples import tables
from tests.examples.scripts import ROOT, Difference, Output, difference, run

PROGRAMS = Path(__file__).parent / "programs"
PAGE = ROOT / "docs" / "libraries.md"
HEAD = ["library", "program", "same as torch", "lines", "largest difference", "torch, s", "funcgrad, s"]
SAME = 1e-3  # relative above 1: what a short training loses by rounding


class Program(NamedTuple):
    """A program of a library: its file, the distributions that it needs, and what it does."""

    path: Path
    needs: tuple[str, ...]
    does: str

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def is_installed(self) -> bool:
        """Whether all that it needs is here."""
        try:
            return all(importlib.metadata.version(name) for name in self.needs)
        except importlib.metadata.PackageNotFoundError:
            return False


class Row(NamedTuple):
    """What a program did under both; `torch` and `difference` are None where PyTorch's environment lacks something."""

    program: Program
    ours: Output
    torch: Output | None
    difference: Difference | None

    @property
    def is_same(self) -> bool:
        return self.difference is None or (self.difference.largest <= SAME and not self.difference.other_words)

    def cells(self) -> list[str]:
        """Return the row's cells as text."""
        libraries = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in self.program.needs)
        link = f"[{self.program.name}](../tests/libraries/programs/{self.program.path.name}): {self.program.does}"
        if self.torch is None or self.difference is None:
            return [libraries, link, "runs", str(len(self.ours.lines)), "-", "-", f"{self.ours.seconds:.1f}"]
        return [
            libraries, link, "yes" if self.is_same else "no", str(len(self.ours.lines)),
            f"{self.difference.largest:.0e}", f"{self.torch.seconds:.1f}", f"{self.ours.seconds:.1f}",
        ]  # fmt: skip


def programs() -> list[Program]:
    """Return all programs, by name."""
    found = []
    for path in sorted(PROGRAMS.glob("*.py")):
        needs, _, does = (ast.get_docstring(ast.parse(path.read_text())) or "").splitlines()[0].partition(": ")
        found.append(Program(path, tuple(needs.split(", ")), does.rstrip(".")))
    return found


def compared(program: Program) -> Row:
    """Run a program under both."""
    ours = run(program.path, funcgrad=True, environment={"FUNCGRAD_CACHE": "off"})
    try:
        torch = run(program.path, funcgrad=False)
    except RuntimeError as error:
        if "No module named" not in str(error):
            raise
        return Row(program, ours, None, None)
    return Row(program, ours, torch, difference(torch.lines, ours.lines))


def page(rows: Sequence[Row]) -> str:
    """Return the page of the docs."""
    against = [row for row in rows if row.torch is not None]
    same = sum(row.is_same for row in against)
    return "\n".join([
        "# Libraries written for PyTorch", "",
        "Under `python -m funcgrad script.py` a library that says `import torch` gets funcgrad. Each of these was "
        "installed as it comes from PyPI and is used by a small program, which runs unchanged under both; what both "
        "print is compared number by number.", "",
        f"{same} of {len(against)} print the same: the same words, and numbers within {SAME:g} (relative above 1). "
        "`runs`: under PyTorch it could not be run here, for want of torchvision. Times are of whole processes, "
        "imports included, with nothing compiled before.", "",
        *tables.markdown(HEAD, [row.cells() for row in rows]), "",
        tables.measured(("torch", "jax", "jaxlib"), "python -m tests.libraries --write-docs"), "",
    ])  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; return 1 where a program fails or prints something else."""
    known = {program.name: program for program in programs()}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"of {', '.join(known)}")
    parser.add_argument("--write-docs", action="store_true", help="write the table into docs/libraries.md")
    options = parser.parse_args(arguments)
    rows, failed = [], False
    print(" | ".join(HEAD))
    for name in options.programs or known:
        program = known[name]
        if not program.is_installed:
            print(f"{name}: {', '.join(program.needs)} not installed", flush=True)
            continue
        try:
            rows.append(compared(program))
        except RuntimeError as error:
            failed = True
            print(error, flush=True)
            continue
        parted = rows[-1].difference
        print(" | ".join(rows[-1].cells()), *(parted.other_words[:3] if parted else ()), flush=True)
    if options.write_docs and rows:
        PAGE.write_text(page(rows))
    return int(failed or not all(row.is_same for row in rows))


if __name__ == "__main__":
    sys.exit(main())
