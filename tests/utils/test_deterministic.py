"""torch.utils.deterministic: empty tensors show themselves where deterministic algorithms are asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import funcgrad as torch
from funcgrad.utils import deterministic


@pytest.fixture(autouse=True)
def back_to_the_default() -> Iterator[None]:
    yield
    torch.use_deterministic_algorithms(False)
    deterministic.fill_uninitialized_memory = True


def test_empty_tensors_are_filled_with_what_is_seen_when_it_is_used() -> None:
    torch.use_deterministic_algorithms(True)
    floats = (
        torch.empty(2),
        torch.empty_like(torch.ones(2)),
        torch.ones(1).new_empty(2),
        torch.empty_strided((2,), (1,)),
    )
    assert all(x.isnan().all() for x in floats)
    assert torch.empty(2, dtype=torch.int8).tolist() == [127, 127]
    assert torch.empty(1, dtype=torch.bool).tolist() == [True]
    assert repr(torch.empty(1, dtype=torch.complex64)) == "tensor([nan+0.j])"
    assert torch.zeros(2).tolist() == [0, 0]
    assert torch.zeros(1).resize_(2).isnan().tolist() == [False, True]


def test_a_switch_leaves_them_alone() -> None:
    assert deterministic.fill_uninitialized_memory is True
    deterministic.fill_uninitialized_memory = False
    torch.use_deterministic_algorithms(True)
    assert not torch.empty(2).isnan().any()
    with pytest.raises(RuntimeError, match="expected a bool, but got int"):
        deterministic.fill_uninitialized_memory = 1
