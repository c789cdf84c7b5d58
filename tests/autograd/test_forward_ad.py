"""Dual tensors give back what they were made with."""

from __future__ import annotations

import funcgrad as torch
from funcgrad.autograd import forward_ad


def test_a_dual_tensor_gives_back_the_very_tangent_that_it_was_made_with() -> None:
    primal, tangent = torch.ones(3), torch.tensor([1.0, 2.0, 3.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(primal, tangent)
        assert forward_ad.unpack_dual(dual).tangent is tangent
        moved = forward_ad.unpack_dual(dual * 2).tangent
        assert moved is not None and moved.tolist() == [2.0, 4.0, 6.0]
        tangent.mul_(10)
        kept = forward_ad.unpack_dual(dual).tangent
    assert kept is not None and kept.shape == (3,)


def test_a_tangent_may_have_another_precision() -> None:
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2, dtype=torch.float64), torch.ones(2))
        given, moved = forward_ad.unpack_dual(dual).tangent, forward_ad.unpack_dual(dual * dual).tangent
    assert given is not None and given.dtype is torch.float32
    assert moved is not None and (moved.dtype, moved.tolist()) == (torch.float64, [2.0, 2.0])


def test_a_dual_tensor_prints_with_its_tangent() -> None:
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.tensor([1.0, 2.0]))
        assert repr(dual) == "tensor([1., 1.], tangent=tensor([1., 2.]))"
        assert repr(dual.sum()) == "tensor(2., tangent=3.0)"
    assert repr(dual) == "tensor([1., 1.])"


def test_the_open_level_has_a_number() -> None:
    assert forward_ad._current_level == -1
    with forward_ad.dual_level():
        assert forward_ad._current_level == 0
    assert not hasattr(forward_ad, "_current_depth")
