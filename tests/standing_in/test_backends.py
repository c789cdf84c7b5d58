"""Switches of torch.backends: answered as PyTorch answers them, set, and given back at the end of a block."""

from __future__ import annotations

import pytest

import funcgrad as torch


def test_switches_are_given_back_at_the_end_of_a_block() -> None:
    cudnn, mkldnn = torch.backends.cudnn, torch.backends.mkldnn
    with cudnn.flags(enabled=False, deterministic=True), mkldnn.flags(enabled=False):
        assert (cudnn.enabled, cudnn.deterministic, mkldnn.enabled) == (False, True, False)
    assert (cudnn.enabled, cudnn.deterministic, mkldnn.enabled) == (True, False, True)
    with torch.backends.mkl.verbose(torch.backends.mkl.VERBOSE_OFF):
        pass


def test_precisions_are_those_that_torch_knows() -> None:
    matmul, conv = torch.backends.cuda.matmul, torch.backends.cudnn.conv
    assert (matmul.fp32_precision, conv.fp32_precision, torch.backends.fp32_precision) == ("none", "tf32", "none")
    with pytest.raises(RuntimeError, match="Unknown precision: x"):
        matmul.fp32_precision = "x"
    with pytest.raises(AttributeError, match="Unknown attribute foo"):
        matmul.foo = 1


def test_the_short_way_of_attention_is_kept() -> None:
    mha = torch.backends.mha
    mha.set_fastpath_enabled(False)
    assert not mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(True)
    assert torch.backends.cuda.SDPBackend is torch.nn.attention.SDPBackend


def test_tf32_and_the_precision_of_products_are_one_setting() -> None:
    matmul = torch.backends.cuda.matmul
    try:
        torch.set_float32_matmul_precision("medium")
        assert matmul.allow_tf32 is True
        matmul.allow_tf32 = False
        assert torch.get_float32_matmul_precision() == "highest"
        matmul.allow_tf32 = True
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert matmul.allow_tf32 is False
