"""Records what torch shows, by index and by dtype too: `python -m tests.tensor.record_scripts` (needs torch)."""

from __future__ import annotations

import json
from typing import Any

import torch

from tests.tensor.index_expressions import expressions
from tests.tensor.promotion_cases import FUNCTIONS, IN_PLACE, cases, outcome
from tests.tensor.running import RECORDED, Script, families, scripts_of, shown


def recorded(script: Script) -> dict[str, Any]:
    """Return what torch shows; of an error only its class, once the message has been seen to hold the phrase."""
    found = shown(script.source, torch)
    if "error" not in found:
        assert not script.phrase, f"torch does not refuse {script.source!r}"
        return found
    assert script.phrase in found["message"], f"{script.source!r}: {found['message']!r}"
    return {"error": found["error"][0]}


def main() -> None:
    """Write the recorded file."""
    found = {family: {script.source: recorded(script) for script in scripts_of(family)} for family in families()}
    write("scripts", found)
    write("indexing", {source: recorded(Script(source)) for source in expressions(seed=0, count=200)})
    write("promotion", promotions())
    print({family: len(listed) for family, listed in found.items()})


def promotions() -> dict[str, Any]:
    """Return for each function the numbers of its outcomes in the list `names`."""
    found = {name: [outcome(torch, case) for case in cases((name,))] for name in (*FUNCTIONS, *IN_PLACE)}
    names = sorted({kind for listed in found.values() for kind in listed})
    return {"names": names, **{name: [names.index(kind) for kind in listed] for name, listed in found.items()}}


def write(name: str, found: dict[str, Any]) -> None:
    """Write one recorded file, a script a line."""
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    (RECORDED / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
