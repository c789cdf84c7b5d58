"""torchattacks, zennit: pictures changed so that a network errs, and what in a picture made it answer as it did."""

import torch
import torchattacks
from torch import nn
from zennit.attribution import Gradient, IntegratedGradients, SmoothGrad
from zennit.composites import EpsilonAlpha2Beta1, EpsilonGammaBox, EpsilonPlusFlat, GuidedBackprop

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(96, 10)).eval()
images, labels = torch.rand(4, 3, 32, 32), torch.randint(0, 10, (4,))
attacks = [torchattacks.FGSM(model), torchattacks.CW(model, steps=5), torchattacks.DeepFool(model, steps=3)]
for name in ("BIM", "PGD", "MIFGSM", "TIFGSM", "DIFGSM", "PGDL2", "NIFGSM"):
    attacks.append(getattr(torchattacks, name)(model, steps=3))
for attack in attacks:
    torch.manual_seed(1)
    changed = attack(images, labels)
    print(type(attack).__name__, f"{(changed - images).abs().sum().item():.3f}", model(changed).argmax(1).tolist())
print(attacks[-1])

layers = [nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(64, 5)]
model, x, wanted = nn.Sequential(*layers).eval(), torch.randn(2, 3, 8, 8), torch.eye(5)[[0, 3]]
rules = [EpsilonPlusFlat(), EpsilonGammaBox(low=-3.0, high=3.0), GuidedBackprop(), EpsilonAlpha2Beta1()]
for rule in (None, *rules):
    with Gradient(model=model, composite=rule) as attribution:
        answer, relevance = attribution(x, wanted)
    print(
        type(rule).__name__,
        f"{answer.sum().item():.5f} {relevance.sum().item():.5f} {relevance.abs().sum().item():.5f}",
    )
for attribution in (IntegratedGradients(model, n_iter=5), SmoothGrad(model, noise_level=0.1, n_iter=4)):
    with attribution:
        print(type(attribution).__name__, f"{attribution(x, wanted)[1].abs().sum().item():.5f}")
