"""What torch.func is used for, written once for any torch: each case gives tensors to compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CASES: dict[str, Callable[[Any], Any]] = {}


def case(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Enter a case."""
    CASES[function.__name__] = function
    return function


def numbers(torch: Any, name: str) -> list[list[float]]:
    """Return the numbers of all tensors that a case gives, each with its shape in front."""
    torch.manual_seed(0)
    given = CASES[name](torch)
    rows = []
    for tensor in given if isinstance(given, (tuple, list)) else (given,):
        rows.append([*map(float, tensor.shape), *(float(f"{x:.7g}") for x in tensor.flatten().tolist())])
    return rows


def setting(torch: Any) -> tuple[Any, Any, Any]:
    """Return a weight that requires grad, an example and a batch."""
    return torch.randn(3, 5, requires_grad=True), torch.randn(5), torch.randn(4, 5)


@case
def grad(torch: Any) -> Any:
    w, x, _ = setting(torch)
    return torch.func.grad(lambda x: torch.tanh(w @ x).pow(2).sum())(x)


@case
def grad_by_trees_and_arguments(torch: Any) -> Any:
    w, x, batch = setting(torch)
    given = {"b": x, "a": (batch, [w.detach()])}
    found, (value, aux) = torch.func.grad_and_value(
        lambda scale, t: ((t["b"] * scale).sin() @ t["a"][1][0].T @ torch.ones(3) * t["a"][0].sum(), scale * 2),
        argnums=(1,), has_aux=True,
    )(torch.tensor(0.5), given)  # fmt: skip
    assert list(found[0]) == ["b", "a"]
    return found[0]["b"], found[0]["a"][0], found[0]["a"][1][0], value, aux


@case
def gradient_of_a_gradient(torch: Any) -> Any:
    w, x, _ = setting(torch)
    inner = torch.func.grad(lambda x: torch.tanh(w @ x).pow(2).sum())
    return torch.func.grad(lambda x: (inner(x) * x).sum())(x)


@case
def detach_cuts_every_level(torch: Any) -> Any:
    _, x, _ = setting(torch)
    inner = torch.func.grad(lambda x: (x.detach() * x * x).sum())
    return inner(x), torch.func.grad(lambda x: inner(x).sum())(x)


@case
def gradients_of_outer_tensors_go_through(torch: Any) -> Any:
    w, x, _ = setting(torch)
    torch.func.grad(lambda x: torch.tanh(w @ x).pow(2).sum())(x).pow(2).sum().backward()
    return w.grad


@case
def vmap_with_dims(torch: Any) -> Any:
    w, x, batch = setting(torch)
    softmax = torch.vmap(lambda w, x: torch.softmax(w @ x, 0), in_dims=(None, 0), out_dims=1)(w, batch)
    nested = torch.vmap(torch.vmap(lambda a, b: (a * b).cumsum(0), in_dims=(None, 0)), in_dims=(0, None))(batch, batch)
    both = torch.vmap(lambda a, b: {"s": a + b.sum(), "x": x}, in_dims=(1, -1))(batch, batch)
    return softmax, nested, both["s"], both["x"], torch.vmap(torch.dot, chunk_size=3)(batch, batch)


@case
def gradients_go_through_vmap(torch: Any) -> Any:
    w, _, batch = setting(torch)
    torch.vmap(lambda x: torch.tanh(w @ x).pow(2).sum())(batch).sum().backward()
    first, w.grad = w.grad, None
    torch.vmap(torch.func.grad(lambda x: torch.tanh(w @ x).pow(2).sum()))(batch).pow(2).sum().backward()
    return first, w.grad


@case
def in_place_and_indices_inside_vmap(torch: Any) -> Any:
    _, x, batch = setting(torch)

    def changed(x: Any) -> Any:
        y = x.clone()
        y[0] = 5.0
        y[1:3] += x[:2]
        return y.mul_(2)

    picked = torch.vmap(lambda x, i: x[i], in_dims=(None, 0))(x, torch.tensor([0, 2, 1]))
    return torch.vmap(changed)(batch), picked, torch.vmap(lambda x: torch.where(x > 0, x, x * 0.1).sort()[0])(batch)


@case
def per_sample_gradients_of_a_conv_net(torch: Any) -> Any:
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(),
        torch.nn.Linear(36, 3),
    ).eval()  # fmt: skip
    params = {name: p.detach() for name, p in model.named_parameters()}
    buffers = dict(model.named_buffers())

    def loss(params: Any, x: Any, y: Any) -> Any:
        scores = torch.func.functional_call(model, (params, buffers), (x.unsqueeze(0),))
        return torch.nn.functional.cross_entropy(scores, y.unsqueeze(0))

    images, labels = torch.randn(5, 1, 8, 8), torch.tensor([0, 1, 2, 0, 1])
    found, values = torch.vmap(torch.func.grad_and_value(loss), in_dims=(None, 0, 0))(params, images, labels)
    return found["0.weight"], found["1.bias"], found["5.weight"], values


@case
def ensembles(torch: Any) -> Any:
    models = [torch.nn.Linear(5, 2) for _ in range(3)]
    params, buffers = torch.func.stack_module_state(models)
    x = torch.randn(4, 5)
    out = torch.vmap(lambda p, b, x: torch.func.functional_call(models[0], (p, b), (x,)), (0, 0, None))(
        params, buffers, x
    )
    out.pow(2).sum().backward()
    return out, params["weight"].grad


@case
def maml(torch: Any) -> Any:
    net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)

    def loss(params: Any, x: Any, y: Any) -> Any:
        return torch.nn.functional.mse_loss(torch.func.functional_call(net, params, (x,)), y)

    def adapted(params: Any, x: Any, y: Any, x2: Any, y2: Any) -> Any:
        slopes = torch.func.grad(loss)(params, x, y)
        return loss({name: params[name] - 0.1 * slopes[name] for name in params}, x2, y2)

    losses = []
    for _ in range(4):
        x, x2 = torch.randn(4, 10, 1), torch.randn(4, 10, 1)
        optimizer.zero_grad()
        params = dict(net.named_parameters())
        total = torch.vmap(adapted, (None, 0, 0, 0, 0))(params, x, x.sin(), x2, x2.sin()).mean()
        total.backward()
        optimizer.step()
        losses.append(total.detach())
    return losses


@case
def second_derivatives_of_a_network(torch: Any) -> Any:
    net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    xs = torch.linspace(0, 1, 7)
    curvature = torch.vmap(torch.func.grad(torch.func.grad(lambda x: net(x.reshape(1, 1)).squeeze())))(xs)
    (curvature + xs).pow(2).mean().backward()
    return curvature, net[0].weight.grad


@case
def vjp_and_jvp(torch: Any) -> Any:
    w, x, _ = setting(torch)
    out, pull, aux = torch.func.vjp(lambda a, b: (a @ b, b * 2), w.detach(), x, has_aux=True)
    primal, tangent = torch.func.jvp(lambda x: torch.sin(x) * x, (x,), (torch.ones(5),))
    pair, moved = torch.func.jvp(lambda a, b: (a * b, {"s": a.sum()}), (x, x + 1), (torch.ones(5), x))
    _, push = torch.func.linearize(lambda x: x.sin() * w.sum(), x)
    return (out, *pull(torch.ones(3)), aux, primal, tangent, *moved[:1], moved[1]["s"], pair[0], push(torch.ones(5)))


@case
def jacobians(torch: Any) -> Any:
    w, x, batch = setting(torch)
    out = lambda x: torch.tanh(w @ x)  # noqa: E731
    pair = torch.func.jacrev(lambda a, b: (a * b, a.sum()), argnums=(0, 1))(x, x + 1)
    forward, aux = torch.func.jacfwd(lambda x: (x**3, x.sum()), has_aux=True)(x)
    return (
        torch.func.jacrev(out)(x), torch.func.jacfwd(out)(x), torch.func.jacrev(out, chunk_size=2)(x), pair[0][1],
        pair[1][0], forward, aux, torch.func.hessian(lambda x: out(x).sum())(x),
        torch.func.hessian(lambda a, b: (a * b.sin()).sum(), argnums=(0, 1))(x, x)[0][1],
        torch.vmap(torch.func.jacrev(out))(batch),
    )  # fmt: skip


@case
def layers_inside(torch: Any) -> Any:
    lstm, attention = torch.nn.LSTM(3, 4), torch.nn.MultiheadAttention(4, 2, batch_first=True)
    weights = {name: p.detach() for name, p in lstm.named_parameters()}
    call = torch.func.functional_call
    slopes = torch.func.grad(lambda p, x: call(lstm, p, (x,))[0].pow(2).sum(), argnums=1)(weights, torch.randn(5, 2, 3))
    held = {name: p.detach() for name, p in attention.named_parameters()}
    attended = torch.vmap(lambda x: call(attention, held, (x[None], x[None], x[None]))[0][0])(torch.randn(3, 5, 4))
    embedded = torch.vmap(
        torch.func.grad(lambda w, i: torch.nn.functional.embedding(i, w).pow(2).sum()), in_dims=(None, 0)
    )(torch.randn(6, 3), torch.tensor([[0, 1], [2, 2]]))
    values = torch.func.jacrev(torch.linalg.svdvals)(torch.randn(3, 3))

    def unrolled(x: Any) -> Any:
        h = torch.zeros(4)
        for i in range(3):
            h = torch.tanh(h + x * i)
        return h

    return slopes, attended, embedded, values, torch.vmap(torch.func.jacrev(unrolled))(torch.randn(2, 4))


@case
def factors_of_a_batch_that_requires_grad(torch: Any) -> Any:
    batch = torch.randn(3, 4, 4, requires_grad=True)
    linalg = torch.linalg
    sums = [
        torch.vmap(lambda x, f=f: f(x).pow(2).sum())(batch)
        for f in (linalg.pinv, linalg.inv, linalg.svdvals, torch.det, torch.matrix_exp)
    ]
    slopes = torch.autograd.grad(sum(row.sum() for row in sums), batch)[0]
    scale = torch.rand(4, 4, requires_grad=True)
    _, along = torch.func.jvp(lambda x: linalg.inv(x * scale).sum(), (batch.detach()[0],), (torch.ones(4, 4),))
    return *[row.detach() for row in sums], slopes, torch.autograd.grad(along, scale)[0]


@case
def random_numbers_in_a_batch(torch: Any) -> Any:
    x = torch.ones(3, 4)
    same = torch.vmap(lambda x: torch.rand(2) + 0 * x.sum(), randomness="same")(x)
    dropped = torch.vmap(lambda x: torch.nn.functional.dropout(x, 0.5), randomness="same")(x)
    return same, dropped[0] - dropped[1]
