"""jaxtyping, beartype: shapes and dtypes of tensors checked at the call; wrong ones told by name."""

# ruff: noqa: F722, F821 - shapes are written as strings, which are no types

from dataclasses import dataclass

import torch
from beartype import beartype
from beartype.door import is_bearable
from jaxtyping import Bool, Float, Float32, Int, Integer, Num, Shaped, TypeCheckError, jaxtyped
from torch import Tensor, nn


@jaxtyped(typechecker=beartype)
def attention(
    query: Float[Tensor, "*batch length width"],
    key: Float[Tensor, "*batch other width"],
    mask: Bool[Tensor, "length other"] | None = None,
) -> Float[Tensor, "*batch length other"]:
    scores = query @ key.mT / query.shape[-1] ** 0.5
    return (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1)


@jaxtyped(typechecker=beartype)
def doubled(x: Shaped[Tensor, "n"], y: Float32[Tensor, "2*n"]) -> Num[Tensor, "n 2"]:
    return torch.stack([x, y.view(-1, 2).sum(-1)], -1)


@jaxtyped(typechecker=beartype)
@dataclass
class Batch:
    words: Int[Tensor, "b t"]
    lengths: Integer[Tensor, "b"]


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)

    @jaxtyped(typechecker=beartype)
    def forward(self, x: Float[Tensor, "b 4"]) -> Float[Tensor, "b 3"]:
        return self.linear(x)


def told(call: object, *arguments: object) -> None:
    try:
        found = call(*arguments)
        print("fits", tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__)
    except TypeCheckError as error:
        print("refused", str(error).split("\n")[0][:70])


torch.manual_seed(0)
told(attention, torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8))
told(attention, torch.randn(5, 8), torch.randn(7, 8), torch.ones(5, 7, dtype=torch.bool))
told(attention, torch.randn(5, 8), torch.randn(7, 9))
told(attention, torch.randn(5, 8), torch.randn(7, 8), torch.ones(5, 7))
told(attention, torch.randn(5, 8).long(), torch.randn(7, 8))
told(doubled, torch.zeros(3), torch.zeros(6))
told(doubled, torch.zeros(3), torch.zeros(5))
told(doubled, torch.zeros(3), torch.zeros(6).double())
told(Batch, torch.ones(2, 3, dtype=torch.long), torch.ones(2, dtype=torch.int32))
told(Batch, torch.ones(2, 3, dtype=torch.long), torch.ones(3, dtype=torch.int32))
layer = Layer()
told(layer, torch.ones(5, 4, requires_grad=True))
told(layer, torch.ones(5, 3))
told(torch.func.vmap(layer), torch.ones(2, 5, 4))
layer(torch.ones(5, 4)).sum().backward()
print(layer.linear.bias.grad)
for hint in (
    Float[Tensor, "a a"],
    Int[Tensor, ""],
    Float[Tensor, "..."],
    Shaped[Tensor, "1 3"],
    Float[nn.Parameter, "3 4"],
):
    print(
        hint, [isinstance(x, hint) for x in (torch.ones(2, 2), torch.tensor(1), torch.ones(1, 3), layer.linear.weight)]
    )
for kind in ("float16", "bfloat16", "complex64", "uint8", "float64"):
    x = torch.zeros(2).to(getattr(torch, kind))
    print(kind, isinstance(x, Float[Tensor, "2"]), isinstance(x, Num[Tensor, "2"]), isinstance(x, Integer[Tensor, "2"]))
print(is_bearable([torch.ones(1)], list[Tensor]), is_bearable([1], list[Tensor]), is_bearable(layer, nn.Module))
