"""neuraloperator, tensorly: Fourier neural operators, whole and factorized, trained on a heat equation."""

import torch
from neuralop import H1Loss, LpLoss
from neuralop.layers.spectral_convolution import SpectralConv
from neuralop.models import FNO, TFNO

torch.manual_seed(0)


def show(name, numbers):
    print(name, *(f"{number:.4f}" for number in torch.as_tensor(numbers).detach().flatten().tolist()))


size = 16
starts = torch.randn(8, 1, size, size)
frequency = torch.fft.fftfreq(size)[:, None] ** 2 + torch.fft.rfftfreq(size)[None] ** 2
ends = torch.fft.irfft2(torch.fft.rfft2(starts) * torch.exp(-20 * frequency), s=(size, size))
models = {
    "FNO": lambda: FNO(n_modes=(6, 6), in_channels=1, out_channels=1, hidden_channels=8, n_layers=2),
    "TFNO": lambda: TFNO(
        n_modes=(6, 6), in_channels=1, out_channels=1, hidden_channels=8, n_layers=2, factorization="tucker", rank=0.2
    ),
}  # fmt: skip
for name, make in models.items():
    torch.manual_seed(1)
    model = make()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    loss = LpLoss(d=2, p=2) if name != "TFNO" else H1Loss(d=2)
    for step in range(3):
        optimizer.zero_grad()
        value = loss(model(starts), ends)
        value.backward()
        optimizer.step()
        scheduler.step()
        print(name, step, f"{value.item():.3f}")
    print(name, sum(p.numel() for p in model.parameters()))
    finer = model(torch.nn.functional.interpolate(starts[:1], scale_factor=2, mode="bilinear"))
    print(name, tuple(finer.shape), f"{finer.mean().item():.3f}")
convolution = SpectralConv(3, 4, n_modes=(5,))
show("1d", convolution(torch.linspace(0, 1, 24).reshape(1, 3, 8))[0, :, 0])
