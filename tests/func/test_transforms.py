"""torch.func: torch's numbers, JAX's own transformations for JAX arrays, errors, and one compile for many calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import funcgrad as torch
from funcgrad import func
from funcgrad.nn import functional as F
from tests.func.cases import CASES, numbers

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_those_of_torch(name: str) -> None:
    found = numbers(torch, name)
    assert len(found) == len(RECORDED[name])
    for ours, theirs in zip(found, RECORDED[name], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=2e-6)


def f(x: Any) -> Any:
    return F.gelu(F.linear(x, torch.ones(3, 5) * 0.3)).sum()


@pytest.mark.parametrize(
    ("ours", "plain"),
    [
        (func.grad(f), jax.grad),
        (func.jacrev(f), jax.jacrev),
        (func.jacfwd(f), jax.jacfwd),
        (func.hessian(f), jax.hessian),
        (lambda x: func.vjp(f, x)[1](jnp.float32(2))[0], lambda f: lambda x: jax.vjp(f, x)[1](jnp.float32(2))[0]),
        (lambda x: func.jvp(f, (x,), (x,))[1], lambda f: lambda x: jax.jvp(f, (x,), (x,))[1]),
        (lambda x: func.linearize(f, x)[1](x), lambda f: lambda x: jax.jvp(f, (x,), (x,))[1]),
    ],
)
def test_with_jax_arrays_each_is_jaxs_own(ours: Callable[..., Any], plain: Any) -> None:
    x = jnp.linspace(-1, 1, 5)

    def reference(x: jax.Array) -> jax.Array:
        return jax.nn.gelu(0.3 * jnp.ones((3, 5)) @ x, approximate=False).sum()

    expected = plain(reference)(x)
    for found in (ours(x), jax.jit(ours)(x), jax.vmap(ours)(jnp.stack([x, x]))[1]):
        assert isinstance(found, jax.Array)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_vmap_of_jax_arrays_and_inside_jit() -> None:
    batch = jnp.arange(6.0).reshape(2, 3)
    found = jax.jit(func.vmap(torch.softmax, in_dims=(0, None)), static_argnums=1)(batch, 0)
    np.testing.assert_allclose(found, jax.nn.softmax(batch), rtol=1e-6)


def test_what_vmap_gives_lies_in_memory_as_in_torch() -> None:
    x, many = torch.ones(2, 3), torch.ones(2, 3, 4, 5)
    assert func.vmap(lambda row: row * 2, 1, 1)(x).stride() == (3, 1)
    assert func.vmap(lambda row: row * 2, 1)(x).stride() == (1, 3)
    assert func.vmap(lambda row, one: row + one, (1, None))(x, torch.ones(2)).stride() == (1, 3)
    assert func.vmap(lambda one: one.t() * 2, 1)(x[..., None]).stride() == (1, 1, 3)
    of_rows = func.vmap(lambda row, one: row.t() * one, (2, None))
    assert func.vmap(of_rows, (1, 0))(many, torch.ones(3, 2)).stride() == (20, 1, 5, 60)
    torch.manual_seed(0)
    plain = torch.rand_like(x)
    torch.manual_seed(0)
    assert torch.equal(torch.rand_like(func.vmap(lambda row: row * 2, 1, 1)(x)), plain)


def test_a_tensor_prints_within_vmap_as_the_batch_it_is_of() -> None:
    texts = []

    def show(x: torch.Tensor) -> torch.Tensor:
        texts.append(f"{x}")
        return x.sum()

    x = torch.arange(6.0).reshape(3, 2)
    func.vmap(show, in_dims=1)(x)
    func.vmap(func.vmap(show))(x[None])
    batch = "    tensor([[0., 2., 4.],\n            [1., 3., 5.]])\n"
    assert texts[0] == f"BatchedTensor(lvl=1, bdim=0, value=\n{batch})"
    inner = "    BatchedTensor(lvl=1, bdim=0, value=\n        tensor([[[0., 1.],\n"
    assert texts[1].startswith(f"BatchedTensor(lvl=2, bdim=0, value=\n{inner}")


def test_a_tensor_prints_within_derivatives_as_what_is_tracked() -> None:
    texts = []

    def show(x: torch.Tensor) -> torch.Tensor:
        texts.append(repr(x))
        return (x * x).sum()

    func.grad(show)(torch.ones(2))
    func.vmap(func.grad(show))(torch.arange(2.0))
    func.jvp(show, (torch.ones(2),), (torch.ones(2),))
    func.jacfwd(show)(torch.ones(2))
    tracked = "GradTrackingTensor(lvl={}, value=\n    tensor([1., 1.])\n)"
    assert texts[0] == texts[2] == tracked.format(1)
    assert texts[1] == (
        "GradTrackingTensor(lvl=2, value=\n    BatchedTensor(lvl=1, bdim=0, value=\n        tensor([0., 1.])\n    )\n)"
    )
    assert texts[3] == tracked.format(2)


def test_transforms_of_tensors_run_inside_jaxs() -> None:
    def through(array: jax.Array) -> jax.Array:
        return func.vmap(func.grad(lambda x: (x**3).sum()))(torch.from_jax(array)).jax()

    x = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(jax.jit(through)(x), 3 * x**2, rtol=1e-6)


def test_tensors_are_trees_to_jax() -> None:
    weight = torch.nn.Parameter(torch.ones(2, 3))
    tree = {"w": weight, "n": [torch.arange(3.0)]}
    leaves = jax.tree.leaves(tree)
    assert [type(leaf) for leaf in leaves] == [type(jnp.ones(1))] * 2
    back = jax.tree.map(lambda x: x * 2, tree)
    assert type(back["w"]) is torch.nn.Parameter and back["w"].requires_grad and back["w"].tolist() == [[2.0] * 3] * 2
    assert back["n"][0].tolist() == [0, 2, 4]
    doubled = jax.jit(lambda t: {"w": t["w"] @ t["w"].T, "n": t["n"]})(tree)
    assert isinstance(doubled["w"], torch.Tensor) and doubled["w"].tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert jax.eval_shape(lambda t: t["w"].sum(1), tree).shape == (2,)
    assert jax.tree.structure(tree) == jax.tree.structure(back)
    assert jax.tree.map(lambda x: x.shape, tree)["w"]._variable.value.array == (2, 3)


def test_backward_runs_inside_jit() -> None:
    model = torch.nn.Linear(3, 1)

    def gradient(x: torch.Tensor) -> torch.Tensor:
        weight = model.weight.detach().requires_grad_()
        F.linear(x, weight).pow(2).sum().backward()
        assert weight.grad is not None
        return weight.grad

    x = torch.randn(4, 3)
    found = jax.jit(gradient)(x)
    model(x).sub(model.bias).pow(2).sum().backward()
    assert model.weight.grad is not None
    np.testing.assert_allclose(found.tolist(), model.weight.grad.tolist(), rtol=1e-5)


def test_calls_record_and_compile_once() -> None:
    w = torch.randn(3, 5)
    per_sample = func.vmap(func.grad(lambda x: torch.tanh(w @ x).pow(2).sum()))
    for _ in range(2):
        per_sample(torch.randn(4, 5)).tolist()
    with torch.explain.counted() as seen:
        for _ in range(3):
            per_sample(torch.randn(4, 5)).tolist()
    assert (seen.compiles, seen.inferences, seen.misses, seen.runs) == (0, 0, 0, 3)


def test_a_transform_joins_the_program_around_it() -> None:
    w = torch.randn(3, 5, requires_grad=True)
    optimizer = torch.optim.SGD([w], 0.1)
    torch.explain.flush()
    with torch.explain.counted() as seen:
        func.vmap(func.grad(lambda x: torch.tanh(w @ x).pow(2).sum()))(torch.ones(4, 5)).sum().backward()
        optimizer.step()
    assert seen.runs == 1


def test_no_history_is_kept_under_no_grad_and_buffers_change_under_grad() -> None:
    x = torch.randn(3, requires_grad=True)
    slope = func.grad(lambda x: (x**2).sum())
    assert slope(x).requires_grad
    with torch.no_grad():
        assert not slope(x).requires_grad
    norm = torch.nn.BatchNorm1d(3)
    func.grad(lambda x: (norm(x) ** 3).sum())(torch.randn(8, 3))
    assert norm.running_mean is not None and norm.running_mean.abs().sum().item() > 0


def test_a_function_under_no_grad_has_no_history_inside_of_another_that_is_transformed() -> None:
    w, x = torch.ones(3, requires_grad=True), torch.ones(2, 3)

    @torch.no_grad()
    def product(v: torch.Tensor) -> torch.Tensor:
        return func.vjp(lambda w: w**3, w)[1](v)[0]

    assert not func.vmap(product)(x).requires_grad
    with torch.no_grad():
        assert not func.jacrev(lambda w: w**3)(w).requires_grad
        assert not func.vmap(func.grad(lambda x: (x * w).sum()))(x).requires_grad
    assert func.grad(lambda v: (product(v) * v).sum())(x[0]).tolist() == [3, 3, 3]


def test_values_move_in_a_direction_where_no_history_is_kept() -> None:
    x = torch.tensor([1.0, 2.0])
    with torch.no_grad():
        value, moved = func.jvp(lambda x: func.grad_and_value(lambda x: (x**3).sum())(x)[1], (x,), (torch.ones(2),))
        assert (value.item(), moved.item()) == (9, 15)
        assert func.jvp(lambda x: func.vjp(torch.exp, x)[0], (x,), (x,))[1].tolist() == pytest.approx(
            (x.exp() * x).tolist()
        )


def test_running_statistics_take_no_batches_of_vmap_and_stay_as_they_were() -> None:
    norm, x = torch.nn.BatchNorm1d(3), torch.randn(2, 8, 3)
    for attempt in (func.vmap(norm), func.vmap(func.grad(lambda x: (norm(x) ** 3).sum()))):
        with pytest.raises(RuntimeError, match="Batch norm got a batched tensor as input while the running_mean"):
            attempt(x)
    assert norm.running_mean is not None and norm.running_mean.tolist() == [0, 0, 0]
    state = {name: torch.stack([buffer] * 2) for name, buffer in norm.named_buffers()}
    func.vmap(lambda state, x: func.functional_call(norm, state, (x,)))(state, x)
    assert state["running_mean"][1].tolist() == pytest.approx((0.1 * x[1].mean(0)).tolist())


def test_what_is_written_to_a_mapped_input_is_written_for_the_whole_batch() -> None:
    steps = torch.arange(6.0).reshape(2, 3)
    total = torch.ones(3, 2)
    func.vmap(lambda total, step: total.add_(step), in_dims=(1, 0))(total, steps)
    assert total.tolist() == [[1, 4], [2, 5], [3, 6]]
    func.vmap(lambda total: total[1:].fill_(0), in_dims=1, chunk_size=1)(total)
    assert total.tolist() == [[1, 4], [0, 0], [0, 0]]
    weight, total = torch.ones(2, requires_grad=True), torch.zeros(2, 3)
    func.vmap(lambda total, weight: total.add_(2 * weight))(total, weight)
    total.sum().backward()
    assert weight.grad is not None and weight.grad.tolist() == [6, 6]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
        func.vmap(lambda weight: weight.add_(1))(weight)


def test_what_is_not_mapped_takes_no_batch_in_place() -> None:
    total = torch.ones(3)
    with pytest.raises(RuntimeError, match="an in-place operation is not possible on a Tensor that is not vmapped"):
        func.vmap(lambda total, step: total.add_(step), in_dims=(None, 0))(total, torch.ones(2, 3))
    assert total.tolist() == [1, 1, 1]
    func.vmap(lambda total, step: total.add_(1) + step, in_dims=(None, 0))(total, torch.ones(2, 3))
    assert total.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    "layer",
    [lambda x: F.conv2d(x, torch.ones(1, 1, 2, 2)), lambda x: F.avg_pool2d(x, 2), lambda x: x.softmax(-1), F.relu],
)
def test_gradients_have_no_history_at_a_level_that_is_over(layer: Any) -> None:
    x = torch.randn(1, 1, 4, 4)
    results, pull = func.vjp(layer, x)
    assert not pull(torch.ones_like(results))[0].requires_grad
    assert not func.grad(lambda x: layer(x).sum())(x).requires_grad
    assert not func.jacrev(layer)(x).requires_grad
    assert func.grad(lambda x: layer(x).sum())(x.requires_grad_()).requires_grad  # torch's kernel is given x


def test_the_same_randomness_is_that_of_all_chunks() -> None:
    torch.manual_seed(0)
    once = func.vmap(lambda x: torch.rand(2) + 0 * x, randomness="same")(torch.ones(5))
    after = torch.rand(1)
    torch.manual_seed(0)
    assert func.vmap(lambda x: torch.rand(2) + 0 * x, randomness="same", chunk_size=2)(torch.ones(5)).equal(once)
    assert torch.rand(1).equal(after)


def test_randomness_is_different_where_that_is_asked() -> None:
    x = torch.ones(64, 4)
    drawn = func.vmap(lambda x: torch.rand(2) + 0 * x.sum(), randomness="different")(x)
    assert len({tuple(row) for row in drawn.tolist()}) == 64
    dropped = func.vmap(lambda x: F.dropout(x, 0.5), randomness="different")(x)
    assert 0.3 < (dropped == 0).float().mean().item() < 0.7
    with pytest.raises(RuntimeError, match="randomness error mode"):
        func.vmap(lambda x: torch.rand(2) + x.sum())(x)
    with pytest.raises(RuntimeError, match="Only allowed values for randomness"):
        func.vmap(torch.sin, randomness="any")


@pytest.mark.parametrize(
    ("attempt", "kind", "text"),
    [
        (lambda x: func.vmap(lambda x: 1 if x.sum() > 0 else x)(x), RuntimeError, "data-dependent control flow"),
        (lambda x: func.vmap(lambda x: x.sum().item())(x), RuntimeError, "calling .item\\(\\) on a Tensor. We don't"),
        (
            lambda x: func.vmap(lambda x: x.nonzero())(x),
            RuntimeError,
            "output dynamic shape. .* vmap over aten::nonzero.",
        ),
        (lambda x: func.vmap(lambda x: torch.where(x > 0))(x), RuntimeError, "vmap over aten::where. Please file"),
        (lambda x: func.vmap(lambda x: x.unique())(x), RuntimeError, "vmap over aten::_unique2. Please file"),
        (
            lambda x: func.vmap(lambda x: x[x > 0])(x),
            RuntimeError,
            "support dynamic shape. .* with a boolean mask.",
        ),
        (lambda x: func.vmap(lambda x: x.masked_select(x > 0))(x), RuntimeError, "vmap over `mask` in torch.masked_s"),
        (lambda x: func.vmap(lambda x: x.tolist())(x), RuntimeError, "Cannot access data pointer of Tensor that"),
        (lambda x: func.vmap(lambda x, y: x)(x, x[:1]), ValueError, "same size in the mapped dimension"),
        (lambda x: func.vmap(lambda x: x, in_dims=3)(x), ValueError, "expected in_dim to satisfy -2 <= in_dim < 2"),
        (lambda x: func.vmap(lambda x: x, in_dims="a")(x), ValueError, "expected `in_dims` to be int"),
        (lambda x: func.vmap(lambda x: x, in_dims=(0, 0))(x), ValueError, "not compatible with the structure"),
        (lambda x: func.vmap(lambda x, y: x)(x, 2), ValueError, "cannot vmap over non-Tensor"),
        (
            lambda x: func.vmap(lambda x: 2)(x),
            ValueError,
            r"vmap\(<lambda>, ...\): `<lambda>` must only return",
        ),
        (lambda x: func.vmap(lambda x: x, out_dims=None)(x), ValueError, "out_dim is None"),
        (lambda x: func.vmap(lambda: 2)(), ValueError, "got no inputs"),
        (lambda x: func.grad(lambda x: x)(x), RuntimeError, "Expected f\\(\\*args\\) to return a scalar"),
        (lambda x: func.grad(lambda x: 2)(x), RuntimeError, "to return a Tensor, got <class 'int'>"),
        (lambda x: func.grad(lambda x: x.sum(), argnums=1)(x), RuntimeError, "only 1 positional"),
        (
            lambda x: func.grad(lambda x: x.sum())(x.long()),
            RuntimeError,
            "^only Tensors of floating point dtype can require gradients$",
        ),
        (lambda x: func.grad(lambda x: x * 2)(1.0), ValueError, "must be Tensor, got <class 'float'>"),
        (lambda x: func.vjp(lambda x: x, x)[1](x[0]), RuntimeError, "Mismatch in shape"),
        (lambda x: func.jvp(lambda x: x, (x,), (x[0],)), RuntimeError, "Tensor is of size"),
        (lambda x: func.jvp(lambda y: x, (x,), (x,), strict=True), RuntimeError, "is independent of the inputs"),
        (lambda x: func.stack_module_state([]), RuntimeError, "at least one model"),
    ],
)
def test_errors_say_what_was_given(attempt: Callable[[Any], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        attempt(torch.ones(3, 4))


def test_a_tensor_that_escapes_vmap_says_so() -> None:
    kept: list[torch.Tensor] = []
    func.vmap(lambda x: kept.append(x) or x)(torch.ones(3))
    with pytest.raises(RuntimeError, match="left the function"):
        _ = kept[0] + 1
    with pytest.raises(RuntimeError, match="left the function"):
        kept[0].tolist()


@pytest.mark.parity
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_parity_with_the_installed_torch(name: str) -> None:
    reference = pytest.importorskip("torch")
    for ours, theirs in zip(numbers(torch, name), numbers(reference, name), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=2e-6)


def test_vjp_gives_a_tuple_of_gradients_for_one_primal_too() -> None:
    parameters = {"w": torch.tensor([1.0, 2.0])}
    _, pull = func.vjp(lambda p: p["w"] ** 2, parameters)
    gradients = pull(torch.ones(2))
    assert [g["w"].tolist() for g in gradients] == [[2, 4]]
    assert func.jvp(lambda p: p["w"].sum(), (parameters,), gradients)[1].item() == 6


@pytest.mark.parametrize("exponents", [(2, 3, 4, 1), (2.0, 3.0, 9.0, 2.5)])
def test_exponents_that_vary_leave_derivatives_finite(exponents: tuple[float, ...]) -> None:
    z = torch.tensor([-0.5, 0.25, 0.75])
    for p in exponents:
        base = z if p == int(p) else z.abs()
        slopes = func.jacfwd(lambda x, p=p: x**p)(base)
        curvatures = func.jacfwd(func.grad(lambda x, p=p: (x**p).sum()))(base)
        assert slopes.diagonal().tolist() == pytest.approx([p * x ** (p - 1) for x in base.tolist()], rel=1e-5)
        expected = [p * (p - 1) * x ** (p - 2) for x in base.tolist()]
        assert curvatures.diagonal().tolist() == pytest.approx(expected, rel=1e-5)


def test_permutations_and_drawn_places_differ_between_entries() -> None:
    def one_by_one(count: int) -> list[list[int]]:
        return [torch.randperm(5).tolist() for _ in range(count)]

    torch.manual_seed(0)
    expected = one_by_one(3)
    torch.manual_seed(0)
    assert func.vmap(lambda x: torch.randperm(5), randomness="different")(torch.ones(3)).tolist() == expected
    torch.manual_seed(0)
    inner = one_by_one(6)
    torch.manual_seed(0)
    drawn = func.vmap(func.vmap(lambda x: torch.randperm(5), randomness="different"), randomness="different")
    assert drawn(torch.ones(3, 2)).tolist() == [inner[i::3] for i in range(3)]
    torch.manual_seed(0)
    expected = torch.multinomial(torch.ones(3, 4), 2).tolist()
    torch.manual_seed(0)
    assert func.vmap(lambda w: torch.multinomial(w, 2), randomness="different")(torch.ones(3, 4)).tolist() == expected


def test_a_cotangent_takes_the_dtype_of_its_result_and_must_have_its_shape() -> None:
    x = torch.tensor([1.0, 2.0])
    pull = func.vjp(lambda x: x * 3, x)[1]
    (pulled,) = pull(torch.ones(2).double())
    assert pulled.dtype is torch.float32 and pulled.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\] has a shape of"):
        pull(torch.ones(3))
    push = func.linearize(lambda x: x * 3, x)[1]
    with pytest.raises(RuntimeError, match=r"tangent:0 with dtype torch\.float64 in flattened pytree doesn't match"):
        push(torch.ones(2).double())


def test_only_real_scalars_and_floating_arguments_have_derivatives() -> None:
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for real scalar outputs"):
        func.grad(lambda x: (x * 1j).sum())(torch.ones(2))
    with pytest.raises(ValueError, match=r"Expected primal to be floating point or complex, but got: torch\.int32"):
        func.jacfwd(lambda x: x)(torch.ones(2, dtype=torch.int32))


@pytest.mark.parametrize("function", [lambda x: x > 1, lambda x: (x, x > 1)])
def test_what_has_no_derivative_is_refused_as_a_result(function: Callable[..., Any]) -> None:
    words = r"All outputs of f must be floating-point or complex Tensors, got Tensor with dtype torch\.bool"
    for derivative in (lambda x: func.vjp(function, x), func.jacrev(function)):
        with pytest.raises(RuntimeError, match=words):
            derivative(torch.ones(2))
