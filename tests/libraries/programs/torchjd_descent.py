"""torchjd: Jacobian descent: several losses of one network aggregated without conflict, and its Gramian by autogram."""

import torch
from torch import nn
from torchjd.aggregation import (
    IMTLG,
    MGDA,
    AlignedMTL,
    ConFIG,
    DualProj,
    GradDrop,
    Krum,
    Mean,
    PCGrad,
    Sum,
    TrimmedMean,
    UPGrad,
    UPGradWeighting,
)  # fmt: skip
from torchjd.autogram import Engine
from torchjd.autojac import backward, jac_to_grad, mtl_backward

torch.manual_seed(0)
jacobian = torch.tensor([[-4.0, 1.0, 1.0], [6.0, 1.0, 1.0], [1.0, -2.0, 0.5]])
for aggregator in (UPGrad(), MGDA(), AlignedMTL(), ConFIG(), DualProj(), IMTLG(), Mean(), Sum(), TrimmedMean(1)):
    print(aggregator, [round(number, 4) for number in aggregator(jacobian).tolist()])
print(Krum(1, 1)(torch.randn(5, 3)), PCGrad()(jacobian), GradDrop()(jacobian))
print(repr(UPGrad()))

x = torch.randn(16, 10)
y = torch.randn(16, 1)
model = nn.Sequential(nn.Linear(10, 5), nn.ReLU(), nn.Linear(5, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    losses = nn.functional.mse_loss(model(x), y, reduction="none").squeeze(1)
    optimizer.zero_grad()
    backward(losses, parallel_chunk_size=None if step % 2 else 4)
    jac_to_grad(model.parameters(), UPGrad())
    optimizer.step()
    print(f"instance wise {step} {losses.mean().item():.5f} {model[0].weight.grad.norm().item():.5f}")

torch.manual_seed(1)
shared = nn.Sequential(nn.Linear(10, 5), nn.Tanh(), nn.Linear(5, 3), nn.Tanh())
heads = nn.ModuleList([nn.Linear(3, 1), nn.Linear(3, 2)])
optimizer = torch.optim.Adam([*shared.parameters(), *heads.parameters()], lr=0.05)
targets = [torch.randn(16, 1), torch.randint(0, 2, (16,))]
for step in range(4):
    features = shared(x)
    losses = [
        nn.functional.mse_loss(heads[0](features), targets[0]),
        nn.functional.cross_entropy(heads[1](features), targets[1]),
    ]
    optimizer.zero_grad()
    mtl_backward(losses, features=features)
    jac_to_grad(shared.parameters(), UPGrad())
    optimizer.step()
    print(f"tasks {step}", [round(loss.item(), 5) for loss in losses])

torch.manual_seed(2)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 16, 3))
images, labels = torch.randn(6, 1, 6, 6), torch.randint(0, 3, (6,))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
engine, weighting = Engine(model, batch_dim=0), UPGradWeighting()
for step in range(3):
    losses = nn.functional.cross_entropy(model(images), labels, reduction="none")
    optimizer.zero_grad()
    gramian = engine.compute_gramian(losses)
    weights = weighting(gramian)
    losses.backward(weights)
    optimizer.step()
    print(f"gramian {step} {losses.mean().item():.5f} {torch.trace(gramian).item():.4f}", tuple(gramian.shape))
