"""Arguments by torch's names and at torch's places, where these differ from what one would guess."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.nn import functional as F
from funcgrad.utils import checkpoint


def test_the_plain_norms_take_a_switch_of_cudnn() -> None:
    x, one = torch.arange(6.0).reshape(1, 6), torch.ones(6)
    assert torch.equal(torch.layer_norm(x, (6,), one, None, 1e-5, False), F.layer_norm(x, (6,), one))
    assert torch.equal(torch.group_norm(x, 2, one, None, 1e-5, cudnn_enabled=False), F.group_norm(x, 2, one))


def test_a_size_is_made_of_whole_numbers() -> None:
    size = torch.Size([True, np.int64(3), torch.tensor(2)])  # type: ignore[list-item]  # what has an index is one
    assert size == (1, 3, 2) and all(type(n) is int for n in size) and torch.Size() == ()
    for wrong, kind in (("a", "str"), (1.5, "float"), (None, "NoneType")):
        with pytest.raises(TypeError, match=rf"^torch.Size\(\) takes an iterable of 'int' \(item 1 is '{kind}'\)$"):
            torch.Size([2, wrong])  # type: ignore[list-item]  # what is refused
    with pytest.raises(TypeError, match="expected at most 1 argument, got 2"):
        torch.Size((1,), 2)  # type: ignore[arg-type]  # what is refused


def test_what_is_printed_can_be_given() -> None:
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    assert x.__repr__(tensor_contents="...") == "tensor(..., dtype=torch.float64, requires_grad=True)"
    assert torch.ones(0, 2).__repr__(tensor_contents="a") == "tensor(a, size=(0, 2))"


def test_a_count_beyond_64_bits_is_refused() -> None:
    for bounds in ((2**63,), (0, 2**63), (2**63, 2**63 + 2)):
        with pytest.raises(RuntimeError, match="value cannot be converted to type int64_t without overflow"):
            torch.arange(*bounds)


def test_only_what_acts_on_each_element_can_be_done_in_place() -> None:
    assert F.relu(torch.ones(2), inplace=True).tolist() == [1, 1]
    with pytest.raises(TypeError, match="inplace"):
        F.normalize(torch.ones(2, 2), inplace=True)  # pyright: ignore[reportCallIssue] - it must be refused


def test_a_batch_norm_without_state_can_be_mapped_over() -> None:
    norm = nn.BatchNorm1d(2)
    model = torch.func.replace_all_batch_norm_modules_(nn.Sequential(norm))
    assert norm.running_mean is None and not norm.track_running_stats
    mapped = torch.func.vmap(model)(torch.arange(12.0).reshape(2, 3, 2))
    assert torch.allclose(mapped[0], model(torch.arange(6.0).reshape(3, 2)))


def test_policies_of_checkpoints_are_accepted() -> None:
    policy = checkpoint.CheckpointPolicy.PREFER_RECOMPUTE
    contexts = functools.partial(checkpoint.create_selective_checkpoint_contexts, lambda *_, **__: policy)
    x = torch.ones(2, requires_grad=True)
    with checkpoint.set_checkpoint_early_stop(False):
        checkpoint.checkpoint(torch.exp, x, use_reentrant=False, context_fn=contexts).sum().backward()
    with (
        checkpoint.set_checkpoint_debug_enabled(True),
        pytest.raises(ValueError, match=r"^debug=True is incompatible with non-default context_fn$"),
    ):
        checkpoint.checkpoint(torch.exp, x, use_reentrant=False, context_fn=contexts)
    assert x.grad is not None and torch.equal(x.grad, x.exp())


def test_names_of_arguments_are_torchs() -> None:
    x = torch.arange(6.0)
    assert [p.shape[0] for p in torch.split(tensor=x, split_size_or_sections=4)] == [4, 2]
    assert [p.shape[0] for p in torch.tensor_split(x, tensor_indices_or_sections=torch.tensor([1]))] == [1, 5]
    assert torch.histogram(x).hist.shape == (100,)
    assert torch.histogramdd(x.reshape(3, 2), [2, 2], [0.0, 6.0, 0.0, 6.0]).hist.sum() == 3
    assert torch.from_dlpack(np.ones(2), device="cpu", copy=True).tolist() == [1, 1]
    torch.set_default_device(device=None)
    assert torch.func.functional_call(nn.Identity(), {}, x) is x
    with pytest.raises(TypeError):
        torch.func.functional_call(nn.Identity(), {}, None)
    shared = nn.Linear(1, 1)
    assert len(list(nn.Sequential(shared, shared).modules(remove_duplicate=False))) == 3
    assert len(nn.Sequential().extend(sequential=[shared])) == 1
    assert x.to_dense(torch.float64).dtype is torch.float64


def test_an_old_type_refuses_a_tensor_of_another_dtype() -> None:
    expected = r"expected TensorOptions\(dtype=float, device=cpu.*\(got TensorOptions\(dtype=long int, device=cpu"
    with pytest.raises(TypeError, match=expected):
        torch.FloatTensor(torch.tensor([1, 2]))
    assert torch.FloatTensor([1, 2]).dtype is torch.FloatTensor(torch.ones(1)).dtype is torch.float32


def test_methods_are_listed_before_they_are_used() -> None:
    listed = dir(torch.Tensor)
    assert {"relu", "masked_fill_", "softmax", "backward", "shape", "T", "__add__"} <= set(listed)
    assert [name for name in listed if not hasattr(torch.Tensor, name)] == []
    named = torch.ones(1)
    named.__dict__["mine"] = 3
    assert {*listed, "mine"} == set(dir(named))


def test_what_is_filled_in_place_has_torchs_node() -> None:
    x = torch.ones(2, requires_grad=True)
    assert (x * 1).fill_(2.0).grad_fn.name() == "FillBackward2"
    assert (x * 1).fill_(torch.tensor(1.0)).grad_fn.name() == "FillBackward3"


def test_limits_are_equal_by_dtype_and_a_diagonal_of_no_blocks_is_empty() -> None:
    assert torch.finfo(torch.float32) == torch.finfo(torch.float)
    assert torch.finfo(torch.float32) != torch.finfo(torch.float64) and torch.iinfo(torch.int8) != torch.iinfo(
        torch.int16
    )
    assert torch.block_diag().shape == (1, 0)


def test_a_tensor_of_one_whole_number_is_a_size_among_sizes_whatever_its_shape() -> None:
    x, two, six = torch.zeros(1, 1, 4, 4), torch.tensor([[2]]), torch.tensor([6], dtype=torch.int32)
    assert torch.zeros([six, 1]).shape == torch.zeros(six, torch.tensor([True])).shape == (6, 1)
    assert x.view(torch.tensor([4]), 4).shape == x.reshape([torch.tensor([4]), -1]).shape == (4, 4)
    assert x.repeat(1, 1, six, two).shape == (1, 1, 24, 8)
    assert F.interpolate(x, size=[six, two], mode="bilinear").shape == F.pad(x, [-1, -1, two, 0]).shape == (1, 1, 6, 2)
    assert F.adaptive_avg_pool2d(x, (two, 3)).shape == (1, 1, 2, 3)
    with pytest.raises(TypeError, match="must be tuple of ints, but found element of type Tensor at pos 0"):
        torch.zeros([torch.tensor([6.0]), 1])
