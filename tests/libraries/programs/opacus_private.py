"""opacus: a network trained with differential privacy: gradients of each sample, noise, budgets, Poisson batches."""

import warnings

import torch
from opacus import GradSampleModule, PrivacyEngine
from opacus.accountants import RDPAccountant
from opacus.accountants.utils import get_noise_multiplier
from opacus.utils.batch_memory_manager import BatchMemoryManager
from opacus.validators import ModuleValidator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.GroupNorm(2, 6), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(6 * 4 * 4, 4)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


x = torch.randn(64, 1, 8, 8)
y = (x.mean((1, 2, 3)) * 20).long().clamp(-2, 1) + 2
data = TensorDataset(x, y)

bad = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
print([type(error).__name__ for error in ModuleValidator.validate(bad, strict=False)])
print(ModuleValidator.fix(bad))

print("samples' gradients are the gradients of samples")
model = GradSampleModule(Net())
nn.functional.cross_entropy(model(x[:5]), y[:5], reduction="sum").backward()
for name, parameter in model.named_parameters():
    print(name, tuple(parameter.grad_sample.shape), f"{parameter.grad_sample.norm().item():.5f}",
          torch.allclose(parameter.grad_sample.sum(0), parameter.grad, atol=1e-5))  # fmt: skip

print("trained")
torch.manual_seed(1)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
engine = PrivacyEngine(accountant="rdp")
model, optimizer, loader = engine.make_private(
    module=model, optimizer=optimizer, data_loader=DataLoader(data, batch_size=16),
    noise_multiplier=0.8, max_grad_norm=1.0, poisson_sampling=False,
)  # fmt: skip
print(type(model).__name__, type(optimizer).__name__, type(loader).__name__)
criterion = nn.CrossEntropyLoss()
for epoch in range(3):
    losses = []
    for images, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} epsilon {engine.get_epsilon(delta=1e-3):.4f}")

print("Poisson batches, clipped layer by layer, for a target")
torch.manual_seed(2)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
engine = PrivacyEngine()
model, optimizer, loader = engine.make_private_with_epsilon(
    module=model, optimizer=optimizer, data_loader=DataLoader(data, batch_size=16), epochs=2,
    target_epsilon=8.0, target_delta=1e-3, max_grad_norm=[1.0] * 6, clipping="per_layer",
)  # fmt: skip
print(f"noise {optimizer.noise_multiplier:.4f}", type(optimizer).__name__, type(loader).__name__)
with BatchMemoryManager(data_loader=loader, max_physical_batch_size=8, optimizer=optimizer) as small:
    for images, labels in small:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        print(f"batch of {len(images)} loss {loss.item():.4f}")
print(f"epsilon {engine.get_epsilon(1e-3):.4f}", len(engine.accountant))

accountant = RDPAccountant()
for _ in range(10):
    accountant.step(noise_multiplier=1.1, sample_rate=0.02)
print(f"{accountant.get_epsilon(delta=1e-5):.5f}")
print(f"{get_noise_multiplier(target_epsilon=3.0, target_delta=1e-5, sample_rate=0.02, epochs=2):.3f}")

print("other layers")
text = GradSampleModule(nn.Sequential(nn.Embedding(11, 6), nn.LayerNorm(6), nn.Linear(6, 3)))
text(torch.randint(0, 11, (4, 5))).square().mean(1).sum().backward()
for name, parameter in text.named_parameters():
    print(name, tuple(parameter.grad_sample.shape), f"{parameter.grad_sample.norm().item():.5f}")
