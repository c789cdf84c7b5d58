"""Small modules to be traced, written for torch and for funcgrad alike: `modules(torch)` gives them by name."""

import math
from typing import Any


def modules(torch: Any) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Return modules and functions, each with the arguments to call it with."""
    nn = torch.nn
    torch.manual_seed(0)

    class Shifted(nn.Module):
        def __init__(self):
            super().__init__()
            self.shift = nn.Parameter(torch.rand(3, 4))
            self.linear = nn.Linear(4, 5)

        def forward(self, x):
            return self.linear(x + self.shift).clamp(min=0.0, max=1.0)

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3)
            self.side = nn.Sequential(nn.Conv2d(3, 3, 1), nn.ReLU())

        def forward(self, x):
            y = torch.relu(self.norm(self.conv(x)))
            y += self.side(x)
            return torch.flatten(y, 1)

    class Parts(nn.Module):
        def forward(self, x, y=2.0, *, key=None):
            whole = torch.cat([x, x], dim=1)
            a, b = whole.chunk(2, 1)
            size, _ = x.shape[0], x.size(1)
            return {"a": a * b, "size": size}, whole.view(size, -1)[:, 1:3], 2 - x, x @ x.t(), x.T

    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
            self.register_buffer("offset", torch.ones(2))

        def forward(self, x):
            for layer in self.layers:
                x = torch.tanh(layer(x)) + self.offset
            return x.sum(dim=-1, keepdim=True)

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.norm, self.query = nn.Embedding(5, 4), nn.LayerNorm(4), nn.Linear(4, 4)

        def forward(self, tokens, mask=None):
            x = self.norm(self.embed(tokens))
            q = self.query(x)
            weights = torch.softmax(q @ q.transpose(-2, -1) / math.sqrt(4), dim=-1)
            return weights @ x, x.float().mean()

    class Dropped(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Tanh(), nn.Dropout(0.5)))

        def forward(self, *inputs, **options):
            return self.net(inputs[0]) * options["scale"]

    def scaled(x: float, n: int = 2) -> float:
        return torch.sin(x) * n - torch.zeros(2)

    def compared(x):
        return torch.where(x > 0, x, -x), ~(x == 1), x**2, 2 // x, abs(x), x[..., None], x.dtype == torch.float32

    return {
        "Shifted": (Shifted(), (torch.ones(3, 4),)),
        "Residual": (Residual(), (torch.ones(2, 3, 4, 4),)),
        "Parts": (Parts(), (torch.ones(2, 4),)),
        "Stack": (Stack(), (torch.ones(4, 2),)),
        "Attention": (Attention(), (torch.tensor([1, 2, 3]),)),
        "Dropped": (Dropped().eval(), (torch.ones(2, 4),)),
        "Functions": (of_functions(torch), (torch.ones(2, 3, 4, 4), torch.tensor([0, 1]))),
        "Linear": (nn.Linear(2, 2), (torch.ones(1, 2),)),
        "scaled": (scaled, (torch.ones(2),)),
        "compared": (compared, (torch.tensor([1.0, -2.0]),)),
    }


def of_functions(torch: Any) -> Any:
    """Return a module that calls functions, not layers."""
    nn, functional = torch.nn, torch.nn.functional

    class Functions(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.head = nn.Parameter(torch.rand(4, 3, 3, 3)), nn.Parameter(torch.rand(2, 4))

        def forward(self, x, target):
            x = functional.max_pool2d(functional.relu(functional.conv2d(x, self.weight, padding=1)), 2)
            x = functional.avg_pool2d(functional.leaky_relu(functional.group_norm(x, 2), 0.1, inplace=True), 2)
            x = functional.dropout(functional.pad(functional.gelu(x), (1, 1)), training=False)
            x = functional.adaptive_avg_pool2d(functional.interpolate(x, scale_factor=2), 1)
            x = functional.linear(functional.normalize(functional.layer_norm(torch.flatten(x, 1), (4,))), self.head)
            gate = functional.sigmoid(x) + functional.tanh(x) + functional.softplus(x) + functional.elu(x)
            losses = (
                functional.cross_entropy(x, target),
                functional.mse_loss(gate, x, reduction="sum"),
                functional.nll_loss(x, target),
            )
            return (
                functional.softmax(x, 1),
                functional.log_softmax(x, dim=-1),
                functional.cosine_similarity(x, gate),
                losses,
            )

    return Functions()
