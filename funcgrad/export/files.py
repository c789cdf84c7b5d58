"""Files of exported programs, for funcgrad alone: they hold its own graph, not PyTorch's."""

from __future__ import annotations

from typing import Any

from funcgrad.export.program import ExportedProgram
from funcgrad.nn.files import load as load_file
from funcgrad.serialization import save as save_file

_KIND = "funcgrad.export"


def save(
    ep: ExportedProgram, f: Any, *, extra_files: dict[str, Any] | None = None,
    opset_version: dict[str, int] | None = None, pickle_protocol: int = 2,
) -> None:  # fmt: skip
    """Write a program to a file, or to an open one. extra_files: texts that are kept with it. TypeError: no program."""
    if not isinstance(ep, ExportedProgram):
        raise TypeError(
            f"The 'ep' parameter must be an instance of 'ExportedProgram', got '{type(ep).__name__}' instead."
        )
    save_file({"kind": _KIND, "program": ep, "extra_files": dict(extra_files or {})}, f)


def load(
    f: Any, *, extra_files: dict[str, Any] | None = None, expected_opset_version: dict[str, int] | None = None
) -> ExportedProgram:
    """Read a program. extra_files: names, to which the texts are given that were kept. RuntimeError: it holds none."""
    found = load_file(f, weights_only=False)
    if not isinstance(found, dict) or found.get("kind") != _KIND:
        raise RuntimeError("torch.export.load: the file was not written by torch.export.save of funcgrad")
    for name in extra_files or ():
        extra_files[name] = found["extra_files"].get(name, extra_files[name])  # type: ignore[index]  # it has names
    return found["program"]
