"""Switches of torch.backends: answered as PyTorch answers them, set, and given back at the end of a block."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
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


def test_preferred_libraries_are_kept_where_there_is_a_gpu() -> None:
    cuda = torch.backends.cuda
    assert repr(cuda.preferred_linalg_library("default")) == "<_LinalgBackend.Default: 0>"
    assert repr(cuda.preferred_blas_library()) == "<_BlasBackend.Cublas: 1>"
    with pytest.raises(RuntimeError, match="Choose from: default, cusolver, magma"):
        cuda.preferred_linalg_library("foo")
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="if PyTorch has not been compiled with cuSOLVER"):
            cuda.preferred_linalg_library("cusolver")
    with pytest.raises(RuntimeError, match="without MPS backend"):
        torch.backends.mps.is_macos_or_newer(13, 0)


def test_what_compiles_where_nothing_is_named() -> None:
    compiler, graphs = torch.compiler, []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph

    compiler.set_default_backend(backend)
    try:
        assert torch.compile(lambda x: x + 1)(torch.ones(1)).item() == 2
    finally:
        compiler.set_default_backend(None)
    assert len(graphs) == 1
    assert compiler.get_default_backend() == "inductor"


def test_functions_of_numpy_are_called_with_arrays() -> None:
    found, number = torch.compiler.wrap_numpy(lambda x: (np.sin(x), 3))(torch.zeros(2))
    assert torch.equal(found, torch.zeros(2))
    assert number == 3


def test_guards_are_chosen_and_functions_given_back() -> None:
    compiler, guards = torch.compiler, [SimpleNamespace(is_global=True), SimpleNamespace(is_global=False)]
    assert compiler.skip_guard_on_globals_unsafe(guards) == [False, True]
    assert compiler.skip_all_guards_unsafe(guards) == [False, False]
    assert compiler.nested_compile_region()(compiler.substitute_in_graph(len)(abs)) is abs
    with pytest.raises(TypeError, match="substitute_in_graph expects a function but got <class 'int'>"):
        compiler.substitute_in_graph(3)
