"""Dtypes of torch's that no array here holds can be named, compared and pickled, and are refused elsewhere."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import funcgrad as torch


def test_they_are_named_as_torchs() -> None:
    assert torch.chalf is torch.complex32
    assert (repr(torch.complex32), torch.complex32.is_complex, torch.complex32.itemsize) == ("torch.complex32", True, 4)
    assert torch.float4_e2m1fn_x2.is_floating_point
    assert [torch.int4.is_signed, torch.uint4.is_signed] == [True, False]
    assert torch.zeros(2).dtype not in (torch.complex32, torch.int4)
    assert isinstance(torch.int4, torch.dtype)
    assert pickle.loads(pickle.dumps(torch.uint4)) is torch.uint4


@pytest.mark.parametrize("use", [
    lambda: torch.zeros(2, dtype=torch.complex32), lambda: torch.zeros(2).to(torch.int4),
    lambda: torch.tensor([1], dtype=torch.uint4), lambda: torch.finfo(torch.complex32),
])  # fmt: skip
def test_no_tensor_has_them(use: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"torch\.\w+ can be named, but no tensor can have it here"):
        use()
