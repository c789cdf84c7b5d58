"""Short scripts show in funcgrad what they show in torch: numbers, dtypes, shapes, leaves and errors."""

from __future__ import annotations

import json

import pytest

import funcgrad
from funcgrad._program.renting import Exactness
from tests.tensor.running import RECORDED, Script, agree, families, scripts_of, shown

TRUTH = json.loads((RECORDED / "scripts.json").read_text())
ALL = [
    pytest.param(family, script, id=f"{family}: {script.source}")
    for family in families()
    for script in scripts_of(family)
]


@pytest.mark.parametrize(("family", "script"), ALL)
def test_script_shows_what_torch_shows(family: str, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    if "affine_grid(theta" in script.source:  # numpy adds up in another order: of 76,000 - 76,404 that shows
        monkeypatch.setattr(Exactness, "wanted_for", {"the digits that were recorded"})
    expected, found = TRUTH[family][script.source], shown(script.source, funcgrad)
    if "error" in expected:
        assert expected["error"] in found.get("error", ()), found
        assert script.phrase in found["message"]
    else:
        assert agree(expected, found), f"torch: {expected}\nfuncgrad: {found}"


def test_every_record_has_its_script() -> None:
    assert {family: set(listed) for family, listed in TRUTH.items()} == {
        family: {script.source for script in scripts_of(family)} for family in families()
    }
