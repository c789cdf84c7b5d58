"""Tensors made in inference mode: they know it afterwards, and refuse what torch refuses."""

from __future__ import annotations

import copy
import io

import pytest

import funcgrad as torch


def _made() -> torch.Tensor:
    with torch.inference_mode():
        return torch.ones(3) * 2


def test_what_is_made_in_inference_mode_says_so_and_so_do_its_views() -> None:
    x = _made()
    assert x.is_inference() and torch.is_inference(x)
    assert x[:1].is_inference() and x.view(3, 1).is_inference() and x.detach().is_inference()
    assert not (x * 2).is_inference() and not x.clone().is_inference() and not copy.deepcopy(x).is_inference()


def test_views_of_ordinary_tensors_stay_ordinary_in_inference_mode() -> None:
    x = torch.ones(3)
    with torch.inference_mode():
        assert not x.view(3).is_inference() and not x.detach().is_inference() and not x.add_(1).is_inference()
        with torch.inference_mode(False):
            assert not torch.ones(2).is_inference()


def test_writes_and_gradients_are_refused_outside() -> None:
    x = _made()
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
        x.requires_grad_()
    for write in (lambda: x.add_(1), lambda: x[:2].mul_(2), lambda: x.__setitem__(0, 5.0)):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
            write()
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        _ = x._version
    with torch.inference_mode():
        assert x.add_(1).tolist() == [3.0, 3.0, 3.0]


def test_in_strict_mode_they_are_not_saved_for_backward() -> None:
    x, weight = _made(), torch.ones(3, requires_grad=True)
    assert torch.autograd.grad((weight * x).sum(), weight)[0].tolist() == [2.0, 2.0, 2.0]
    torch.autograd.set_strict(True)
    try:
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            weight * x
        assert (weight + x).requires_grad
    finally:
        torch.autograd.set_strict(False)


def test_grad_modes_inside_keep_no_history() -> None:
    weight = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        with torch.enable_grad():
            assert not (weight * 2).requires_grad
        with torch.inference_mode(False):
            assert (weight * 2).requires_grad
    with torch.no_grad(), torch.inference_mode(False):
        assert (weight * 2).requires_grad


def test_a_tensor_whose_version_was_asked_for_can_be_saved() -> None:
    x = torch.ones(2)
    assert x._version == 0
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    assert torch.load(file).tolist() == [1.0, 1.0] and copy.deepcopy(x)._version == 0
