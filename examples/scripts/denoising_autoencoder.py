"""A convolutional auto-encoder that takes the noise out of pictures of digits."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from tqdm import tqdm

torch.manual_seed(30)
np.random.seed(30)
noise_factor = 0.4

images = np.expand_dims(load_digits().images.astype("float32") / 16.0, 1)
train_loader = torch.utils.data.DataLoader(images[:1500], batch_size=50, num_workers=0)
test_images = images[1500:]


class ConvDenoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 8, 3, padding=1)
        self.pool = nn.MaxPool2d(2, 2)
        self.t_conv1 = nn.ConvTranspose2d(8, 16, 2, stride=2)
        self.t_conv2 = nn.ConvTranspose2d(16, 16, 3, stride=2, padding=1, output_padding=1)
        self.conv_out = nn.Conv2d(16, 1, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = self.pool(x)
        x = F.relu(self.conv2(x))
        x = self.pool(x)
        x = F.relu(self.t_conv1(x))
        x = F.relu(self.t_conv2(x))
        return torch.sigmoid(self.conv_out(x))


model = ConvDenoiser()
print(model)
criterion = nn.MSELoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.001)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.004, total_steps=5 * len(train_loader))

for epoch in range(1, 6):
    train_loss = 0.0
    for images in tqdm(train_loader, desc=f"epoch {epoch}", leave=False):
        noisy_imgs = images + noise_factor * torch.randn(*images.shape)
        noisy_imgs = np.clip(noisy_imgs, 0.0, 1.0)
        optimizer.zero_grad()
        outputs = model(noisy_imgs)
        loss = criterion(outputs, images)
        loss.backward()
        optimizer.step()
        scheduler.step()
        train_loss += loss.item() * images.size(0)
    train_loss = train_loss / len(train_loader)
    print(f"Epoch: {epoch} \tTraining Loss: {train_loss:.6f} \tlr {optimizer.param_groups[0]['lr']:.6f}")

model.eval()
clean = torch.from_numpy(test_images)
noisy = torch.clamp(clean + noise_factor * torch.randn(clean.shape), 0.0, 1.0)
output = model(noisy)
output = output.view(len(noisy), 1, 8, 8).detach().numpy()
print(
    f"error before {np.mean((noisy.numpy() - test_images) ** 2):.6f} after {np.mean((output - test_images) ** 2):.6f}"
)
