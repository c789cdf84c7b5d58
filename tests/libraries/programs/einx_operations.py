"""einx: rearranged, reduced, indexed and vectorised in its notation, and a network of its layers trained."""

import einx
import torch

torch.manual_seed(0)
x = torch.randn(2, 6, 4)
print("id", tuple(einx.id("b (h p) c -> b h (c p)", x, p=2).shape))
print("sum", einx.sum("b [s] c", x).tolist())
print("mean", einx.mean("b (h [p]) c", x, p=3)[0].tolist())
print("max", einx.max("[b s] c", x).tolist())
print("softmax", einx.softmax("b [s] c", x).sum(1).tolist())
print("dot", einx.dot("b s [c], [c] o -> b s o", x, torch.ones(4, 2))[0, 0].tolist())
print("add", einx.add("b s c, c", x, torch.arange(4.0))[1, 2].tolist())
print("where", einx.where("b s c, b s c, ", x > 0, x, 0.0).sum().item())
print("flip", einx.flip("b [s] c", x)[0, 0].tolist())
print("roll", einx.roll("b [s] c", x, shift=(2,))[0, 0].tolist())
places = torch.tensor([[0, 5, 2], [1, 1, 4]])
print("get_at", einx.get_at("b [s] c, b i -> b i c", x, places)[:, :, 0].tolist())
print("set_at", einx.set_at("b [s] c, b i, b i c", x, places, torch.zeros(2, 3, 4)).sum().item())
print("add_at", einx.add_at("b [s] c, b i, b i c", x, places, torch.ones(2, 3, 4)).sum().item())
first, second = einx.id("b s (u + v) -> b s u, b s v", x, u=1)
print("split", tuple(first.shape), tuple(second.shape))
print("joined", torch.equal(einx.id("b s u, b s v -> b s (u + v)", first, second), x))


class Mixer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = torch.nn.Parameter(torch.randn(6, 6) * 0.3)
        self.channels = torch.nn.Parameter(torch.randn(4, 8) * 0.3)
        self.back = torch.nn.Parameter(torch.randn(8, 3) * 0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + einx.dot("b [s] c, [s] t -> b t c", x, self.tokens).relu()
        x = x - einx.mean("b s ([c])", x)
        x = einx.dot("b s [c], [c] d -> b s d", x, self.channels).relu()
        return einx.dot("b [d], [d] o -> b o", einx.mean("b [s] d", x), self.back)


model = Mixer()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
samples, labels = torch.randn(12, 6, 4), torch.randint(0, 3, (12,))
for step in range(5):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(samples), labels)
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
try:
    einx.sum("b [s] c d", x)
except Exception as error:
    print(type(error).__name__)
