"""geotorch: weights held on manifolds while they are trained: orthogonal, low rank, positive definite, spheres."""

import geotorch
import torch
from torch import nn

torch.manual_seed(0)


def show(name, numbers):
    print(name, *(f"{number:.4f}" for number in torch.as_tensor(numbers).detach().flatten().tolist()))


x, y = torch.randn(32, 6), torch.randn(32, 6)
kinds = {
    "orthogonal": lambda layer: geotorch.orthogonal(layer, "weight"),
    "orthogonal by cayley": lambda layer: geotorch.orthogonal(layer, "weight", triv="cayley"),
    "low rank": lambda layer: geotorch.low_rank(layer, "weight", 2),
    "fixed rank": lambda layer: geotorch.fixed_rank(layer, "weight", 3),
    "invertible": lambda layer: geotorch.invertible(layer, "weight"),
    "sphere": lambda layer: geotorch.sphere(layer, "bias"),
    "skew": lambda layer: geotorch.skew(layer, "weight"),
    "symmetric": lambda layer: geotorch.symmetric(layer, "weight"),
    "positive definite": lambda layer: geotorch.positive_definite(layer, "weight"),
    "almost orthogonal": lambda layer: geotorch.almost_orthogonal(layer, "weight", 0.3),
    "grassmannian": lambda layer: geotorch.grassmannian(layer, "weight"),
}
for name, hold in kinds.items():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6))
    hold(model[0])
    if name == "orthogonal":
        model[0].weight = torch.linalg.qr(torch.randn(6, 6)).Q
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    weight = model[0].weight
    print(name, f"{loss.item():.4f}")
    show(name, torch.linalg.svdvals(weight))
    show(name, [model[0].bias.norm(), (weight + weight.T).norm(), (weight - weight.T).norm()])
