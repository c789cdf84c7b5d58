"""torchopt: optimizers that gradients go through, their functional forms, and derivatives of what an optimum is."""

import torch
import torchopt
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
x = torch.randn(8, 4)
y = x.sum(1, keepdim=True)
for name in ("Adam", "SGD", "RMSProp", "AdamW", "AdaDelta", "RAdam", "AdaMax", "AdaGrad"):
    scale = torch.ones(1, requires_grad=True)
    optimizer = getattr(torchopt, f"Meta{name}")(net, lr=0.1)
    before = torchopt.extract_state_dict(net, by="reference", detach_buffers=True)
    for _ in range(3):
        optimizer.step((net(x) - y * scale).pow(2).mean())
    loss = (net(x) - y).pow(2).mean()
    (slope,) = torch.autograd.grad(loss, scale)
    print(f"Meta{name} {loss.item():.5f} {slope.item():.5f}")
    torchopt.recover_state_dict(net, before)

steps = torchopt.schedule.linear_schedule(0.1, 0.01, 5, 1)
chain = torchopt.chain(torchopt.clip.clip_grad_norm(1.0), torchopt.sgd(steps, momentum=0.9))
for name, way in {"adam": torchopt.adam(lr=0.1), "chain": chain}.items():
    weights = tuple(weight.detach().clone().requires_grad_() for weight in net.parameters())
    state = way.init(weights)
    for step in range(4):
        loss = (x @ weights[0].T + weights[1] - y).pow(2).mean()
        updates, state = way.update(torch.autograd.grad(loss, weights), state, params=weights, inplace=False)
        weights = torchopt.apply_updates(weights, updates, inplace=False)
        print(f"{name} step {step} loss {loss.item():.5f}")


def is_best(point, weight, data):
    """Say how far a point is from the optimum: zero there."""
    return point * weight + (point - data)


@torchopt.diff.implicit.custom_root(is_best, argnums=1, solve=torchopt.linear_solve.solve_normal_cg(maxiter=10))
def solve(_, weight, data):
    """Return the optimum."""
    return data / (1 + weight)


weight = torch.tensor([0.5, 1.0], requires_grad=True)
found = solve(torch.zeros(2), weight, torch.tensor([1.0, 2.0]))
found.sum().backward()
print("implicit", found.tolist(), weight.grad.tolist())
