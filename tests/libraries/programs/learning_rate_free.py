"""schedulefree, prodigyopt, dadaptation, came-pytorch, torch-ema: optimizers that find their own rates; averages."""

import io

import dadaptation
import prodigyopt
import schedulefree
import torch
from came_pytorch import CAME
from torch import nn
from torch_ema import ExponentialMovingAverage

torch.manual_seed(0)
x = torch.randn(64, 8)
y = torch.sin(x @ torch.randn(8, 3))


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(8, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 3))


makes = {
    "AdamWScheduleFree": lambda p: schedulefree.AdamWScheduleFree(p, lr=1e-2, warmup_steps=3, weight_decay=1e-2),
    "SGDScheduleFree": lambda p: schedulefree.SGDScheduleFree(p, lr=0.1, warmup_steps=2),
    "RAdamScheduleFree": lambda p: schedulefree.RAdamScheduleFree(p, lr=1e-2),
    "Prodigy": lambda p: prodigyopt.Prodigy(p, lr=1.0, weight_decay=0.01, safeguard_warmup=True),
    "Prodigy, thin": lambda p: prodigyopt.Prodigy(p, slice_p=4, d_coef=2.0, use_bias_correction=True),
    "DAdaptAdam": lambda p: dadaptation.DAdaptAdam(p, lr=1.0, decouple=True, weight_decay=1e-2),
    "DAdaptSGD": lambda p: dadaptation.DAdaptSGD(p, lr=1.0, momentum=0.9),
    "DAdaptAdaGrad": lambda p: dadaptation.DAdaptAdaGrad(p, lr=1.0),
    "DAdaptLion": lambda p: dadaptation.DAdaptLion(p, lr=1.0),
    "CAME": lambda p: CAME(p, lr=2e-2, weight_decay=1e-2, betas=(0.9, 0.999, 0.9999), eps=(1e-30, 1e-16)),
}
for name, make in makes.items():
    model = network()
    optimizer = make(model.parameters())
    average = ExponentialMovingAverage(model.parameters(), decay=0.9)
    losses = []
    for _ in range(12):
        model.train()
        if hasattr(optimizer, "train"):
            optimizer.train()
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        average.update()
        losses.append(loss.item())
    if hasattr(optimizer, "eval"):
        optimizer.eval()
    model.eval()
    with torch.no_grad():
        now = nn.functional.mse_loss(model(x), y).item()
        with average.average_parameters():
            smooth = nn.functional.mse_loss(model(x), y).item()
    print(f"{name}: {losses[0]:.4f} {losses[5]:.4f} {losses[-1]:.4f}, evaluated {now:.4f}, averaged {smooth:.4f}")
    group = optimizer.param_groups[0]
    print("  groups", {key: round(float(group[key]), 5) for key in ("lr", "d", "k", "weight_sum") if key in group})
    print("  state", sorted(optimizer.state[next(model.parameters())]))

file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "average": average.state_dict()}, file)
file.seek(0)
saved = torch.load(file, weights_only=False)
again = network()
again.load_state_dict(saved["model"])
second = makes["CAME"](again.parameters())
second.load_state_dict(saved["optimizer"])
average = ExponentialMovingAverage(again.parameters(), decay=0.5)
average.load_state_dict(saved["average"])
for both in ((model, optimizer), (again, second)):
    both[1].zero_grad()
    loss = nn.functional.mse_loss(both[0](x), y)
    loss.backward()
    both[1].step()
    print(f"resumed {loss.item():.5f} {both[0][0].weight.norm().item():.5f}")
average.copy_to()
print(f"copied {again[0].weight.norm().item():.5f}, decay {average.decay}, updates {average.num_updates}")
