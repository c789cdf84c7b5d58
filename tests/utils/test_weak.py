"""Weak references to tensors, and dictionaries that hold them weakly."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import funcgrad as torch
from funcgrad.utils.weak import TensorWeakRef, WeakIdKeyDictionary, WeakIdRef, WeakTensorKeyDictionary


def test_references_are_equal_where_they_are_of_the_same_tensor() -> None:
    one, alike = torch.ones(2), torch.ones(2)
    assert WeakIdRef(one) == WeakIdRef(one)
    assert WeakIdRef(one) != WeakIdRef(alike)
    reference, other = WeakIdRef(one), WeakIdRef(one)
    del one
    assert reference() is None
    assert reference == reference  # to itself alone, once its tensor is gone
    assert reference != other


def test_entries_go_with_their_keys() -> None:
    one, alike = torch.ones(2), torch.ones(2)
    found: Any = WeakIdKeyDictionary({one: "a"})
    found[alike] = "b"
    assert (found[one], found[alike], len(found), 3 in found) == ("a", "b", 2, False)
    assert [key is one for key in found] == [True, False]
    del one
    assert (len(found), list(found.values()), len(found.keyrefs())) == (1, ["b"], 1)
    assert found.pop(alike) == "b"
    with pytest.raises(KeyError):
        found[alike]


def test_dictionaries_join_and_compare_by_who_the_keys_are() -> None:
    one, alike = torch.ones(2), torch.ones(2)
    both = WeakTensorKeyDictionary({one: 1}) | {alike: 2}
    assert both == {one: 1, alike: 2}
    assert both != {one: 1}
    assert ({one: 3} | both)[one] == 1
    both |= {one: [4]}
    copied = copy.deepcopy(both)
    copied[one].append(5)
    assert (both[one], both.copy()[one], copied[one]) == ([4], [4], [4, 5])


def test_a_reference_to_a_tensor_is_called_for_it() -> None:
    x = torch.ones(2)
    reference = TensorWeakRef(x)
    assert reference() is x
    del x
    assert reference() is None
    with pytest.raises(AssertionError, match=r"expected torch\.Tensor, got"):
        TensorWeakRef(3)  # type: ignore[arg-type]  # what is refused
