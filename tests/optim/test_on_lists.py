"""Steps on lists of tensors (torch.optim._functional) are those of the optimizers; torch 2.13 gave the numbers."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import funcgrad as torch
from funcgrad.optim import on_lists

DTYPES = (torch.float32, torch.complex64)


def _numbers(dtype: torch.dtype) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(3, dtype=dtype, generator=generator) for _ in range(4)]


def _stepped(optimizer: Any, param: torch.Tensor, grads: list[torch.Tensor]) -> torch.Tensor:
    for grad in grads:
        param.grad = grad.clone()
        optimizer.step()
    return param.detach()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("kind", ["Adam", "AdamW"])
def test_adam_on_lists_is_adam(kind: str, amsgrad: bool, dtype: torch.dtype) -> None:
    start, *grads = _numbers(dtype)
    leaf = start.clone().requires_grad_()
    optimizer = getattr(torch.optim, kind)([leaf], 0.1, weight_decay=0.1, amsgrad=amsgrad, maximize=amsgrad)
    expected = _stepped(optimizer, leaf, grads)
    params, means, squares, largest = ([x] for x in (start, *torch.zeros(3, 3, dtype=dtype).unbind()))
    steps = [torch.tensor(0.0)]
    for grad in grads:
        getattr(on_lists, kind.lower())(
            params, [grad], means, squares, largest, steps, amsgrad=amsgrad, maximize=amsgrad, beta1=0.9, beta2=0.999,
            lr=0.1, weight_decay=0.1, eps=1e-8,
        )  # fmt: skip
    torch.testing.assert_close(params[0], expected)
    torch.testing.assert_close(means[0], optimizer.state[leaf]["exp_avg"])
    assert steps[0].item() == 3


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("momentum", "dampening", "nesterov"), [(0, 0, False), (0.9, 0.1, False), (0.9, 0, True)])
def test_sgd_on_lists_is_sgd(momentum: float, dampening: float, nesterov: bool, dtype: torch.dtype) -> None:
    start, *grads = _numbers(dtype)
    leaf = start.clone().requires_grad_()
    options = {
        "momentum": momentum,
        "dampening": dampening,
        "nesterov": nesterov,
        "weight_decay": 0.1,
        "maximize": True,
    }
    expected = _stepped(torch.optim.SGD([leaf], 0.1, **options), leaf, grads)
    buffers: list[torch.Tensor | None] = [None]
    for grad in grads:
        on_lists.sgd([start], [grad], buffers, lr=0.1, **options)
    torch.testing.assert_close(start, expected)
    assert (buffers[0] is None) == (momentum == 0)


@pytest.mark.parametrize("dtype", (*DTYPES, torch.float64))
@pytest.mark.parametrize(("kind", "options", "numbers", "names"), [
    ("Adadelta", {"weight_decay": 0.1, "rho": 0.8}, {"eps": 1e-6}, "square_avg acc_delta"),
    ("Adagrad", {"weight_decay": 0.1, "lr_decay": 0.2}, {"eps": 1e-10}, "sum"),
    ("Adamax", {"weight_decay": 0.1}, {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8}, "exp_avg exp_inf"),
    ("ASGD", {"weight_decay": 0.1, "t0": 1, "lambd": 1e-2, "alpha": 0.5}, {}, "ax mu eta"),
    ("NAdam", {"weight_decay": 0.1, "momentum_decay": 0.01}, {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8},
     "exp_avg exp_avg_sq mu_product"),
    ("NAdam", {"weight_decay": 0.1, "momentum_decay": 0.01, "decoupled_weight_decay": True},
     {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8}, "exp_avg exp_avg_sq mu_product"),
    ("RAdam", {"weight_decay": 0.1}, {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8}, "exp_avg exp_avg_sq"),
    ("RMSprop", {"weight_decay": 0.1, "alpha": 0.9, "momentum": 0.5, "centered": True}, {"eps": 1e-8},
     "square_avg grad_avg momentum_buffer"),
    ("RMSprop", {"weight_decay": 0.1, "alpha": 0.9, "momentum": 0, "centered": False}, {"eps": 1e-8},
     "square_avg"),
    ("Rprop", {}, {"etaminus": 0.5, "etaplus": 1.2, "step_size_min": 1e-6, "step_size_max": 50.0}, "prev step_size"),
])  # fmt: skip
def test_steps_on_lists_are_those_of_the_class(
    kind: str, options: dict[str, Any], numbers: dict[str, Any], names: str, dtype: torch.dtype
) -> None:
    start, *grads = _numbers(dtype)
    grads = grads * 3  # so that RAdam comes to its second form
    leaf = start.clone().requires_grad_()
    expected = _stepped(getattr(torch.optim, kind)([leaf], 0.1, maximize=True, **options), leaf, grads)
    begin = {"mu": torch.ones(()), "eta": torch.tensor(0.1), "mu_product": torch.ones(())}
    begin["step_size"] = torch.full_like(start, 0.1 + 0.1j if dtype.is_complex else 0.1)
    states = [[begin.get(name, torch.zeros_like(start))] for name in names.split()]
    if kind == "RMSprop":
        states += [[]] * (3 - len(states))
    steps = [torch.tensor(0.0)]
    rate = {} if kind == "Rprop" else {"lr": 0.1}
    room = importlib.import_module(f"funcgrad.optim.{kind.lower()}")
    for grad in grads:
        getattr(room, kind.lower())([start], [grad], *states, steps, maximize=True, **rate, **options, **numbers)
    torch.testing.assert_close(start, expected)
    assert steps[0].item() == len(grads)


def test_the_numbers_are_torchs() -> None:
    params, means, squares = [torch.tensor([1.0, -2.0])], [torch.zeros(2)], [torch.zeros(2)]
    on_lists.adam(
        params, [torch.tensor([0.5, 3.0])], means, squares, [], [torch.tensor(1.0)], amsgrad=False, beta1=0.9,
        beta2=0.99, lr=0.1, weight_decay=0.1, eps=1e-8, maximize=False,
    )  # fmt: skip
    assert params[0].tolist() == pytest.approx([0.9257540106773376, -2.0742459297180176])


def test_counts_that_are_numbers_are_refused() -> None:
    with pytest.raises(RuntimeError, match="`state_steps` argument must contain a list of singleton tensors"):
        options = {"beta1": 0, "beta2": 0, "lr": 1, "weight_decay": 0, "eps": 0}
        on_lists.adam([], [], [], [], [], [1], amsgrad=False, maximize=False, **options)  # type: ignore[list-item]


def test_adagrad_on_lists_takes_sparse_gradients() -> None:
    layers = [torch.nn.Embedding(5, 2, sparse=True) for _ in range(2)]
    layers[1].load_state_dict(layers[0].state_dict())
    optimizer = torch.optim.Adagrad(layers[0].parameters(), 0.1, lr_decay=0.2)
    totals, steps = [torch.zeros(5, 2)], [torch.tensor(0.0)]
    options: dict[str, Any] = {"lr": 0.1, "lr_decay": 0.2, "eps": 1e-10, "maximize": False}
    for places in ([1, 1, 3], [3, 0, 4]):
        for layer in layers:
            layer.zero_grad()
            layer(torch.tensor(places)).square().sum().backward()
        optimizer.step()
        weight = layers[1].weight
        with torch.no_grad():
            on_lists.adagrad([weight], [weight.grad], totals, steps, has_sparse_grad=True, weight_decay=0.0, **options)
    torch.testing.assert_close(layers[1].weight, layers[0].weight)
    torch.testing.assert_close(totals[0], optimizer.state[layers[0].weight]["sum"])
    with pytest.raises(RuntimeError, match="weight_decay option is not compatible with sparse gradients"):
        on_lists.adagrad([weight], [weight.grad], totals, steps, weight_decay=0.1, **options)
