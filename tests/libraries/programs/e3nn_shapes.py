"""e3nn: spherical harmonics, tensor products, gates and a network trained on shapes that are turned."""

import torch
from e3nn import o3
from e3nn.math import soft_one_hot_linspace
from e3nn.nn import BatchNorm, FullyConnectedNet, Gate
from torch import nn

torch.manual_seed(0)


def show(name, numbers):
    print(name, *(f"{number:.4f}" for number in torch.as_tensor(numbers).detach().flatten().tolist()))


vectors = torch.randn(5, 3)
turn = o3.rand_matrix()
harmonics = o3.spherical_harmonics([0, 1, 2], vectors, normalize=True, normalization="component")
show("harmonics", harmonics[0])
irreps = o3.Irreps("0e + 1o + 2e")
print(irreps.dim, irreps.lmax, o3.Irreps("2x1o") + o3.Irreps("0e"), irreps.simplify(), irreps.sort().irreps)
turned = o3.spherical_harmonics([0, 1, 2], vectors @ turn.T, normalize=True, normalization="component")
spread = o3.Irreps.spherical_harmonics(2).D_from_matrix(turn)
print("turns", torch.allclose(turned, harmonics @ spread.T, atol=1e-4))
show("wigner", o3.wigner_3j(1, 1, 2).flatten()[:12])
full = o3.FullyConnectedTensorProduct("4x0e + 2x1o", "0e + 1o", "3x0e + 2x1o + 1x2e")
print(full, full.weight_numel)
show("product", full(torch.randn(2, 10), torch.randn(2, 4)))
linear = o3.Linear("4x0e + 2x1o", "2x0e + 1x1o")
show("linear", linear(torch.randn(2, 10)))
norm = BatchNorm("4x0e + 2x1o")
show("norm", norm(torch.randn(6, 10))[0])
show("norms", o3.Norm("4x0e + 2x1o")(torch.randn(1, 10)))
show("angles", torch.stack(o3.matrix_to_angles(turn)))


class Convolution(nn.Module):
    def __init__(self, inputs, harmonics, outputs):
        super().__init__()
        self.product = o3.FullyConnectedTensorProduct(inputs, harmonics, outputs, shared_weights=False)
        self.net = FullyConnectedNet([6, 8, self.product.weight_numel], torch.nn.functional.silu)

    def forward(self, x, source, target, harmonics, lengths):
        messages = self.product(x[source], harmonics, self.net(lengths))
        return x.new_zeros(len(x), messages.shape[1]).index_add(0, target, messages) / 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.harmonics = o3.Irreps.spherical_harmonics(2)
        self.gate = Gate("4x0e", [torch.relu], "2x0e", [torch.sigmoid], "2x1o")
        self.first = Convolution(self.harmonics, self.harmonics, self.gate.irreps_in)
        self.last = Convolution(self.gate.irreps_out, self.harmonics, "2x0e")

    def forward(self, places):
        source, target = (torch.cdist(places, places) < 1.5).fill_diagonal_(False).nonzero().T
        edges = places[source] - places[target]
        harmonics = o3.spherical_harmonics(self.harmonics, edges, True, normalization="component")
        lengths = soft_one_hot_linspace(edges.norm(dim=1), 0.0, 1.5, 6, basis="smooth_finite", cutoff=True) * 6**0.5
        x = torch.zeros(len(places), self.harmonics.dim)
        x = x.index_add(0, target, harmonics) / 2
        x = self.gate(self.first(x, source, target, harmonics, lengths))
        return self.last(x, source, target, harmonics, lengths).mean(0)


shapes = [
    torch.tensor([[0.0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 1, 0]]),
    torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]),
]
model = Net()
print(sum(p.numel() for p in model.parameters()), model.gate)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(3):
    scores = torch.stack([model(shape) for shape in shapes])
    loss = nn.functional.cross_entropy(scores, torch.tensor([0, 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.4f}")
print("invariant", torch.allclose(model(shapes[0]), model(shapes[0] @ turn.T), atol=1e-3))
