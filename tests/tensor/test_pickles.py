"""A plain pickle keeps how a tensor lies in memory and that it is marked as a conjugate, not what it is a part of."""

from __future__ import annotations

import copy
import pickle

import pytest

import funcgrad as torch

LYING = {
    "turned": torch.arange(12.0).reshape(3, 4).t(),
    "permuted": torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
    "channels_last": torch.arange(120.0).reshape(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "turned_copy": torch.arange(12).reshape(3, 4).t().clone(),
    "half": torch.arange(12.0).reshape(3, 4).half().t(),
    "parameter": torch.nn.Parameter(torch.arange(12.0).reshape(3, 4).t()),
}


@pytest.mark.parametrize("name", LYING)
def test_a_pickled_tensor_has_its_strides(name: str) -> None:
    given = LYING[name]
    found = pickle.loads(pickle.dumps(given))
    assert found.stride() == given.stride()
    assert found.is_contiguous() == given.is_contiguous()
    assert found.tolist() == given.tolist()
    assert type(found) is type(given)
    assert found.requires_grad == given.requires_grad


def test_a_pickled_part_holds_no_more_than_itself() -> None:
    part = torch.zeros(1000, 100)[:3, :2]
    found = pickle.loads(pickle.dumps(part))
    assert found.tolist() == part.tolist()
    assert len(pickle.dumps(part)) < 1000


def test_a_pickled_conjugate_is_one() -> None:
    given = torch.tensor([[1 + 2j, 3 - 1j]]).conj()
    found = pickle.loads(pickle.dumps(given))
    assert found.is_conj()
    assert found.tolist() == given.tolist()
    assert found.is_leaf


def test_a_deep_copy_of_a_conjugate_is_resolved() -> None:
    given = torch.tensor([[1 + 2j, 3 - 1j], [0j, 1j]])
    turned = copy.deepcopy(given.mH)
    assert not turned.is_conj()
    assert turned.stride() == (1, 2)
    assert turned.tolist() == given.mH.tolist()
    negative = copy.deepcopy(given.conj().imag)
    assert not negative.is_neg()
    assert negative.tolist() == [[-2.0, 1.0], [0.0, -1.0]]
