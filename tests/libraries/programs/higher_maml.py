"""higher: MAML over patched modules, learned step sizes, optimizers that can be differentiated, and reptile."""

import higher
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def task(generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    phase, height = torch.rand(2, generator=generator)
    x = torch.rand(20, 1, generator=generator) * 6 - 3
    y = (0.5 + height) * torch.sin(x + 3 * phase)
    return x[:10], y[:10], x[10:], y[10:]


generator = torch.Generator().manual_seed(1)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.LayerNorm(16), nn.Tanh(), nn.Linear(16, 1))
outer, inner = torch.optim.Adam(model.parameters(), lr=5e-3), torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(4):
    outer.zero_grad()
    total = 0.0
    for _ in range(3):
        x, y, x_query, y_query = task(generator)
        with higher.innerloop_ctx(model, inner, copy_initial_weights=False) as (patched, optimizer):
            for _ in range(2):
                optimizer.step(F.mse_loss(patched(x), y))
            loss = F.mse_loss(patched(x_query), y_query)
            total += loss.detach()
            loss.backward()
    norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
    outer.step()
    print(f"step {step} loss {total / 3:.4f} gradient {norm:.4f}")

rate, decay = torch.tensor(0.1, requires_grad=True), torch.tensor(0.9, requires_grad=True)
x, y, x_query, y_query = task(generator)
momentum = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
with higher.innerloop_ctx(model, momentum, override={"lr": [rate], "momentum": [decay]}) as (patched, optimizer):
    for _ in range(3):
        optimizer.step(F.mse_loss(patched(x), y))
    F.mse_loss(patched(x_query), y_query).backward()
print("learned", rate.grad, decay.grad)

for kind, options in {"Adam": {"lr": 0.01}, "Adagrad": {"lr": 0.1}}.items():
    own = getattr(torch.optim, kind)(model.parameters(), **options)
    with higher.innerloop_ctx(model, own, track_higher_grads=True) as (patched, optimizer):
        for _ in range(2):
            optimizer.step(F.mse_loss(patched(x), y))
        grads = torch.autograd.grad(F.mse_loss(patched(x_query), y_query), patched.parameters(time=0))
        print(kind, f"{torch.stack([g.norm() for g in grads]).norm():.4f}", len(list(patched.parameters())))

patched = higher.monkeypatch(model, copy_initial_weights=True, track_higher_grads=False)
weights = [p.detach().clone().requires_grad_() for p in model.parameters()]
print("given", patched(x[:2], params=weights).flatten(), type(patched).__name__)
loss = F.mse_loss(patched(x, params=weights), y)
loss.backward()
print(weights[0].grad.flatten()[:4], model[0].weight.grad is None)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell, self.out = nn.GRUCell(1, 4), nn.Linear(4, 1)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = x.new_zeros(1, 4)
        for value in x:
            state = self.cell(value[None], state)
        return self.out(state)


recurrent = Recurrent()
with higher.innerloop_ctx(recurrent, torch.optim.SGD(recurrent.parameters(), lr=0.1)) as (patched, optimizer):
    optimizer.step(patched(x[:3]).square().sum())
    last = patched(x[:3]).square().sum()
    first = torch.autograd.grad(last, patched.parameters(time=0), retain_graph=True)
    print("recurrent", f"{last:.4f}", [round(g.norm().item(), 4) for g in first], len(patched._fast_params))
