"""Warnings say what torch's say, at the user's own line."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._base import warning
from funcgrad.nn import functional as F


@pytest.fixture(autouse=True)
def _nothing_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warning, "_told", set())


def _bytes() -> torch.Tensor:
    return torch.tensor([1, 0], dtype=torch.uint8)


def _backward_of_hooked(register: str) -> None:
    layer = nn.Linear(2, 2)
    getattr(layer, register)(lambda module, *grads: None)
    layer(torch.ones(1, 2)).sum().backward()


def _attention_with_two_kinds_of_masks() -> None:
    x = torch.ones(2, 2, 4)
    nn.MultiheadAttention(4, 2)(
        x, x, x, attn_mask=torch.zeros(2, 2), key_padding_mask=torch.zeros(2, 2, dtype=torch.bool)
    )


def _layer_with_two_kinds_of_masks() -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8)
    layer(torch.ones(2, 2, 4), torch.zeros(2, 2), torch.zeros(2, 2, dtype=torch.bool))


def _schedule(steps: int) -> torch.optim.lr_scheduler.LRScheduler:
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], 0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(steps):
        optimizer.step()
    return schedule


WARNED: dict[str, Callable[[], object]] = {
    "different to the input size": lambda: F.mse_loss(torch.ones(3, 1), torch.ones(3)),
    r"std\(\): degrees of freedom is <= 0": lambda: torch.ones(1).std(),
    r"var\(\): degrees of freedom is <= 0": lambda: torch.var(torch.ones(2, 1), dim=1),
    r"cov\(\): degrees of freedom is <= 0. Correction should be strictly less": lambda: torch.cov(torch.ones(3, 1)),
    r"cov\(\): degrees of freedom is <= 0": lambda: torch.corrcoef(torch.ones(3, 1)),
    "Full backward hook is firing": lambda: _backward_of_hooked("register_full_backward_hook"),
    "Full backward hook is firing when gradients": lambda: _backward_of_hooked("register_full_backward_pre_hook"),
    "Implicit dimension choice for softmax": lambda: nn.Softmax()(torch.ones(2, 2)),
    "Implicit dimension choice for log_softmax": lambda: F.log_softmax(torch.ones(2, 2)),
    "please use reduction='sum' instead": lambda: nn.CrossEntropyLoss(size_average=False),
    "please use reduction='none' instead": lambda: F.mse_loss(torch.ones(2), torch.ones(2), reduce=False),
    "reduction: 'mean' divides the total loss": lambda: F.kl_div(torch.zeros(2, 2), torch.ones(2, 2)),
    "Default grid_sample and affine_grid": lambda: F.affine_grid(torch.ones(1, 2, 3), [1, 1, 2, 2]),
    "To copy construct from a tensor": lambda: torch.tensor(torch.ones(2)),
    r"rather than tensor\.new_tensor": lambda: torch.ones(2).new_tensor(torch.ones(2)),
    "Converting a tensor with requires_grad=True": lambda: float(torch.ones(1, requires_grad=True)),
    r"The use of `x\.T` on tensors of dimension other": lambda: torch.ones(2, 2, 2).T,
    r"torch\.cross without specifying the dim": lambda: torch.cross(torch.ones(2, 3), torch.ones(2, 3)),
    "output with one or more elements was resized": lambda: torch.add(torch.ones(3), 1, out=torch.zeros(2)),
    r"set_default_tensor_type\(\) is deprecated": lambda: torch.set_default_tensor_type(torch.FloatTensor),
    r"nn\.functional\.upsample` is deprecated": lambda: F.upsample(torch.ones(1, 1, 2, 2), scale_factor=2),
    "uint8 is now deprecated": lambda: torch.ones(2)[_bytes()],
    "where received a uint8 condition": lambda: torch.where(_bytes(), 1, 2),
    r"This overload of addcmul_ is deprecated:\n\taddcmul_\(Number value, Tensor tensor1": lambda: torch.ones(
        2
    ).addcmul_(0.5, torch.ones(2), torch.ones(2)),
    "does not match num_features": lambda: nn.InstanceNorm2d(3)(torch.ones(1, 2, 4, 4)),
    "Casting complex values to real": lambda: torch.tensor([1j]).float(),
    "Casting complex values to real discards": lambda: torch.zeros(1).copy_(torch.tensor([1j])),
    "complex values to real discards the imaginary": lambda: torch.zeros(2).__setitem__(0, torch.tensor(1j)),
    "non-tuple sequence": lambda: torch.ones(3, 3)[[[0, 1], [1, 2]]],
    r"\tadd\(Tensor input, Number alpha, Tensor other, \*, Tensor out = None\)": lambda: torch.add(
        torch.ones(2), 2, torch.ones(2)
    ),
    r"dropout2d: Received a 3D input to dropout2d and assuming": lambda: F.dropout2d(torch.ones(2, 2, 2)),
    r"dropout3d is deprecated|dropout3d, which is deprecated and will result": lambda: F.dropout3d(torch.ones(2, 2)),
    r"torch\.range is deprecated and will be removed": lambda: torch.range(0, 2),
    r"torch\.meshgrid: in an upcoming release": lambda: torch.meshgrid(torch.ones(2), torch.ones(2)),
    "non-inplace resize is deprecated": lambda: torch.ones(2).resize(2),
    "non-inplace resize_as is deprecated": lambda: torch.ones(2).resize_as(torch.ones(2)),
    "attribute of a Tensor that is not a leaf": lambda: torch.ones(1, requires_grad=True).exp().grad,
    r"torch\.qr is deprecated in favor of torch\.linalg\.qr": lambda: torch.qr(torch.eye(2)),
    r"torch\.cholesky is deprecated in favor of": lambda: torch.cholesky(torch.eye(2)),
    r"torch\.lu_solve is deprecated in favor of torch\.linalg\.lu_solveand": lambda: torch.lu_solve(
        torch.eye(2), torch.eye(2), torch.tensor([1, 2], dtype=torch.int32)
    ),
    r"torch\.quantize_per_tensor, torch\.quantize_per_channel and": lambda: torch.quantize_per_tensor(
        torch.ones(2), 0.1, 0, torch.qint8
    ),
    "Positional args are being deprecated": lambda: nn.Linear(1, 1).state_dict({}),
    r"torch\.lu is deprecated in favor of": lambda: torch.lu(torch.eye(2)),
    r"torch\.triangular_solve is deprecated": lambda: torch.triangular_solve(torch.eye(2), torch.eye(2)),
    r"torch\.chain_matmul is deprecated": lambda: torch.chain_matmul(torch.eye(2), torch.eye(2)),
    "which is known to cause spectral leakage": lambda: torch.stft(torch.ones(16), 4, return_complex=True),
    "stft with return_complex=False is deprecated": lambda: torch.stft(
        torch.ones(16), 4, window=torch.ones(4), return_complex=False
    ),
    "Creating a tensor from a list of numpy.ndarrays is extremely slow": lambda: torch.tensor([np.ones(2), np.ones(2)]),
    "boundary tensor is non-contiguous": lambda: torch.bucketize(torch.ones(2), torch.arange(6.0)[::2]),
    "input value tensor is non-contiguous": lambda: torch.searchsorted(torch.arange(3.0), torch.ones(2, 3).t()),
    "The reduce argument of torch.scatter with Tensor src is deprecated": lambda: torch.zeros(2).scatter_(
        0, torch.tensor([0]), torch.ones(1), reduce="add"
    ),
    r"index_reduce\(\) is in beta": lambda: torch.zeros(2).index_reduce_(0, torch.tensor([0]), torch.ones(1), "amax"),
    r"at::nuclear_norm is deprecated .* use `linalg.matrix_norm\(A, 'nuc', dim, keepdim\)` instead$": lambda: (
        torch.nuclear_norm(torch.eye(2))
    ),
    r"at::frobenius_norm is deprecated .* use `linalg.vector_norm\(A, 2., dim, keepdim\)` instead$": lambda: (
        torch.frobenius_norm(torch.eye(2), (0, 1))
    ),
    r"Using backward\(\) with create_graph=True": lambda: torch.ones((), requires_grad=True).backward(
        create_graph=True
    ),
    "sdp_kernel.*` is deprecated": torch.backends.cuda.sdp_kernel,
    "Sparse CSR tensor support is in beta state": lambda: torch.eye(2).to_sparse_csr(),
    "Sparse BSC tensor support is in beta state": lambda: torch.eye(2).to_sparse_bsc((1, 1)),
    r"SparseTensor\(\) is deprecated.  Please use torch.sparse_coo_tensor\(\(0,\), dtype=\)\.$": torch.sparse.IntTensor,
    r"SparseTensor\(shape, \*, device=\) .* use torch.sparse_coo_tensor\(shape, dtype=, device=\)\.$": lambda: (
        torch.sparse.FloatTensor(2, 3)
    ),
    r"SparseTensor\(indices, values, shape, \*, device=\) .*\(indices, values, shape, dtype=, device=\)\.$": lambda: (
        torch.sparse.DoubleTensor(torch.tensor([[0], [1]]), torch.ones(1), torch.Size([2, 2]))
    ),
    "The PyTorch API of nested tensors is in prototype": lambda: torch.nested.nested_tensor([torch.ones(1)]),
    "The PyTorch API of MaskedTensors is in prototype": lambda: torch.masked.masked_tensor(
        torch.ones(1), torch.ones(1) > 0
    ),
    "The given NumPy array is not writable": lambda: torch.from_numpy(np.broadcast_to(np.ones(1), (2,))),
    "The given buffer is not writable": lambda: torch.frombuffer(b"1234", dtype=torch.int32),
    "same window used by stft": lambda: torch.istft(torch.ones(3, 5, dtype=torch.cfloat), 4),
    "Support for mismatched key_padding_mask and attn_mask": lambda: _attention_with_two_kinds_of_masks(),
    "Support for mismatched src_key_padding_mask and src_mask": lambda: _layer_with_two_kinds_of_masks(),
    "Initializing zero-element tensors is a no-op": lambda: nn.init.kaiming_normal_(torch.ones(0, 2)),
    "keyword argument `min_value` is deprecated": lambda: nn.Hardtanh(min_value=-2),
    "`NLLLoss2d` has been deprecated": lambda: nn.NLLLoss2d(),
    r"stateless\.functional_call` is deprecated": lambda: nn.utils.stateless.functional_call(
        nn.Identity(), {}, torch.ones(1)
    ),
    "should not be instantiated. Methods on autograd functions": lambda: torch.autograd.Function(),
    r"assert_allclose\(\)` is deprecated": lambda: torch.testing.assert_allclose(1.0, 1.0),
    "During the deprecation, if epoch is different from None": lambda: _schedule(1).step(3),
    "Failure to do this will result in PyTorch skipping": lambda: _schedule(0).step(),
}


@pytest.mark.parametrize("text", WARNED)
def test_a_warning_names_the_users_line(text: str) -> None:
    with pytest.warns(match=text) as caught:
        WARNED[text]()
    assert [found.filename for found in caught] == [__file__]


def test_what_is_meant_is_not_warned_of() -> None:
    x = torch.ones(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.std(0), x.var(1, correction=0), torch.ones(1).std(unbiased=False), torch.ones(1).var(False)
        x.T, F.softmax(x, 1), F.mse_loss(x, x), F.kl_div(x, x, reduction="batchmean"), torch.where(x > 0, 1, 2)
        x[[0, 1]], x[[0, 1], [1, 2]], x[np.array([[0, 1]])], x[torch.tensor([0])], float(x.sum())


def test_a_conversion_is_warned_of_once() -> None:
    weight = torch.ones(1, requires_grad=True)
    with pytest.warns(match="Converting a tensor") as caught:
        float(weight)
        float(weight)
    assert len(caught) == 1


def test_a_conversion_where_no_history_is_kept_is_not_warned_of() -> None:
    weight = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight])

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (weight * weight).sum()
        loss.backward()
        return loss

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step(closure)
        with torch.no_grad():
            assert float(weight) == weight.item()


@pytest.mark.parametrize("shape", [(0,), (0, 3), ()])
def test_a_spread_of_nothing_or_of_one_number_warns_along_a_dimension_too(shape: tuple[int, ...]) -> None:
    with pytest.warns(UserWarning, match=r"std\(\): degrees of freedom is <= 0"):
        torch.zeros(shape).std(-1)


def test_what_a_function_is_made_of_is_not_warned_of() -> None:
    matrix = torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shares = torch.sparse.softmax(matrix.to_sparse(), 1)
    assert shares.to_dense()[1].tolist() == [0.0, 1.0, 0.0]
    rows = matrix.to_sparse_csr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.sparse.mm(rows, torch.arange(6.0).view(3, 2), "amax").tolist() == [[8.0, 10.0], [6.0, 9.0]]


def test_code_that_is_run_in_a_dictionary_of_its_own_is_warned() -> None:
    with pytest.warns(UserWarning, match="is not a leaf Tensor is being accessed") as told:
        exec(compile("\n(torch.ones(1, requires_grad=True) * 2).grad", "<cell>", "exec"), {"torch": torch})
    assert (told[0].filename, told[0].lineno) == ("<cell>", 2)
