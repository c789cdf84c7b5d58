"""torchinfo, torchsummary: summaries of convolutions, recurrence, attention and shared layers, to the letter."""

import torch
import torchsummary
from torch import nn
from torchinfo import summary


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(width, width, 3, padding=1, groups=2, bias=False), nn.BatchNorm2d(width)
        self.scale = nn.Parameter(torch.ones(width, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.scale * self.norm(self.conv(x)).relu()


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(inplace=True), nn.MaxPool2d(2))
        self.blocks = nn.ModuleList(Block(8) for _ in range(2))
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.shared = nn.Linear(4, 4)
        self.head = nn.Linear(4, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        x = self.up(x).mean((2, 3))
        return self.head(self.shared(self.shared(x)))


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.lstm = nn.Embedding(50, 12), nn.LSTM(12, 16, 2, batch_first=True, bidirectional=True)
        self.encoder = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        self.pair = nn.ModuleDict({"left": nn.Linear(32, 2), "right": nn.GRU(32, 3)})

    def forward(self, words: torch.Tensor, mask: torch.Tensor | None = None) -> dict[str, torch.Tensor]:
        x = self.encoder(self.lstm(self.embedding(words))[0], src_key_padding_mask=mask)
        return {"left": self.pair["left"](x), "right": self.pair["right"](x)[0]}


columns = ("input_size", "output_size", "num_params", "params_percent", "kernel_size", "mult_adds", "trainable")
net = Net()
for parameter in net.stem.parameters():
    parameter.requires_grad_(False)
print(summary(net, (2, 3, 32, 32), col_names=columns, row_settings=("var_names", "depth"), depth=4))
print(summary(net, input_data=torch.zeros(1, 3, 20, 20), verbose=0, depth=1, col_width=20))
reader, words = Reader(), torch.zeros(2, 7, dtype=torch.long)
found = summary(reader, input_data=[words], mask=torch.zeros(2, 7, dtype=torch.bool), col_names=columns, verbose=0)
print(found)
print(found.total_params, found.total_mult_adds, found.total_output_bytes)
print(summary(reader, input_size=(3, 5), dtypes=[torch.long], verbose=0, row_settings=("ascii_only",)))
print(summary(net), summary(nn.Linear(4, 2).half(), verbose=0), sep="\n")
torchsummary.summary(net, (3, 32, 32), batch_size=4, device="cpu")
torchsummary.summary(nn.Sequential(nn.Flatten(), nn.Linear(12, 5), nn.Softmax(-1)), (3, 2, 2), device="cpu")
try:
    summary(net, (2, 4, 32, 32))
except RuntimeError as error:
    print(str(error)[:60])
print([hook for module in net.modules() for hook in module._forward_hooks], net.training)
