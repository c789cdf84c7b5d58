"""backpack-for-pytorch, curvlinops-for-pytorch, laplace-torch: curvature of networks, and networks made Bayesian."""

import torch
from backpack import backpack, extend
from backpack import extensions as wanted
from curvlinops import EFLinearOperator, GGNLinearOperator, HessianLinearOperator, KFACLinearOperator
from laplace import Laplace
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
images, labels = torch.rand(8, 1, 8, 8), torch.randint(0, 3, (8,))
convolution = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Sigmoid(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(18, 3))
model, criterion = extend(convolution), extend(nn.CrossEntropyLoss())
for name in ("BatchGrad", "Variance", "BatchL2Grad", "DiagGGNExact", "DiagGGNMC", "KFAC", "DiagHessian"):
    extension = getattr(wanted, name)()
    model.zero_grad()
    loss = criterion(model(images), labels)
    with backpack(extension):
        loss.backward()
    for where, parameter in model.named_parameters():
        found = getattr(parameter, extension.savefield)
        for part in found if isinstance(found, list) else [found]:
            print(name, where, tuple(part.shape), f"{part.double().sum().item():.5f}")

x, y = torch.rand(12, 6), torch.randint(0, 3, (12,))
model = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3))
batches, parameters = [(x[:6], y[:6]), (x[6:], y[6:])], list(model.parameters())
for kind in (HessianLinearOperator, GGNLinearOperator, EFLinearOperator, KFACLinearOperator):
    matrix = kind(model, nn.CrossEntropyLoss(), parameters, batches)
    print(kind.__name__, tuple(matrix.shape), (matrix @ (torch.arange(53.0) / 50))[:6])

x = torch.rand(64, 1) * 8
y = torch.sin(x) + torch.randn_like(x) * 0.3
loader = DataLoader(TensorDataset(x, y), batch_size=32)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for _ in range(20):
    for given, target in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(given), target).backward()
        optimizer.step()
for subset in ("all", "last_layer"):
    for structure in ("full", "diag", "kron"):
        bayesian = Laplace(model, "regression", subset_of_weights=subset, hessian_structure=structure)
        bayesian.fit(loader)
        precision, noise = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
        tuner = torch.optim.Adam([precision, noise], lr=0.1)
        for _ in range(10):
            tuner.zero_grad()
            loss = -bayesian.log_marginal_likelihood(precision.exp(), noise.exp())
            loss.backward()
            tuner.step()
        mean, variance = bayesian(torch.linspace(0, 8, 5)[:, None])
        print(subset, structure, f"{loss.item():.4f}", mean.squeeze(), variance.squeeze())
