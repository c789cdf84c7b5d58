"""diffusers, accelerate: a small UNet2DModel trained to denoise under Accelerator, sampled by DDPM and DDIM."""

import tempfile

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from diffusers import DDIMPipeline, DDIMScheduler, DDPMPipeline, DDPMScheduler, UNet2DModel
from diffusers.optimization import get_cosine_schedule_with_warmup
from diffusers.training_utils import EMAModel
from diffusers.utils import logging
from torch.utils.data import DataLoader, TensorDataset

logging.disable_progress_bar()

torch.manual_seed(0)
images = torch.rand(16, 1, 16, 16) * 2 - 1
model = UNet2DModel(
    sample_size=16, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 16),
    norm_num_groups=4, attention_head_dim=4,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
)  # fmt: skip
print(model.num_parameters(), model.config.block_out_channels)
noising = DDPMScheduler(num_train_timesteps=100)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(images), batch_size=4, shuffle=True)
accelerator = Accelerator(gradient_accumulation_steps=2, cpu=True)
schedule = get_cosine_schedule_with_warmup(optimizer, num_warmup_steps=1, num_training_steps=8)
model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
averaged = EMAModel(model.parameters(), decay=0.9)
for epoch in range(2):
    for (clean,) in loader:
        noise = torch.randn_like(clean)
        times = torch.randint(0, 100, (len(clean),))
        noisy = noising.add_noise(clean, noise, times)
        with accelerator.accumulate(model):
            loss = F.mse_loss(model(noisy, times).sample, noise)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            averaged.step(model.parameters())
        print(f"epoch {epoch} loss {loss.item():.4f} lr {schedule.get_last_lr()[0]:.6f} {accelerator.sync_gradients}")
model = accelerator.unwrap_model(model)
averaged.copy_to(model.parameters())
with tempfile.TemporaryDirectory() as folder:
    DDPMPipeline(model, noising).save_pretrained(folder)
    pipeline = DDPMPipeline.from_pretrained(folder)
    again = UNet2DModel.from_pretrained(folder, subfolder="unet")
print("same", torch.equal(again.conv_in.weight, model.conv_in.weight), type(pipeline.scheduler).__name__)
for sampler, options in (
    (pipeline, {}),
    (DDIMPipeline(again, DDIMScheduler.from_config(noising.config)), {"eta": 0.5}),
):
    sampler.set_progress_bar_config(disable=True)
    picture = sampler(
        batch_size=2, generator=torch.Generator().manual_seed(3), num_inference_steps=4, output_type="np", **options
    ).images
    print(type(sampler).__name__, picture.shape, picture[:, 3, 4:7, 0].round(3).tolist())
