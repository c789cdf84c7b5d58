"""foolbox, eagerpy: attacks by gradients, by decisions and by noise on a small network, and what is robust to them."""

import eagerpy as ep
import foolbox
import torch
from foolbox import accuracy, attacks
from torch import nn

torch.manual_seed(0)
x = torch.rand(32, 1, 8, 8)
labels = (x[:, 0, :4].mean((1, 2)) > x[:, 0, 4:].mean((1, 2))).long()
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(30):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), labels)
    loss.backward()
    optimizer.step()
print(f"trained to {loss.item():.4f}")

victim = foolbox.PyTorchModel(model.eval(), bounds=(0, 1))
images, targets = ep.astensors(x, labels)
print("accuracy", accuracy(victim, images, targets))
for attack in (
    attacks.FGSM(), attacks.LinfPGD(steps=5), attacks.L2PGD(steps=5), attacks.L2DeepFoolAttack(steps=5),
    attacks.LinfBasicIterativeAttack(steps=5), attacks.L2CarliniWagnerAttack(steps=8, binary_search_steps=2),
    attacks.DDNAttack(steps=8), attacks.SaltAndPepperNoiseAttack(steps=5), attacks.L2AdditiveGaussianNoiseAttack(),
):  # fmt: skip
    torch.manual_seed(1)
    raw, clipped, success = attack(victim, images, targets, epsilons=[0.02, 0.3])
    robust = 1 - success.float32().mean(axis=-1)
    change = (clipped[1] - images).flatten(1).norms.l2(axis=-1).mean()
    print(type(attack).__name__, [round(value, 4) for value in robust.numpy().tolist()], f"{change.item():.4f}")
