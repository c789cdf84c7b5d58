"""A normalising flow (RealNVP) fitted to two moons: affine coupling layers and the change of variables."""

import math

import numpy as np
import torch
from sklearn import datasets
from torch import distributions, nn


class RealNVP(nn.Module):
    def __init__(self, nets, nett, mask, prior):
        super().__init__()
        self.prior = prior
        self.mask = nn.Parameter(mask, requires_grad=False)
        self.t = torch.nn.ModuleList([nett() for _ in range(len(mask))])
        self.s = torch.nn.ModuleList([nets() for _ in range(len(mask))])

    def g(self, z):
        """From the prior's space to the data's."""
        x = z
        for i in range(len(self.t)):
            x_ = x * self.mask[i]
            s = self.s[i](x_) * (1 - self.mask[i])
            t = self.t[i](x_) * (1 - self.mask[i])
            x = x_ + (1 - self.mask[i]) * (x * torch.exp(s) + t)
        return x

    def f(self, x):
        """From the data's space to the prior's, with the logarithm of the Jacobian's determinant."""
        log_det_J, z = x.new_zeros(x.shape[0]), x
        for i in reversed(range(len(self.t))):
            z_ = self.mask[i] * z
            s = self.s[i](z_) * (1 - self.mask[i])
            t = self.t[i](z_) * (1 - self.mask[i])
            z = (1 - self.mask[i]) * (z - t) * torch.exp(-s) + z_
            log_det_J -= s.sum(dim=1)
        return z, log_det_J

    def log_prob(self, x):
        z, logp = self.f(x)
        return self.prior.log_prob(z) + logp

    def sample(self, batch_size):
        z = self.prior.sample((batch_size,))
        return self.g(z)


torch.manual_seed(0)
np.random.seed(0)


def nets():
    return nn.Sequential(
        nn.Linear(2, 64), nn.LeakyReLU(), nn.Linear(64, 64), nn.LeakyReLU(), nn.Linear(64, 2), nn.Tanh()
    )


def nett():
    return nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(), nn.Linear(64, 64), nn.LeakyReLU(), nn.Linear(64, 2))


masks = torch.from_numpy(np.array([[0, 1], [1, 0]] * 3).astype(np.float32))
prior = distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
flow = RealNVP(nets, nett, masks, prior)
optimizer = torch.optim.Adam([p for p in flow.parameters() if p.requires_grad], lr=1e-4)

for t in range(301):
    noisy_moons = datasets.make_moons(n_samples=100, noise=0.05)[0].astype(np.float32)
    loss = -flow.log_prob(torch.from_numpy(noisy_moons)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if t % 30 == 0:
        print(f"iter {t}: loss = {loss:.5f}")

with torch.no_grad():
    x = flow.sample(500)
    z, log_det = flow.f(x)
    print(f"sample mean {x.mean(0).numpy().round(3)}, std {x.std(0).numpy().round(3)}")
    print(f"there and back again: {(flow.g(z) - x).abs().max() < 1e-4}")

# the same family of maps from ready-made transforms
base = distributions.Independent(distributions.Normal(torch.zeros(2), torch.ones(2)), 1)
scale = torch.tensor([0.5, 2.0], requires_grad=True)
warp = [
    distributions.transforms.AffineTransform(torch.tensor([1.0, -1.0]), scale),
    distributions.transforms.TanhTransform(),
]
squashed = distributions.TransformedDistribution(base, warp)
points = squashed.rsample((256,)).clamp(-0.999, 0.999)
entropy = -squashed.log_prob(points.detach()).mean()
entropy.backward()
print(f"entropy of the squashed normal {entropy.item() - math.log(2):.4f}, gradient {scale.grad.numpy().round(4)}")
