"""torch's plain layer functions do what nn's modules and functions do, in torch's own order of arguments."""

from __future__ import annotations

import jax
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._base.config import settings
from funcgrad.nn import functional
from funcgrad.nn import grad as conv_grad


@pytest.mark.parametrize(("kind", "function"), [("LSTM", "lstm"), ("GRU", "gru")])
def test_recurrent_functions_are_the_modules(kind: str, function: str) -> None:
    module = getattr(nn, kind)(4, 5, num_layers=2, bidirectional=True)
    x, h = torch.randn(3, 2, 4), torch.randn(4, 2, 5)
    states = (h, h * 0.5) if kind == "LSTM" else h
    expected, ends = module(x, states)
    output, *found = getattr(torch, function)(x, states, list(module.parameters()), True, 2, 0.0, False, True, False)
    assert torch.allclose(output, expected)
    assert torch.allclose(found[0], ends[0] if kind == "LSTM" else ends)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_a_layer_called_many_times_keeps_no_copies_of_its_weights(kind: str) -> None:
    layer = getattr(nn, kind)(11, 13)
    state, outputs = None, []
    for _ in range(3):
        output, state = layer(torch.randn(1, 2, 11, requires_grad=True), state)
        outputs.append(output)
        output.sum().item()
    shapes = [tuple(weight.shape) for weight in layer.parameters() if weight.ndim == 2]
    assert sum(array.shape in shapes for array in jax.live_arrays()) <= len(shapes)
    torch.cat(outputs).sum().backward()
    assert all(weight.grad.abs().sum().item() > 0 for weight in layer.parameters())


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_gradients_of_a_recurrent_layer_run_op_by_op(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layer, x = getattr(nn, kind)(3, 5).double(), torch.randn(4, 2, 3).double()  # in float32 some gradients are rounding

    def gradients() -> list[torch.Tensor]:
        layer.zero_grad()
        layer(x)[0].square().sum().backward()
        return [weight.grad.clone() for weight in layer.parameters()]

    fused = gradients()
    monkeypatch.setattr(settings, "eager", True)
    assert all(map(torch.allclose, gradients(), fused))


def test_gradients_of_a_factorisation_run_op_by_op(monkeypatch: pytest.MonkeyPatch) -> None:
    a = torch.randn(3, 3, requires_grad=True)

    def gradient() -> torch.Tensor:
        q, r = torch.linalg.qr(a)
        return torch.autograd.grad(q.sin().sum() + r.cos().sum(), a)[0]

    fused = gradient()
    monkeypatch.setattr(settings, "eager", True)
    assert torch.allclose(gradient(), fused, atol=1e-6)


@pytest.mark.parametrize("eager", [False, True])
def test_a_matrix_may_stand_on_both_sides_of_a_factorisation(eager: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "eager", eager)
    a, b = torch.randn(3, 3, requires_grad=True), torch.randn(3, 3, requires_grad=True)
    b.data = a.data.clone()
    torch.linalg.solve(a, b).cos().sum().backward()
    apart = a.grad + b.grad
    a.grad = None
    torch.linalg.solve(a, a).cos().sum().backward()
    assert torch.allclose(a.grad, apart, atol=1e-5)


def test_batch_norm_moves_the_running_statistics() -> None:
    x, weight, bias = torch.randn(6, 3), torch.rand(3), torch.rand(3)
    mean, variance = torch.zeros(3), torch.ones(3)
    result = torch.batch_norm(x, weight, bias, mean, variance, True, 0.5, 1e-5, False)
    assert torch.allclose(result, functional.batch_norm(x, None, None, weight, bias, True), atol=1e-6)
    assert torch.allclose(mean, 0.5 * x.mean(0), atol=1e-6)
    assert torch.allclose(variance, 0.5 + 0.5 * x.var(0), atol=1e-6)


def test_native_norms_return_what_they_used_without_history() -> None:
    x = torch.randn(2, 3, 4, requires_grad=True)
    result, mean, inverse = torch.native_layer_norm(x, (4,), None, None, 1e-5)
    assert result.requires_grad
    assert not mean.requires_grad
    assert torch.allclose((x - mean) * inverse, result, atol=1e-6)


def test_a_bag_is_told_for_each_index() -> None:
    weight = torch.arange(10.0).reshape(5, 2)
    result, bag, sizes, _ = torch.embedding_bag(weight, torch.tensor([0, 1, 4]), torch.tensor([0, 2]), mode=0)
    assert result.tolist() == [[2.0, 4.0], [8.0, 9.0]]
    assert (bag.tolist(), sizes.tolist()) == ([0, 0, 1], [2, 1])


def test_gradients_of_convolutions_by_name_are_autograds() -> None:
    x, weight = torch.randn(2, 4, 7, 7, requires_grad=True), torch.randn(6, 2, 3, 3, requires_grad=True)
    y = functional.conv2d(x, weight, stride=2, padding=1, groups=2)
    given = torch.randn_like(y)
    of_x, of_weight = torch.autograd.grad(y, (x, weight), given)
    assert torch.allclose(conv_grad.conv2d_input(x.shape, weight, given, 2, 1, 1, 2), of_x, atol=1e-5)
    assert torch.allclose(conv_grad.conv2d_weight(x, weight.shape, given, 2, 1, 1, 2), of_weight, atol=1e-4)


@pytest.mark.parametrize("is_linear", [False, True])
def test_fused_layers_do_what_both_did(is_linear: bool) -> None:
    layer = nn.Linear(4, 3) if is_linear else nn.Conv2d(4, 3, 2, bias=False)
    norm = nn.BatchNorm1d(3) if is_linear else nn.BatchNorm2d(3)
    x = torch.randn(8, 4) if is_linear else torch.randn(8, 4, 5, 5)
    norm(layer(x))
    layer.eval()
    norm.eval()
    fuse = nn.utils.fuse_linear_bn_eval if is_linear else nn.utils.fuse_conv_bn_eval
    assert torch.allclose(fuse(layer, norm)(x), norm(layer(x)), atol=1e-5)


def test_aten_names_are_the_same_functions() -> None:
    x = torch.tensor([1.0, 2.0])
    assert torch.ops.aten.add.Tensor(x, x).tolist() == [2.0, 4.0]
    assert torch.ops.aten.slice(x, 0, 1).tolist() == [2.0]
    assert torch.ops.aten.index.Tensor(x, [torch.tensor([1, 0])]).tolist() == [2.0, 1.0]
    assert torch.ops.aten._sparse_addmm.default(torch.ones(2, 2), torch.eye(2).to_sparse(), torch.eye(2)).sum() == 6
    with pytest.raises(AttributeError, match="no attribute 'no_such'"):
        torch.ops.aten.no_such(x)


def test_atens_alias_is_a_view_and_its_to_copy_is_none() -> None:
    x = torch.ones(2)
    copy = torch.ops.aten._to_copy.default(x, dtype=torch.float64)
    torch.ops.aten.alias.default(x).fill_(3)
    same = torch.ops.aten._to_copy.default(x)
    x.zero_()
    assert copy.dtype is torch.float64
    assert copy.tolist() == [1.0, 1.0]
    assert same.tolist() == [3.0, 3.0]


def test_gradients_of_convolutions_by_name_have_a_history_where_what_they_are_made_of_has_one() -> None:
    weight = torch.randn(1, 1, 1, 2, requires_grad=True)
    given = torch.ones(1, 1, 3, 2)
    found = functional.grad.conv2d_input((1, 1, 3, 3), weight, given)
    assert type(found.grad_fn).__name__ == "ConvolutionBackwardBackward0"
    found.sum().backward()
    assert weight.grad.tolist() == [[[[6.0, 6.0]]]]
    assert functional.grad.conv2d_input((1, 1, 3, 3), weight.detach(), given).grad_fn is None
