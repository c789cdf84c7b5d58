"""lightly: SimCLR, BYOL with its momentum, and VICReg, Barlow Twins and DINO losses on a small network."""

import copy

import torch
from lightly.loss import BarlowTwinsLoss, DINOLoss, NegativeCosineSimilarity, NTXentLoss, SwaVLoss, VICRegLoss
from lightly.models.modules import BYOLPredictionHead, BYOLProjectionHead, SimCLRProjectionHead, SwaVPrototypes
from lightly.models.utils import deactivate_requires_grad, update_momentum
from lightly.utils.scheduler import CosineWarmupScheduler, cosine_schedule
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(
    nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(),
)  # fmt: skip
images = torch.rand(8, 3, 24, 24)


def views() -> tuple[torch.Tensor, torch.Tensor]:
    return images + 0.1 * torch.randn_like(images), images.flip(-1) * (0.8 + 0.4 * torch.rand(8, 1, 1, 1))


head = SimCLRProjectionHead(32, 32, 16)
criterion = NTXentLoss(temperature=0.2, memory_bank_size=(16, 16))
optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.05, momentum=0.9)
scheduler = CosineWarmupScheduler(optimizer, warmup_epochs=1, max_epochs=4)
for step in range(4):
    first, second = views()
    loss = criterion(head(backbone(first)), head(backbone(second)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(f"SimCLR step {step} loss {loss.item():.4f} lr {scheduler.get_last_lr()[0]:.4f}")

online, predict = nn.Sequential(backbone, BYOLProjectionHead(32, 32, 16)), BYOLPredictionHead(16, 32, 16)
target = copy.deepcopy(online)
deactivate_requires_grad(target)
optimizer = torch.optim.Adam([*online.parameters(), *predict.parameters()], lr=1e-3)
cosine = NegativeCosineSimilarity()
for step in range(4):
    update_momentum(online, target, m=cosine_schedule(step, 4, 0.9, 1.0))
    first, second = views()
    loss = 0.5 * (cosine(predict(online(first)), target(second).detach())
                  + cosine(predict(online(second)), target(first).detach()))  # fmt: skip
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"BYOL step {step} loss {loss.item():.4f}")

first, second = (head(backbone(view)) for view in views())
print("Barlow", f"{BarlowTwinsLoss()(first, second).item():.4f}", f"VICReg {VICRegLoss()(first, second).item():.4f}")
prototypes = SwaVPrototypes(16, 6)
swav = SwaVLoss()([prototypes(nn.functional.normalize(first)), prototypes(nn.functional.normalize(second))], [])
print("SwaV", f"{swav.item():.4f}")
dino = DINOLoss(output_dim=16, warmup_teacher_temp_epochs=2)
for epoch in range(2):
    print("DINO", f"{dino([first.detach(), second.detach()], [first, second], epoch=epoch).item():.4f}")
