"""asteroid-filterbanks, torch-dct, pytorch-msssim: learnt filters of sound, cosine transforms, pictures made alike."""

import torch
import torch_dct
from asteroid_filterbanks import make_enc_dec
from asteroid_filterbanks.transforms import angle, apply_mag_mask, from_torch_complex, mag, magphase, to_torch_complex
from pytorch_msssim import SSIM, ms_ssim, ssim
from torch import nn

torch.manual_seed(0)
time = torch.arange(2000) / 8000
wave = torch.stack([torch.sin(2 * torch.pi * 440 * time), torch.sin(2 * torch.pi * 880 * time) * time])[:, None]


def show(name, tensor):
    print(name, tuple(tensor.shape), f"{tensor.detach().norm().item():.5f} {tensor.detach().float().mean().item():.6f}")


for name, extra in {"free": {}, "analytic_free": {}, "param_sinc": {}, "stft": {}}.items():
    encoder, decoder = make_enc_dec(name, n_filters=64, kernel_size=32, stride=16, **extra)
    code = encoder(wave)
    show(name, code)
    show(f"{name}, back", decoder(code, length=2000))
encoder, decoder = make_enc_dec("stft", n_filters=64, kernel_size=64, stride=16, who_is_pinv="dec")
code = encoder(wave)
show("magnitude", mag(code))
show("angle", angle(code[..., :8]).cos())
show("masked", apply_mag_mask(code, torch.rand(mag(code).shape)))
show("complex", to_torch_complex(code).abs())
print(torch.allclose(from_torch_complex(to_torch_complex(code)), code), tuple(magphase(code)[1].shape))


class Separator(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = make_enc_dec("free", n_filters=16, kernel_size=16, stride=8)
        self.mask = nn.Sequential(
            nn.GroupNorm(1, 16), nn.Conv1d(16, 24, 1), nn.PReLU(), nn.Conv1d(24, 32, 1), nn.Sigmoid()
        )

    def forward(self, mixed):
        code = self.encode(mixed)
        masks = self.mask(code).view(len(mixed), 2, 16, -1)
        return self.decode(masks * code[:, None], length=mixed.shape[-1])


model = Separator()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(5):
    loss = (model(wave.sum(0, keepdim=True)) - wave[:, 0][None]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"separated {step} {loss.item():.6f}")

x = torch.randn(3, 8, 8)
show("dct", torch_dct.dct_2d(x, norm="ortho"))
print(torch.allclose(torch_dct.idct_2d(torch_dct.dct_2d(x)), x, atol=1e-4))
show("dct 1", torch_dct.dct1(x))
show("linear", torch_dct.apply_linear_2d(x, torch_dct.LinearDCT(8, "dct", norm="ortho")))

first, second = torch.rand(2, 3, 176, 176), torch.rand(2, 3, 176, 176)
print(f"{ssim(first, second, data_range=1).item():.5f} {ms_ssim(first, (first + second) / 2, data_range=1).item():.5f}")
print(ssim(first, first * 0.9, data_range=1, size_average=False), SSIM(data_range=1, channel=3)(first, second).item())
guess = second[:, :, :48, :48].clone().requires_grad_()
optimizer = torch.optim.Adam([guess], lr=0.05)
measure = SSIM(data_range=1.0, size_average=True, channel=3)
for step in range(4):
    optimizer.zero_grad()
    loss = 1 - measure(first[:, :, :48, :48], guess)
    loss.backward()
    optimizer.step()
    print(f"ssim {step} {loss.item():.5f}")
