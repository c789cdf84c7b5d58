"""A Wasserstein GAN with gradient penalty on eight Gaussians: the penalty needs second derivatives."""

import argparse
import math

import numpy as np
import torch
import torch.autograd as autograd
import torch.nn as nn
from torch.autograd import Variable

parser = argparse.ArgumentParser()
parser.add_argument("--iterations", type=int, default=60)
parser.add_argument("--batch_size", type=int, default=128)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--b1", type=float, default=0.5)
parser.add_argument("--b2", type=float, default=0.9)
parser.add_argument("--latent_dim", type=int, default=2)
parser.add_argument("--n_critic", type=int, default=5)
opt = parser.parse_args()

cuda = torch.cuda.is_available()
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
torch.manual_seed(0)
np.random.seed(0)


def sample_real(count):
    angles = np.random.randint(0, 8, count) * (2 * math.pi / 8)
    centres = 2 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return centres + 0.1 * np.random.randn(count, 2)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()

        def block(n_in, n_out):
            return [nn.Linear(n_in, n_out), nn.LeakyReLU(0.2, inplace=True)]

        self.model = nn.Sequential(*block(opt.latent_dim, 64), *block(64, 64), nn.Linear(64, 2))

    def forward(self, z):
        return self.model(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(
            nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1)
        )

    def forward(self, points):
        return self.model(points)


def compute_gradient_penalty(D, real_samples, fake_samples):
    """How far the critic's slope is from 1 on the lines between real and drawn samples."""
    alpha = Tensor(np.random.random((real_samples.size(0), 1)))
    interpolates = (alpha * real_samples + ((1 - alpha) * fake_samples)).requires_grad_(True)
    d_interpolates = D(interpolates)
    fake = Variable(Tensor(real_samples.shape[0], 1).fill_(1.0), requires_grad=False)
    gradients = autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=fake,
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


generator = Generator()
discriminator = Discriminator()
if cuda:
    generator.cuda()
    discriminator.cuda()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=opt.lr, betas=(opt.b1, opt.b2))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=opt.lr, betas=(opt.b1, opt.b2))
lambda_gp = 10

for iteration in range(opt.iterations):
    for _ in range(opt.n_critic):
        real = Variable(Tensor(sample_real(opt.batch_size)))
        z = Variable(Tensor(np.random.normal(0, 1, (opt.batch_size, opt.latent_dim))))
        fake = generator(z)
        optimizer_D.zero_grad()
        real_validity = discriminator(real)
        fake_validity = discriminator(fake)
        gradient_penalty = compute_gradient_penalty(discriminator, real.data, fake.data)
        d_loss = -torch.mean(real_validity) + torch.mean(fake_validity) + lambda_gp * gradient_penalty
        d_loss.backward()
        optimizer_D.step()

    optimizer_G.zero_grad()
    z = Variable(Tensor(np.random.normal(0, 1, (opt.batch_size, opt.latent_dim))))
    g_loss = -torch.mean(discriminator(generator(z)))
    g_loss.backward()
    optimizer_G.step()
    if iteration % 5 == 0:
        print(
            f"[{iteration}/{opt.iterations}] [D loss: {d_loss.item():.6f}] [G loss: {g_loss.item():.6f}] "
            f"[GP: {gradient_penalty.item():.6f}]"
        )

points = generator(Tensor(np.random.normal(0, 1, (1000, opt.latent_dim)))).detach().cpu().numpy()
print(f"mean radius {np.hypot(*points.T).mean():.4f}, centre {points.mean(0).round(3)}")
