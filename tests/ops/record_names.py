"""Records the public names of torch's namespaces: `python -m tests.ops.record_names` (needs torch)."""

from __future__ import annotations

import importlib
import json
import types
from typing import Any

import torch

from tests.ops.coverage import NAMES, NAMESPACES

_OTHERS = ("typing", "builtins", "functools", "collections", "dataclasses", "contextlib", "enum", "abc", "itertools")


def namespace(path: str) -> Any:
    """Return the object behind a dotted path: a module, imported if need be, or a class."""
    found: Any = torch
    for i, part in enumerate(path.split(".")[1:], 2):
        if not hasattr(found, part):
            importlib.import_module(".".join(path.split(".")[:i]))
        found = getattr(found, part)
    return found


def is_own(path: str, name: str, value: Any) -> bool:
    """Tell whether a name is torch's own, and no import or piece of documentation that happens to lie there."""
    if isinstance(value, types.ModuleType):
        return value.__name__.startswith("torch.") or value.__name__ in ("torch._C", f"{path}.{name}")
    if isinstance(value, str):
        return name.startswith("__")
    home = getattr(value, "__module__", None) or ""
    if path not in ("torch", "torch.Tensor") and home and not home.startswith("torch"):
        return False
    if isinstance(value, bool) and name in ("TYPE_CHECKING",):
        return False
    elsewhere = ("handle_torch_function", "has_torch_function", "boolean_dispatch", "BroadcastingList")
    return not (home.startswith(_OTHERS) and path == "torch") and not name.startswith(elsewhere)


def names_of(path: str) -> list[str]:
    """Return the public names of a namespace."""
    home = namespace(path)
    listed = set(getattr(home, "__all__", ())) if path != "torch.Tensor" else set()
    shown = {name for name in dir(home) if not name.startswith("_")}
    own = {name for name in shown if name in listed or is_own(path, name, getattr(home, name, None))}
    return sorted(own - {"Tensor"} if path not in ("torch",) else own)


def main() -> None:
    """Write the list that `tests.ops.coverage` reads."""
    found = {path: names_of(path) for path in NAMESPACES}
    NAMES.write_text(json.dumps({"version": torch.__version__.partition("+")[0], "names": found}, indent=0) + "\n")
    print({path: len(names) for path, names in found.items()})


if __name__ == "__main__":
    main()
