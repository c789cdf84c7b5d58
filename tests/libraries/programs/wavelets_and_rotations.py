"""ptwt, julius, roma: wavelets of signals and pictures, signals resampled and filtered, rotations in several forms."""

import julius
import ptwt
import roma
import torch

torch.manual_seed(0)
x = torch.randn(2, 64, requires_grad=True)
for wavelet in ("haar", "db3"):
    for mode in ("zero", "reflect", "periodic"):
        parts = ptwt.wavedec(x, wavelet, mode=mode, level=2)
        error = (ptwt.waverec(parts, wavelet)[..., :64] - x).abs().max().item()
        print(wavelet, mode, [tuple(part.shape) for part in parts], error < 1e-5, f"{parts[0].sum().item():.4f}")
parts[0].square().sum().backward()
print(x.grad[0, :4])
picture = torch.randn(1, 16, 16)
parts = ptwt.wavedec2(picture, "db2", level=2)
print(parts[0].sum(), parts[1][0].sum(), (ptwt.waverec2(parts, "db2") - picture).abs().max() < 1e-5)
print(ptwt.WaveletPacket(torch.randn(1, 32), "haar", mode="reflect")["aa"].sum())

sound = torch.randn(1, 400)
print(julius.resample_frac(sound, 4, 3).shape, julius.resample_frac(sound, 4, 3).sum())
print(julius.lowpass_filter(sound, 0.1).sum(), julius.highpass_filter(sound, 0.2).abs().sum())
print(julius.split_bands(sound, 100, n_bands=3).abs().sum((1, 2)))
print(julius.fft_conv1d(sound[:, None], torch.randn(1, 1, 50)).abs().sum())

turns = roma.random_rotmat(3, dtype=torch.float64)
quaternions = roma.rotmat_to_unitquat(turns)
print(turns, quaternions, roma.unitquat_to_rotvec(quaternions))
print(roma.special_procrustes(torch.randn(3, 3, dtype=torch.float64)), roma.rotmat_geodesic_distance(*turns[:2]))
print(roma.unitquat_slerp(quaternions[0], quaternions[1], torch.tensor([0.3], dtype=torch.float64)))
print(roma.euler_to_rotmat("xyz", [0.1, 0.2, 0.3]), roma.rotmat_to_euler("ZYX", turns[0], degrees=True))
axes = torch.randn(3, 3, requires_grad=True)
roma.special_gramschmidt(axes).sum().backward()
print(axes.grad)
placed = roma.Rigid(turns, torch.randn(3, 3, dtype=torch.float64))
print(placed.inverse().compose(placed).to_homogeneous()[0].round(decimals=6).abs())
