"""functorch's names: modules as functions of tuples, ensembles of them, and rearrange by a pattern."""

from __future__ import annotations

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.func import functorch
from funcgrad.func.vmap_internals import _vmap


def test_a_module_is_a_function_of_its_parameters() -> None:
    model = nn.Linear(3, 2)
    function, params = functorch.make_functional(model)
    x = torch.ones(4, 3)
    assert torch.equal(function(params, x), model(x))
    of_weight, of_bias = functorch.grad(lambda params: function(params, x).sum())(params)
    assert (of_weight.tolist(), of_bias.tolist()) == ([[4.0] * 3] * 2, [4.0, 4.0])
    assert params[0] is not model.weight
    assert not any(p.requires_grad for p in functorch.make_functional(model, disable_autograd_tracking=True)[1])


def test_buffers_are_given_too() -> None:
    model = nn.BatchNorm1d(2)
    with pytest.raises(RuntimeError, match="Please use make_functional_with_buffers"):
        functorch.make_functional(model)
    function, params, buffers = functorch.make_functional_with_buffers(model)
    assert torch.equal(function(params, buffers, torch.eye(2)), model(torch.eye(2)))


def test_an_ensemble_is_one_function_of_stacked_parameters() -> None:
    models = [nn.Linear(3, 2) for _ in range(4)]
    function, params, buffers = functorch.combine_state_for_ensemble(models)
    found = functorch.vmap(function, (0, 0, None))(params, buffers, torch.ones(5, 3))
    assert found.shape == (4, 5, 2)
    assert torch.allclose(found[2], models[2](torch.ones(5, 3)))
    with pytest.raises(RuntimeError, match="same class"):
        functorch.combine_state_for_ensemble([nn.Linear(3, 2), nn.Bilinear(1, 1, 1)])


@pytest.mark.parametrize(("pattern", "sizes", "shape", "checksum"), [  # sums of elements times their place, by torch
    ("b h w c -> (b h) w c", {}, (8, 6, 3), 984984.0),
    ("b (h1 h) (w1 w) c -> (b h1 w1) h w c", {"h1": 2, "w1": 2}, (8, 2, 3, 3), 982068.0),
    ("... c -> c ...", {}, (3, 2, 4, 6), 823680.0),
    ("b ... c -> b (...) c", {}, (2, 24, 3), 984984.0),
    ("b h w c -> b 1 h w () c", {}, (2, 1, 4, 6, 1, 3), 984984.0),
    ("b h w c -> h (b w) c", {}, (4, 12, 3), 903336.0),
])  # fmt: skip
def test_patterns_reorder_split_and_join(
    pattern: str, sizes: dict[str, int], shape: tuple[int, ...], checksum: float
) -> None:
    found = functorch.rearrange(torch.arange(144.0).reshape(2, 4, 6, 3), pattern, **sizes)
    assert found.shape == shape
    assert (found.flatten() * torch.arange(144)).sum().item() == checksum


@pytest.mark.parametrize("pattern", [
    "b h w -> b h w", "b h w c -> b h w", "b (h x) w c -> b h x w c", "b h w c", "b b w c -> b w c",
])  # fmt: skip
def test_patterns_that_do_not_fit_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="rearrange"):
        functorch.rearrange(torch.zeros(2, 4, 6, 3), pattern)


def test_the_older_vmap_lets_pass_what_has_no_gradient() -> None:
    x, unused = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor(1.0, requires_grad=True)
    (gradient,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)

    def product(direction: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(gradient, (x, unused), direction, retain_graph=True, allow_unused=True)

    hessian, none = _vmap(product, allow_none_pass_through=True)(torch.eye(2))
    assert hessian.tolist() == [[6.0, 0.0], [0.0, 12.0]] and none is None
    with pytest.raises(ValueError, match="must only return Tensors, got type <class 'NoneType'>"):
        _vmap(product)(torch.eye(2))
    assert _vmap(torch.mul, (0, None), 1)(torch.eye(3), torch.ones(2, 3)).shape == (2, 3, 3)
