"""perceiver-pytorch, tab-transformer-pytorch, linformer: attention to latents, to columns of tables, to projections."""

import torch
from linformer import Linformer, LinformerLM
from perceiver_pytorch import Perceiver, PerceiverIO
from tab_transformer_pytorch import FTTransformer, TabTransformer
from torch import nn

torch.manual_seed(0)
table = torch.stack([torch.randint(0, n, (16,)) for n in (5, 3, 4)], dim=1), torch.randn(16, 4)
scale = torch.stack([torch.zeros(4), torch.ones(4)], dim=1)
images = torch.randn(4, 12, 12, 3)
sequence = torch.randn(3, 20, 16)
words = torch.randint(0, 30, (4, 20))

models = {
    "TabTransformer": (
        TabTransformer(
            categories=(5, 3, 4),
            num_continuous=4,
            dim=16,
            dim_out=1,
            depth=2,
            heads=2,
            attn_dropout=0.1,
            ff_dropout=0.1,
            mlp_act=nn.ReLU(),
            continuous_mean_std=scale,
        ),
        table,
    ),
    "FTTransformer": (
        FTTransformer(categories=(5, 3, 4), num_continuous=4, dim=16, dim_out=1, depth=2, heads=2),
        table,
    ),
    "Perceiver": (
        Perceiver(
            input_channels=3,
            input_axis=2,
            num_freq_bands=4,
            max_freq=10.0,
            depth=2,
            num_latents=8,
            latent_dim=16,
            cross_heads=1,
            latent_heads=2,
            cross_dim_head=8,
            latent_dim_head=8,
            num_classes=5,
            weight_tie_layers=True,
            self_per_cross_attn=2,
        ),
        (images,),
    ),
    "Linformer": (Linformer(dim=16, seq_len=20, depth=2, heads=2, k=6, one_kv_head=True, share_kv=True), (sequence,)),
    "LinformerLM, reversible": (
        LinformerLM(num_tokens=30, dim=16, seq_len=20, depth=2, heads=2, k=6, reversible=True),
        (words,),
    ),
}
for name, (model, inputs) in models.items():
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        out = model(*inputs)
        loss = (out - 0.5).square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(f"{loss.item():.5f}")
    count = sum(parameter.numel() for parameter in model.parameters())
    model.eval()
    with torch.no_grad():
        print(name, *losses, tuple(out.shape), count, f"at rest {model(*inputs).mean().item():.5f}")

outputs, maps = models["FTTransformer"][0](*table, return_attn=True)
print(tuple(outputs.shape), tuple(maps.shape), f"{maps.sum().item():.3f}")
model = PerceiverIO(
    dim=16,
    queries_dim=8,
    logits_dim=10,
    depth=2,
    num_latents=6,
    latent_dim=12,
    cross_heads=1,
    latent_heads=2,
    cross_dim_head=8,
    latent_dim_head=8,
)
mask = torch.arange(20) < torch.tensor([20, 11, 7])[:, None]
logits = model(sequence, mask=mask, queries=torch.randn(9, 8))
logits.logsumexp(-1).mean().backward()
print(tuple(logits.shape), f"{logits.std().item():.5f} {model.latents.grad.norm().item():.5f}")
print(models["Linformer"][0])
