"""vector-quantize-pytorch: codebooks by averages, by gradients, residual, grouped, finite scalar and lookup free."""

import torch
from torch import nn
from vector_quantize_pytorch import (
    FSQ,
    LFQ,
    GroupedResidualVQ,
    LatentQuantize,
    RandomProjectionQuantizer,
    ResidualVQ,
    SimVQ,
    VectorQuantize,
)

torch.manual_seed(0)
x = torch.randn(4, 16, 32)


def show(name, quantized, codes, loss):
    loss = torch.as_tensor(loss).detach()
    print(
        name,
        tuple(quantized.shape),
        tuple(codes.shape),
        codes.dtype,
        f"{quantized.norm().item():.4f}",
        codes.flatten()[:8].tolist(),
        [round(number, 4) for number in loss.flatten().tolist()],
    )


makes = {
    "averages": lambda: VectorQuantize(dim=32, codebook_size=24, decay=0.8, commitment_weight=1.0),
    "k-means": lambda: VectorQuantize(dim=32, codebook_size=12, kmeans_init=True, kmeans_iters=4),
    "cosine": lambda: VectorQuantize(dim=32, codebook_size=24, use_cosine_sim=True, codebook_dim=8),
    "dead codes": lambda: VectorQuantize(dim=32, codebook_size=24, threshold_ema_dead_code=2),
    "heads": lambda: VectorQuantize(dim=32, codebook_dim=8, heads=4, separate_codebook_per_head=True, codebook_size=10),
    "learned": lambda: VectorQuantize(dim=32, codebook_size=24, learnable_codebook=True, ema_update=False),
    "orthogonal": lambda: VectorQuantize(dim=32, codebook_size=24, accept_image_fmap=False, orthogonal_reg_weight=10),
    "rotation": lambda: VectorQuantize(dim=32, codebook_size=24, rotation_trick=True),
    "simvq": lambda: SimVQ(dim=32, codebook_size=24),
}
for name, make in makes.items():
    torch.manual_seed(1)
    quantizer = make()
    for _ in range(2):
        show(name, *quantizer(x))
    quantizer.eval()
    show(f"{name}, at rest", *quantizer(x))

torch.manual_seed(2)
residual = ResidualVQ(dim=32, num_quantizers=3, codebook_size=16)
quantized, codes, loss, every = residual(x, return_all_codes=True)
show("residual", quantized, codes, loss)
print(tuple(every.shape), torch.allclose(residual.get_output_from_indices(codes), quantized, atol=1e-4))
grouped = GroupedResidualVQ(dim=32, num_quantizers=2, groups=2, codebook_size=16)
quantized, codes, loss = grouped(x)
show("grouped", quantized, codes, loss)

finite = FSQ(levels=[8, 5, 5, 5], dim=32)
quantized, codes = finite(x)
show("fsq", quantized, codes, 0.0)
print(torch.allclose(finite.indices_to_codes(codes), quantized, atol=1e-5), finite.codebook_size)
free = LFQ(codebook_size=64, dim=32, entropy_loss_weight=0.1, diversity_gamma=1.0)
show("lfq", *free(x))
latent = LatentQuantize(levels=[5, 5, 8], dim=32, commitment_loss_weight=0.1, quantization_loss_weight=0.1)
show("latent", *latent(x.transpose(1, 2)))
projected = RandomProjectionQuantizer(dim=32, num_codebooks=4, codebook_dim=8, codebook_size=16)
print("projected", tuple(projected(x).shape), projected(x).flatten()[:8].tolist())

torch.manual_seed(3)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1), nn.GELU(), nn.Conv2d(8, 16, 4, 2, 1))
        self.quantize = VectorQuantize(
            dim=16, codebook_size=32, accept_image_fmap=True, kmeans_init=True, kmeans_iters=3
        )
        self.decode = nn.Sequential(nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.GELU(), nn.ConvTranspose2d(8, 1, 4, 2, 1))

    def forward(self, images):
        quantized, codes, commitment = self.quantize(self.encode(images))
        return self.decode(quantized), codes, commitment


model = Autoencoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
images = torch.rand(16, 1, 16, 16)
for step in range(10):
    optimizer.zero_grad()
    out, codes, commitment = model(images)
    loss = nn.functional.l1_loss(out, images) + commitment.sum()
    loss.backward()
    optimizer.step()
    if step % 3 == 0:
        print(f"step {step} loss {loss.item():.4f} active {codes.unique().numel() / 32 * 100:.1f}%", tuple(codes.shape))
