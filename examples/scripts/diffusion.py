"""A denoising diffusion model of a spiral: sinusoidal time embedding, EMA of the weights, ancestral sampling."""

import argparse
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class EMA:
    """A shadow of the model whose weights follow slowly."""

    def __init__(self, model, beta):
        self.beta = beta
        self.model = copy.deepcopy(model).eval().requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for shadow, current in zip(self.model.parameters(), model.parameters(), strict=True):
            shadow.data = shadow.data * self.beta + (1 - self.beta) * current.data


class SinusoidalPosEmb(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        half_dim = self.dim // 2
        emb = math.log(10000) / (half_dim - 1)
        emb = torch.exp(torch.arange(half_dim, device=x.device) * -emb)
        emb = x[:, None] * emb[None, :]
        return torch.cat((emb.sin(), emb.cos()), dim=-1)


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x, *args, **kwargs):
        return self.fn(x, *args, **kwargs) + x


class Denoiser(nn.Module):
    def __init__(self, hidden=64, time_dim=32):
        super().__init__()
        self.time_mlp = nn.Sequential(
            SinusoidalPosEmb(time_dim), nn.Linear(time_dim, hidden), nn.SiLU(), nn.Linear(hidden, hidden)
        )
        self.inp = nn.Linear(2, hidden)
        self.blocks = nn.ModuleList(
            [Residual(nn.Sequential(nn.LayerNorm(hidden), nn.Linear(hidden, hidden), nn.SiLU())) for _ in range(3)]
        )
        self.out = nn.Linear(hidden, 2)

    def forward(self, x, t):
        h = self.inp(x) + self.time_mlp(t)
        for block in self.blocks:
            h = block(h)
        return self.out(h)


def cosine_beta_schedule(timesteps, s=0.008):
    x = torch.linspace(0, timesteps, timesteps + 1)
    alphas_cumprod = torch.cos(((x / timesteps) + s) / (1 + s) * torch.pi * 0.5) ** 2
    alphas_cumprod = alphas_cumprod / alphas_cumprod[0]
    betas = 1 - (alphas_cumprod[1:] / alphas_cumprod[:-1])
    return torch.clip(betas, 0.0001, 0.9999)


def extract(a, t, x_shape):
    return a.gather(-1, t).reshape(t.shape[0], *((1,) * (len(x_shape) - 1)))


class Diffusion(nn.Module):
    def __init__(self, timesteps):
        super().__init__()
        self.timesteps = timesteps
        betas = cosine_beta_schedule(timesteps)
        alphas = 1.0 - betas
        alphas_cumprod = torch.cumprod(alphas, dim=0)
        alphas_cumprod_prev = F.pad(alphas_cumprod[:-1], (1, 0), value=1.0)
        self.register_buffer("betas", betas)
        self.register_buffer("sqrt_recip_alphas", torch.sqrt(1.0 / alphas))
        self.register_buffer("sqrt_alphas_cumprod", torch.sqrt(alphas_cumprod))
        self.register_buffer("sqrt_one_minus_alphas_cumprod", torch.sqrt(1.0 - alphas_cumprod))
        self.register_buffer("posterior_variance", betas * (1.0 - alphas_cumprod_prev) / (1.0 - alphas_cumprod))

    def q_sample(self, x_start, t, noise):
        return (
            extract(self.sqrt_alphas_cumprod, t, x_start.shape) * x_start
            + extract(self.sqrt_one_minus_alphas_cumprod, t, x_start.shape) * noise
        )

    def loss(self, model, x_start):
        t = torch.randint(0, self.timesteps, (x_start.shape[0],), device=x_start.device).long()
        noise = torch.randn_like(x_start)
        return F.mse_loss(model(self.q_sample(x_start, t, noise), t), noise)

    @torch.no_grad()
    def p_sample(self, model, x, t, t_index):
        predicted = extract(self.betas, t, x.shape) * model(x, t)
        mean = extract(self.sqrt_recip_alphas, t, x.shape) * (
            x - predicted / extract(self.sqrt_one_minus_alphas_cumprod, t, x.shape)
        )
        if t_index == 0:
            return mean
        return mean + torch.sqrt(extract(self.posterior_variance, t, x.shape)) * torch.randn_like(x)

    @torch.no_grad()
    def sample(self, model, shape):
        img = torch.randn(shape, device=self.betas.device)
        for i in reversed(range(0, self.timesteps)):
            img = self.p_sample(model, img, torch.full((shape[0],), i, dtype=torch.long), i)
        return img


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--timesteps", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=30)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    angle = 3 * math.pi * torch.sqrt(torch.rand(1024))
    spiral = torch.stack([angle * torch.cos(angle), angle * torch.sin(angle)], dim=1) / 6
    spiral += 0.05 * torch.randn_like(spiral)
    loader = DataLoader(TensorDataset(spiral), batch_size=128, shuffle=True, drop_last=True)

    diffusion = Diffusion(args.timesteps).to(device)
    model = Denoiser().to(device)
    ema = EMA(model, beta=0.98)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        total = 0.0
        for (batch,) in loader:
            loss = diffusion.loss(model, batch.to(device))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            ema.update(model)
            total += loss.item()
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1}: loss {total / len(loader):.6f}")

    samples = diffusion.sample(ema.model, (256, 2))
    nearest = torch.cdist(samples, spiral).min(dim=1).values
    print(f"samples: mean distance to the spiral {nearest.mean():.4f}, spread {samples.std(dim=0).tolist()}")


if __name__ == "__main__":
    main()
