"""`import funcgrad` leaves no trace: nothing is compiled, no other framework loaded, no setting of JAX changed.

But for one: Python's collector passes over what was imported, and looks less often (docs/settings.md).
How long it takes is measured by `python -m tests.benchmarks.imports`.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from funcgrad._base.collector import YOUNG, relieve

_LOOK = """
import gc, json, sys
import jax
from jax import monitoring

events = []
monitoring.register_event_listener(lambda event, **_: events.append(event))
monitoring.register_event_duration_secs_listener(lambda event, *_, **__: events.append(event))
before = dict(jax.config.values)
import funcgrad
after = dict(jax.config.values)
loaded = sorted(name for name in sys.modules if "." not in name)
rooms = sorted(name for name in sys.modules if name.startswith("funcgrad.") and name.count(".") == 1)
started = jax._src.xla_bridge.backends_are_initialized()
{then}
print(json.dumps({{
    "frozen": gc.get_freeze_count(), "young": gc.get_threshold()[0],
    "events": events, "loaded": loaded, "rooms": rooms, "started": started,
    "changed": sorted(name for name in before if before[name] is not after[name] and before[name] != after[name]),
}}))
"""


def seen(then: str = "", **environment: str) -> dict[str, Any]:
    """Import funcgrad in a process of its own, do something more, and return what is to be seen."""
    answer = subprocess.run(
        [sys.executable, "-c", _LOOK.format(then=then)],
        check=False, capture_output=True, text=True, timeout=300, cwd=Path(__file__).parents[1],
        env=os.environ | {"JAX_PLATFORMS": "cpu", "FUNCGRAD_CACHE": "off"} | environment,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.fixture(scope="module")
def after_import() -> dict[str, Any]:
    return seen()


def test_importing_compiles_nothing(after_import: dict[str, Any]) -> None:
    assert after_import["events"] == []


def test_a_compile_would_have_been_seen() -> None:
    events = seen("(funcgrad.tensor([1.0, 2.0]) * 2).tolist()")["events"]
    assert any("compile" in event for event in events)


def test_importing_starts_no_device(after_import: dict[str, Any]) -> None:
    assert not after_import["started"]


def test_importing_changes_no_setting_of_jax(after_import: dict[str, Any]) -> None:
    assert after_import["changed"] == []


@pytest.mark.parametrize("name", ["torch", "optax", "safetensors"])
def test_importing_does_not_load(name: str, after_import: dict[str, Any]) -> None:
    assert name not in after_import["loaded"]


@pytest.mark.parametrize("room", ["nn", "optim", "serialization", "utils", "autograd", "explain", "cuda"])
def test_rooms_are_loaded_when_they_are_asked_for(room: str, after_import: dict[str, Any]) -> None:
    assert f"funcgrad.{room}" not in after_import["rooms"]


def test_using_the_whole_house_loads_no_torch() -> None:
    loaded = seen(
        "[getattr(funcgrad, room) for room in funcgrad._ROOMS]\n"
        "loaded = sorted(name for name in sys.modules if '.' not in name)"
    )["loaded"]
    assert "optax" in loaded
    assert "torch" not in loaded


def test_the_collector_passes_over_what_was_imported_unless_told_otherwise(after_import: dict[str, Any]) -> None:
    assert after_import["frozen"] > 10_000
    assert after_import["young"] == YOUNG
    left_alone = seen(FUNCGRAD_FREEZE="0")
    assert left_alone["frozen"] == 0
    assert left_alone["young"] < YOUNG


def test_how_often_somebody_wants_the_collector_to_look_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "freeze", lambda: None)
    before = gc.get_threshold()
    try:
        gc.set_threshold(123, 4, 5)
        relieve()
        assert gc.get_threshold() == (123, 4, 5)
    finally:
        gc.set_threshold(*before)
