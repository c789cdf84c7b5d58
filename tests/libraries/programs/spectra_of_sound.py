"""nnAudio: spectra of sound by convolutions, learnt and inverted."""

import torch
from nnAudio.features import MFCC, STFT, CQT1992v2, MelSpectrogram

torch.manual_seed(0)
noise = torch.randn(2, 4000)
stft = STFT(n_fft=256, hop_length=64, trainable=True, output_format="Magnitude", iSTFT=True, sr=4000, verbose=False)
print(stft(noise).shape, stft(noise).mean().detach())
whole = STFT(n_fft=256, hop_length=64, iSTFT=True, sr=4000, verbose=False)
print((whole.inverse(whole(noise, output_format="Complex"), onesided=True, length=4000) - noise).abs().max() < 1e-3)
mels = MelSpectrogram(sr=4000, n_fft=256, n_mels=20, hop_length=64, trainable_mel=True, verbose=False)
optimizer = torch.optim.Adam(mels.parameters(), lr=1e-3)
for _ in range(3):
    loss = (mels(noise) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
print(MFCC(sr=4000, n_mfcc=8, n_fft=256, n_mels=20, hop_length=64, verbose=False)(noise)[0, :3, 5])
print(CQT1992v2(sr=4000, hop_length=128, fmin=220, n_bins=24, verbose=False)(noise).mean())
