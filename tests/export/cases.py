"""Modules whose exported graphs are recorded, for torch and funcgrad alike."""

from __future__ import annotations

import copy
from typing import Any

from tests.utils.dispatch_cases import CALLS as OF_MODES

_OTHERWISE = ("bool(", "torch.allclose", "torch.equal", "x.requires_grad_", "nn.")
_OF_NUMBERS = (
    "F.one_hot(places)",
    "x[x > 0]",
    "z.masked_select(z > 0)",
    "z.nonzero()",
)  # their results' sizes are symbols in torch
CALLS = (
    [call for call in OF_MODES if not call.startswith(_OTHERWISE) and call not in _OF_NUMBERS]
    + """
F.instance_norm(v)
F.unfold(v,2)
F.fold(torch.rand(1,12,12),(4,5),2)
F.grid_sample(v,v.new_zeros(2,3,3,2),align_corners=False)
F.kl_div(x,y,reduction='batchmean')
F.one_hot(places,3)
F.cosine_similarity(x,y)
torch.cdist(x,y)
torch.einsum('ij,kj->ik',x,y)
F.huber_loss(x,y)
F.pixel_shuffle(torch.rand(1,4,2,2),2)
F.glu(torch.rand(2,4))
F.prelu(x,torch.rand(1))
F.max_pool2d(v,2,stride=1,padding=1)
F.avg_pool2d(v,2,stride=1,padding=1,count_include_pad=False)
F.conv2d(v,torch.rand(6,1,3,3),None,2,1,1,3)
F.conv1d(v[0],torch.rand(2,4,2),stride=2)
F.conv_transpose2d(v,torch.rand(3,2,2,2),stride=2)
x.masked_fill(x>0.5,0).cumsum(1)
x.size(0)*x
x.mean(dim=(0,1),keepdim=True)
torch.arange(x.shape[1])
torch.full((2,3),1.5)
x.new_zeros(3)
torch.triu(torch.ones(3,3),1).bool()
x.repeat(2,1).view(2,-1)
x.softmax(dim=-1)
x.argmax(-1)
torch.clamp(x,max=0.5)
x[:,:2].T.contiguous()
x.permute(1,0).reshape(-1)
x.unsqueeze(1).expand(-1,2,-1)
F.interpolate(v,scale_factor=2.0,mode='nearest')
torch.where(x>0,x,y)
x.float()+x.long()
F.silu(x,inplace=False)
x.var(-1,keepdim=True,unbiased=False)
torch.stack([x,y],dim=1).flatten(1)
torch.sigmoid(x)*torch.tanh(y)
x.pow(2).sum(-1).sqrt()
x.max(dim=1)[0]
x.chunk(3,dim=1)[1]
x.split([1,2],dim=1)[0]
""".strip().splitlines()
)


def graph_of(torch: Any, call: str) -> list[str]:
    """Return the calls of the graph that a module gives whose forward is one call, a line each."""

    class One(torch.nn.Module):  # type: ignore[misc]  # of either library
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.rand(5, 3))

        def forward(self, x: Any, y: Any, b: Any, z: Any, v: Any, places: Any) -> Any:
            tensors = {"x": x, "y": y, "w": self.w, "b": b, "z": z, "v": v, "places": places}
            return eval(call, {"torch": torch, "F": torch.nn.functional, "nn": torch.nn, **tensors})

    torch.manual_seed(0)
    args = (torch.rand(4, 3), torch.rand(4, 3), torch.rand(5), torch.rand(4, 3), torch.rand(2, 3, 4, 5))
    program = torch.export.export(One(), (*args, torch.tensor([0, 1, 2, 0])))
    program.module()(*args, torch.tensor([0, 1, 2, 0]))
    return [line.strip() for line in str(program.graph).splitlines()[1:] if "placeholder" not in line]


def nets(torch: Any) -> dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    """Return modules with the arguments, positional and by name, with which they are exported."""
    nn, functional = torch.nn, torch.nn.functional

    class Pictures(nn.Module):  # type: ignore[misc]  # of either library
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.bn, self.fc = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Linear(4, 2)
            self.register_buffer("scale", torch.ones(1))
            self.register_buffer("shift", torch.ones(1), persistent=False)
            self.constant = torch.ones(2)

        def forward(self, x: Any, mask: Any = None) -> Any:
            x = functional.max_pool2d(functional.relu(self.bn(self.conv(x))), 2)
            x = functional.dropout(functional.adaptive_avg_pool2d(x, 1).flatten(1), 0.5, self.training)
            y = self.fc(x) * self.scale + self.shift + self.constant
            return {"y": y[:, 0] if mask is None else y.masked_fill(mask, 0.0), "others": (x.mean(), 3)}

    class Language(nn.Module):  # type: ignore[misc]  # of either library
        def __init__(self) -> None:
            super().__init__()
            self.emb, self.ln, self.qkv, self.o = (
                nn.Embedding(10, 8),
                nn.LayerNorm(8),
                nn.Linear(8, 24),
                nn.Linear(8, 8),
            )

        def forward(self, tokens: Any) -> Any:
            x = self.emb(tokens)
            shape = x.shape
            parts = self.qkv(self.ln(x)).split(8, dim=-1)
            q, k, v = [t.view(*shape[:2], 2, 4).transpose(1, 2) for t in parts]
            y = (
                functional.scaled_dot_product_attention(q, k, v, is_causal=True)
                .transpose(1, 2)
                .contiguous()
                .view(shape)
            )
            shares = ((q @ k.transpose(-2, -1)) * 0.5).softmax(-1)
            x = x + functional.gelu(self.o(y))
            x += 1
            loss = functional.cross_entropy(x.view(-1, 8), tokens.view(-1))
            return loss, shares, torch.arange(shape[1]), torch.zeros(shape[0]) + torch.cat([x, x], 1).sum()

    class Last(nn.Module):  # type: ignore[misc]  # of either library
        def __init__(self, layers: Any) -> None:
            super().__init__()
            self.layers = layers

        def forward(self, x: Any) -> Any:
            output, state = self.layers(x)
            return output[:, -1], state

    class Nested(nn.Module):  # type: ignore[misc]  # of either library
        def forward(self, pair: Any, named: Any, k: int = 2, z: Any = None) -> Any:
            return pair[0] * named["a"] * k, [named["b"], pair[1] + torch.tensor([1.0, 2.0])]

    torch.manual_seed(0)
    mlp = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 4))
    pictures, x = Pictures(), torch.randn(2, 3, 8, 8)
    encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    two, sequence = torch.ones(2), torch.randn(2, 3, 8)
    nested = ([two, two + 1], {"a": two + 2, "b": two - 1})
    return {
        "mlp": (mlp, (torch.randn(2, 4),), {}),
        "mlp in eval": (_copied(mlp).eval(), (torch.randn(2, 4),), {}),
        "pictures": (pictures, (x,), {}),
        "pictures in eval": (_copied(pictures).eval(), (x,), {"mask": torch.ones(2, 2) > 0}),
        "encoder": (encoder, (sequence,), {}),
        "encoder in eval": (_copied(encoder).eval(), (sequence,), {}),
        "language": (Language(), (torch.tensor([[1, 2, 3]]),), {}),
        "lstm": (Last(nn.LSTM(4, 5, batch_first=True)), (torch.randn(2, 3, 4),), {}),
        "gru": (Last(nn.GRU(4, 5, 2, batch_first=True, bidirectional=True)), (torch.randn(2, 3, 4),), {}),
        "nested": (Nested(), nested, {"k": 3, "z": None}),
    }


def _copied(module: Any) -> Any:
    return copy.deepcopy(module)


def texts_of(torch: Any, net: tuple[Any, ...]) -> dict[str, Any]:
    """Return what is told of an exported module; lines that name files are left out."""
    module, args, kwargs = net
    program = torch.export.export(module, args, kwargs)
    printed = "\n".join(line for line in str(program).split("\n") if line.strip() and "# File: " not in line)
    return {
        "graph": str(program.graph), "signature": str(program.graph_signature), "printed": printed,
        "module": program.module().code, "state": list(program.state_dict), "constants": list(program.constants),
        "inputs": list(program.graph_signature.user_inputs), "outputs": list(program.graph_signature.user_outputs),
    }  # fmt: skip
