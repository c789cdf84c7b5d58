"""Paint one picture in the manner of another: L-BFGS on the pixels, features caught by forward hooks."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
imsize = 32


def pictures():
    """A disc on a slope as content, diagonal stripes as style; both (1, 3, imsize, imsize), from 0 to 1."""
    axis = torch.linspace(-1, 1, imsize)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    disc = (x**2 + y**2 < 0.4).float()
    content = torch.stack([disc * 0.8 + 0.1, (x + 1) / 2, (y + 1) / 2])
    stripes = torch.sin(8 * (x + y)) * 0.5 + 0.5
    style = torch.stack([stripes, 1 - stripes, stripes * stripes])
    return content.unsqueeze(0).to(device), style.unsqueeze(0).to(device)


class Normalization(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = torch.tensor(mean).view(-1, 1, 1)
        self.std = torch.tensor(std).view(-1, 1, 1)

    def forward(self, img):
        return (img - self.mean) / self.std


# a fixed random network in place of a pretrained one: its features are enough for textures this simple
cnn = nn.Sequential(
    Normalization([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    nn.Conv2d(3, 16, 3, padding=1),
    nn.ReLU(inplace=False),
    nn.Conv2d(16, 16, 3, padding=1),
    nn.ReLU(inplace=False),
    nn.AvgPool2d(2, 2),
    nn.Conv2d(16, 32, 3, padding=1),
    nn.ReLU(inplace=False),
).to(device).eval()  # fmt: skip
cnn.requires_grad_(False)

features = {}


def catch(name):
    def hook(module, inputs, output):
        features[name] = output

    return hook


style_layers, content_layers = ["conv_1", "conv_2", "conv_3"], ["conv_3"]
i = 0
for layer in cnn.children():
    if isinstance(layer, nn.Conv2d):
        i += 1
        layer.register_forward_hook(catch(f"conv_{i}"))


def gram_matrix(input):
    a, b, c, d = input.size()
    maps = input.view(a * b, c * d)
    G = torch.mm(maps, maps.t())
    return G.div(a * b * c * d)


def run_style_transfer(content_img, style_img, num_steps=40, style_weight=1e4, content_weight=1.0):
    cnn(style_img)
    style_targets = {name: gram_matrix(features[name]).detach() for name in style_layers}
    cnn(content_img)
    content_targets = {name: features[name].detach() for name in content_layers}

    input_img = content_img.clone()
    input_img.requires_grad_(True)
    optimizer = optim.LBFGS([input_img], max_iter=10)
    run = [0]
    while run[0] <= num_steps:

        def closure():
            with torch.no_grad():
                input_img.clamp_(0, 1)
            optimizer.zero_grad()
            cnn(input_img)
            style_score = sum(F.mse_loss(gram_matrix(features[n]), t) for n, t in style_targets.items())
            content_score = sum(F.mse_loss(features[n], t) for n, t in content_targets.items())
            style_score = style_score * style_weight
            content_score = content_score * content_weight
            loss = style_score + content_score
            loss.backward()
            run[0] += 1
            if run[0] % 10 == 1:
                print(f"run [{run[0]}]: Style Loss : {style_score.item():6f} Content Loss: {content_score.item():6f}")
            return style_score + content_score

        optimizer.step(closure)
    with torch.no_grad():
        input_img.clamp_(0, 1)
    return input_img


content_img, style_img = pictures()
output = run_style_transfer(content_img, style_img)
print("output", output.shape, f"mean {output.mean().item():.4f} std {output.std().item():.4f}")
