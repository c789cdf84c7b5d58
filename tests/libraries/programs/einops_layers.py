"""einops: patches of an image through Rearrange, attention with rearrange, repeat and reduce, trained."""

import torch
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(width, 3 * width, bias=False)
        self.mix = EinMix("b n (h d) -> b n out", weight_shape="h d out", bias_shape="out", h=heads, d=8, out=width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = rearrange(self.to_qkv(x), "b n (three h d) -> three b h n d", three=3, h=self.heads)
        shares = einsum(q, k, "b h i d, b h j d -> b h i j").mul(8**-0.5).softmax(-1)
        return self.mix(rearrange(einsum(shares, v, "b h i j, b h j d -> b h i d"), "b h n d -> b n (h d)"))


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Sequential(
            Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4), nn.Linear(16 * 3, 32), nn.LayerNorm(32)
        )
        self.token = nn.Parameter(torch.randn(1, 32))
        self.attention = Attention(32, 4)
        self.pool = Reduce("b n d -> b d", "mean")
        self.head = nn.Linear(64, 5)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.patches(images)
        x, sizes = pack([repeat(self.token, "n d -> b n d", b=len(images)), x], "b * d")
        x = x + self.attention(x)
        token, rest = unpack(x, sizes, "b * d")
        return self.head(torch.cat([rearrange(token, "b 1 d -> b d"), self.pool(rest)], -1))


model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
images, labels = torch.randn(24, 3, 16, 16), torch.randint(0, 5, (24,))
for step in range(6):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
print(model.patches[0], model.pool)
print(reduce(images, "b c h w -> c", "max"))
try:
    rearrange(images, "b c (h p) w -> b h p w c", p=5)
except Exception as error:
    print(type(error).__name__, str(error).splitlines()[0])
