"""Rooms that are imported when asked for tell what goes wrong inside of them; what they give is known by its names."""

from __future__ import annotations

import sys
import typing
from pathlib import Path

import pytest

import funcgrad as torch
from funcgrad._base.rooms import imported


def test_an_attribute_that_lacks_inside_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "room_that_fails.py").write_text("import math\nmath.no_such_name\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ImportError, match=r"importing room_that_fails failed: .*no attribute 'no_such_name'"):
        imported("room_that_fails")
    assert "room_that_fails" not in sys.modules


def test_the_hints_of_tensors_can_be_read() -> None:
    assert "_variable" not in typing.get_type_hints(torch.Tensor)
    assert "_variable" not in typing.get_type_hints(torch.nn.Parameter)


@pytest.mark.parametrize("shape", [(2, 3), ()])
def test_a_shape_is_a_tensor(shape: tuple[int, ...]) -> None:
    found = torch._shape_as_tensor(torch.ones(shape))
    assert (found.tolist(), found.dtype) == (list(shape), torch.int64)
