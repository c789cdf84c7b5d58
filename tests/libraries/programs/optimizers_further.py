"""madgrad, adabelief-pytorch, adamp, ranger21, heavyball: further optimizers on one small net; their states by name."""

import functools

import heavyball
import torch
from adabelief_pytorch import AdaBelief
from adamp import SGDP, AdamP
from madgrad import MADGRAD, MirrorMADGRAD
from ranger21 import Ranger21
from torch import nn

heavyball.utils.compile_mode = None
heavyball.utils.set_torch = lambda *_, **__: None  # it sets switches of matrix products

makers = {
    "MADGRAD": lambda weights: MADGRAD(weights, lr=1e-2),
    "MirrorMADGRAD": lambda weights: MirrorMADGRAD(weights, lr=1e-2),
    "AdaBelief": lambda weights: AdaBelief(weights, lr=1e-2, eps=1e-12, rectify=True, print_change_log=False),
    "AdamP": lambda weights: AdamP(weights, lr=1e-2, weight_decay=1e-2),
    "SGDP": lambda weights: SGDP(weights, lr=1e-2, momentum=0.9, nesterov=True),
    "Ranger21": lambda weights: Ranger21(weights, lr=1e-2, num_epochs=3, num_batches_per_epoch=3),
}
for kind in (heavyball.AdamW, heavyball.SOAP, heavyball.Muon, heavyball.ADOPT, heavyball.LaProp):
    makers[kind.__name__] = functools.partial(kind, lr=1e-3)

for name, make in makers.items():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    x = torch.randn(16, 6)
    y = x.sum(1, keepdim=True).sin()
    optimizer = make(net.parameters())
    for _ in range(6):
        optimizer.zero_grad()
        loss = (net(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
    state = optimizer.state_dict()
    kept = sorted({str(key) for entry in state["state"].values() if isinstance(entry, dict) for key in entry})
    make(net.parameters()).load_state_dict(state)
    print(name, f"{loss.item():.5f}", *kept)
