"""Sub-pixel super-resolution (Shi et al. 2016): from 4 x 4 back to 8 x 8 digits."""

import argparse
from math import log10

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.init as init
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, upscale_factor):
        super().__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 32, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(32, 32, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(32, 16, (3, 3), (1, 1), (1, 1))
        self.conv4 = nn.Conv2d(16, upscale_factor**2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        self._initialize_weights()

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        x = self.relu(self.conv3(x))
        return self.pixel_shuffle(self.conv4(x))

    def _initialize_weights(self):
        init.orthogonal_(self.conv1.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv2.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv3.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv4.weight)


parser = argparse.ArgumentParser(description="Super resolution of digits")
parser.add_argument("--upscale_factor", type=int, default=2)
parser.add_argument("--batchSize", type=int, default=32)
parser.add_argument("--testBatchSize", type=int, default=100)
parser.add_argument("--nEpochs", type=int, default=3)
parser.add_argument("--lr", type=float, default=0.001)
parser.add_argument("--cuda", action="store_true")
parser.add_argument("--threads", type=int, default=0)
parser.add_argument("--seed", type=int, default=123)
opt = parser.parse_args()
print(opt)
if opt.cuda and not torch.cuda.is_available():
    raise Exception("No GPU found, please run without --cuda")
torch.manual_seed(opt.seed)
device = torch.device("cuda" if opt.cuda else "cpu")

print("===> Loading datasets")
images = torch.from_numpy(load_digits().images).float().unsqueeze(1) / 16
small = F.interpolate(images, scale_factor=1 / opt.upscale_factor, mode="bilinear", align_corners=False)
training_data_loader = DataLoader(
    TensorDataset(small[:1500], images[:1500]), num_workers=opt.threads, batch_size=opt.batchSize, shuffle=True
)
testing_data_loader = DataLoader(TensorDataset(small[1500:], images[1500:]), batch_size=opt.testBatchSize)

print("===> Building model")
model = Net(upscale_factor=opt.upscale_factor).to(device)
criterion = nn.MSELoss()
optimizer = optim.Adam(model.parameters(), lr=opt.lr)


def train(epoch):
    epoch_loss = 0
    for iteration, batch in enumerate(training_data_loader, 1):
        input, target = batch[0].to(device), batch[1].to(device)
        optimizer.zero_grad()
        loss = criterion(model(input), target)
        epoch_loss += loss.item()
        loss.backward()
        optimizer.step()
        if iteration % 12 == 1:
            print(f"===> Epoch[{epoch}]({iteration}/{len(training_data_loader)}): Loss: {loss.item():.6f}")
    print(f"===> Epoch {epoch} Complete: Avg. Loss: {epoch_loss / len(training_data_loader):.6f}")


def test():
    avg_psnr = 0
    with torch.no_grad():
        for batch in testing_data_loader:
            input, target = batch[0].to(device), batch[1].to(device)
            mse = criterion(model(input), target)
            avg_psnr += 10 * log10(1 / mse.item())
    print(f"===> Avg. PSNR: {avg_psnr / len(testing_data_loader):.4f} dB")


for epoch in range(1, opt.nEpochs + 1):
    train(epoch)
    test()
bicubic = F.interpolate(small[1500:], scale_factor=2, mode="bicubic", align_corners=False).clamp(0, 1)
print(f"bicubic: {10 * log10(1 / criterion(bicubic, images[1500:]).item()):.4f} dB")
