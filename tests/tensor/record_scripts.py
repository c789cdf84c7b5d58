"""Records what torch shows for every script: `python -m tests.tensor.record_scripts` (needs torch)."""

from __future__ import annotations

import json
from typing import Any

import torch

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
    text = json.dumps(found, indent=0, ensure_ascii=False, separators=(",", ":"))
    (RECORDED / "scripts.json").write_text(text + "\n")
    print({family: len(listed) for family, listed in found.items()})


if __name__ == "__main__":
    main()
