"""diffusers: a small AutoencoderKL trained on pictures, saved, loaded; schedulers of several kinds step by step."""

import tempfile

import torch
import torch.nn.functional as F
from diffusers import (
    AutoencoderKL,
    DPMSolverMultistepScheduler,
    EulerDiscreteScheduler,
    FlowMatchEulerDiscreteScheduler,
)

torch.manual_seed(0)
images = torch.rand(8, 1, 16, 16) * 2 - 1
vae = AutoencoderKL(
    in_channels=1, out_channels=1, block_out_channels=(8, 16), norm_num_groups=4, latent_channels=2,
    down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2,
)  # fmt: skip
optimizer = torch.optim.Adam(vae.parameters(), lr=2e-3)
for step in range(4):
    spread = vae.encode(images).latent_dist
    decoded = vae.decode(spread.sample(generator=torch.Generator().manual_seed(step))).sample
    loss = F.mse_loss(decoded, images) + 1e-3 * spread.kl().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"vae step {step} loss {loss.item():.4f} latents {tuple(spread.mean.shape)}")
with tempfile.TemporaryDirectory() as folder:
    vae.save_pretrained(folder)
    again = AutoencoderKL.from_pretrained(folder)
again.enable_slicing()
with torch.no_grad():
    print(again(images[:2]).sample[0, 0, 0, :4])

start = torch.randn(1, 2, 4, 4)
for scheduler in (
    EulerDiscreteScheduler(beta_schedule="scaled_linear"),
    DPMSolverMultistepScheduler(algorithm_type="dpmsolver++", use_karras_sigmas=True),
    FlowMatchEulerDiscreteScheduler(shift=3.0),
):
    scheduler.set_timesteps(5)
    x = start * getattr(scheduler, "init_noise_sigma", 1.0)
    for time in scheduler.timesteps:
        scaled = scheduler.scale_model_input(x, time) if hasattr(scheduler, "scale_model_input") else x
        x = scheduler.step(torch.tanh(scaled), time, x).prev_sample
    print(type(scheduler).__name__, scheduler.timesteps[:3].tolist(), x[0, 0, 0])
