"""ncps, pytorch-tcn, soft-moe-pytorch, nystrom-attention, siren-pytorch, g-mlp-pytorch: cells and blocks, trained."""

import torch
from g_mlp_pytorch import gMLP
from ncps.torch import LTC, CfC
from ncps.wirings import AutoNCP
from nystrom_attention import Nystromformer
from pytorch_tcn import TCN
from siren_pytorch import SirenNet
from soft_moe_pytorch import SoftMoE
from torch import nn

torch.manual_seed(0)
series = torch.randn(4, 12, 2)
target = torch.sin(series.sum(-1, keepdim=True))
cells = {
    "LTC": LTC(2, AutoNCP(12, 1, seed=1)),
    "CfC, wired": CfC(2, AutoNCP(12, 1, seed=1)),
    "CfC": CfC(2, 16, proj_size=1),
    "CfC, mixed": CfC(2, 8, mode="no_gate", mixed_memory=True, proj_size=1),
}
for name, cell in cells.items():
    optimizer = torch.optim.Adam(cell.parameters(), 1e-2)
    for _ in range(4):
        optimizer.zero_grad()
        loss = (cell(series)[0] - target).square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(cell.parameters(), 1.0)
        optimizer.step()
    print(name, f"{loss.item():.5f}")

sequence, words = torch.randn(2, 32, 16), torch.randint(0, 50, (2, 64))
models = {
    "TCN": (TCN(8, [8, 16], kernel_size=3, causal=True, use_skip_connections=True), torch.randn(2, 8, 20)),
    "TCN, not causal": (TCN(8, [8], kernel_size=3, causal=False, use_norm="layer_norm"), torch.randn(2, 8, 20)),
    "Nystromformer": (Nystromformer(dim=16, dim_head=8, heads=2, depth=2, num_landmarks=8), sequence),
    "SoftMoE": (SoftMoE(dim=16, seq_len=32, num_experts=4), sequence),
    "Siren": (SirenNet(dim_in=2, dim_hidden=16, dim_out=3, num_layers=3, w0_initial=30.0), torch.rand(20, 2)),
    "gMLP": (gMLP(num_tokens=50, dim=16, depth=2, seq_len=64), words),
}
for name, (model, given) in models.items():
    optimizer, losses = torch.optim.Adam(model.parameters(), 1e-3), []
    for _ in range(3):
        optimizer.zero_grad()
        result = model(given)
        loss = result.square().mean()
        loss.backward()
        optimizer.step()
        losses.append(f"{loss.item():.5f}")
    print(name, *losses, tuple(result.shape))
