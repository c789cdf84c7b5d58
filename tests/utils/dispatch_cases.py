"""Calls whose functions of aten are recorded, and the mode that writes them down, for torch and funcgrad alike."""

from __future__ import annotations

from typing import Any

CALLS = """
x + 1
1 - x
x - 1
x * 2
2 / x
x / 2
x // 2
x % 2
x**2
2**x
x > 0
x == x
x + x
torch.add(x, x, alpha=2)
-x
~(x > 0)
(x > 0) & (x < 1)
x.sum()
x.sum(0)
x.sum(dim=(0, 1), keepdim=True)
x.mean()
x.mean(1)
x.max()
x.max(1)
x.amax(1)
x.argmax(1)
x.std()
x.var(1)
x.norm()
x.prod()
x.cumsum(0)
x.t()
x.T
x.mT
x.transpose(0, 1)
x.permute(1, 0)
x.reshape(3, 4)
x.t().reshape(12)
x.view(-1)
x.flatten()
x.unsqueeze(0)
x.squeeze()
x.squeeze(0)
x.expand(2, 4, 3)
x.repeat(2, 1)
x[0]
x[1:3]
x[:, 1]
x[..., None]
x[x > 0]
x[torch.tensor([0, 1])]
x.clone()
x.detach()
x.t().contiguous()
x.to(torch.float64)
x.double()
torch.cat([x, x])
torch.stack([x, x])
x.split(2)
x.chunk(2)
x.unbind()
torch.where(x > 0, x, 0.0)
torch.where(x > 0, x, x)
x.masked_fill(x > 0, 0.0)
x.clamp(0, 1)
x.clamp(min=0)
x @ x.t()
torch.matmul(x, torch.randn(3))
torch.matmul(torch.randn(2, 4, 3), torch.randn(2, 3, 5))
torch.matmul(torch.randn(2, 4, 3), torch.randn(3, 5))
torch.matmul(torch.randn(2, 2, 4, 3), torch.randn(2, 2, 3, 5))
torch.dot(x[0], x[1])
F.linear(x, w, b)
F.linear(x, w)
F.linear(torch.randn(2, 4, 3), w, b)
F.linear(torch.randn(2, 4, 3), w)
F.relu(x)
F.gelu(x)
F.gelu(x, approximate="tanh")
F.silu(x)
F.leaky_relu(x)
F.softmax(x, -1)
F.log_softmax(x, -1)
x.sigmoid()
x.tanh()
F.softplus(x)
F.elu(x)
F.dropout(x, 0.5, True)
F.layer_norm(x, (3,))
F.rms_norm(x, (3,), torch.ones(3), 1e-5)
F.rms_norm(x.half(), (4, 3))
F.batch_norm(x, torch.zeros(3), torch.ones(3), training=True)
F.batch_norm(x, torch.zeros(3), torch.ones(3))
F.group_norm(torch.randn(2, 4, 3), 2)
F.conv2d(torch.randn(1, 3, 5, 5), torch.randn(2, 3, 3, 3), torch.randn(2), padding=1)
F.conv1d(torch.randn(1, 3, 5), torch.randn(2, 3, 3))
F.conv_transpose2d(torch.randn(1, 3, 5, 5), torch.randn(3, 2, 3, 3))
F.max_pool2d(torch.randn(1, 3, 6, 6), 2)
F.avg_pool2d(torch.randn(1, 3, 6, 6), 2)
F.adaptive_avg_pool2d(torch.randn(1, 3, 6, 6), 1)
F.adaptive_avg_pool2d(torch.randn(1, 3, 6, 6), 2)
F.embedding(torch.tensor([1, 2]), w)
F.cross_entropy(x, torch.tensor([0, 1, 2, 0]))
F.nll_loss(x, torch.tensor([0, 1, 2, 0]))
F.mse_loss(x, x)
F.l1_loss(x, x)
F.binary_cross_entropy_with_logits(x, x)
F.binary_cross_entropy(x.sigmoid(), x.sigmoid())
F.scaled_dot_product_attention(torch.randn(1, 2, 4, 8), torch.randn(1, 2, 4, 8), torch.randn(1, 2, 4, 8))
F.interpolate(torch.randn(1, 3, 6, 6), scale_factor=2)
F.pad(x, (1, 1))
torch.zeros(2, 3)
torch.ones(2)
torch.randn(2, 3)
torch.rand(2)
torch.arange(3)
torch.zeros_like(x)
torch.full((2,), 1.0)
torch.tensor([1.0, 2.0])
torch.empty(2)
torch.linspace(0, 1, 3)
x.clone().add_(1)
x.clone().mul_(2)
x.clone().zero_()
x.clone().fill_(0)
x.clone().copy_(x)
x.clone().addcmul_(x, x, value=0.5)
x.exp()
x.log()
x.sqrt()
x.rsqrt()
x.abs()
x.sin()
torch.bmm(torch.randn(2, 4, 3), torch.randn(2, 3, 5))
torch.addmm(b, x, w.t())
x.gather(1, torch.zeros(4, 1, dtype=torch.long))
x.scatter(1, torch.zeros(4, 1, dtype=torch.long), 1.0)
x.topk(2)
x.sort()
x.any()
(x > 0).all()
x.tril()
x.triu(1)
x.index_select(0, torch.tensor([0]))
torch.allclose(x, x)
torch.equal(x, x)
x.isnan()
x.new_zeros(2)
x.flip(0)
x.roll(1)
nn.Linear(3, 5)(x).shape
x.__setitem__(0, 1.0)
x.__setitem__((slice(None), 1), x[:, 0])
F.normalize(x)
x.logsumexp(1)
F.smooth_l1_loss(x, x)
x.T @ x
torch.outer(x[0], x[1])
x.masked_fill_(x > 0, 1)
x.round()
x.contiguous()
x.float()
x.cpu()
F.dropout(x, 0.5, False)
x.type_as(b)
x.requires_grad_()
x.to("cpu")
z[:]
z[1:]
z[::2]
z[-1]
z[None]
z[0, 1]
z[[0, 1]]
z[:, [0, 1]]
z[torch.tensor([0]), 1]
z[...]
z.relu()
z.reciprocal()
z.pow(2)
z.softmax(1, dtype=torch.float64)
z.expm1()
z.tan()
z.norm(dim=1)
z.cumprod(0)
F.selu(z)
z.logcumsumexp(0)
z.clamp(0)
torch.max(z, z)
torch.maximum(z, z)
z.square()
z.narrow(0, 1, 2)
z.view_as(z)
z.expand_as(torch.rand(2, 4, 3))
z.detach().t().contiguous()
z.std(1)
z.std(dim=1, unbiased=False)
z.var()
torch.hstack([z, z])
torch.vstack([z, z])
v.flatten(1)
v.transpose(1, 2).flatten(1)
v.mT
v @ v.mT
F.linear(v, torch.rand(2, 5), torch.rand(2))
F.avg_pool1d(v[0], 2)
F.max_pool1d(v[0], 2)
F.adaptive_avg_pool1d(v[0], 2)
F.layer_norm(z, (3,), torch.ones(3), torch.zeros(3))
F.rms_norm(z, (3,))
F.interpolate(v, scale_factor=2, mode="bilinear")
F.interpolate(v, size=(8, 9), mode="bilinear", align_corners=True)
F.interpolate(v, size=(8, 9))
F.pad(v, (1, 1), value=2.0)
F.cross_entropy(z, torch.tensor([0, 1, 2, 0]), reduction="sum")
F.cross_entropy(z, z)
F.l1_loss(z, z, reduction="sum")
bool(z.sum() > 0)
z.to(torch.float64, copy=True)
z.half()
z.long()
z.type(torch.float64)
z.split([1, 3])
z.tensor_split(2)
z.swapaxes(0, 1)
z.unflatten(0, (2, 2))
z.movedim(0, 1)
z.repeat_interleave(2, 0)
z.isfinite()
z.new_ones(2)
torch.eye(2)
torch.randint(0, 3, (2,))
torch.randperm(3)
torch.rand_like(z)
torch.empty_like(z)
torch.full_like(z, 2.0)
torch.bernoulli(z.detach())
torch.multinomial(z.detach(), 2)
F.hardtanh(z)
F.relu6(z)
F.logsigmoid(z)
F.mish(z)
F.hardswish(z)
F.softmin(z, 1)
z.detach().clone().normal_()
z.detach().clone().uniform_(0, 1)
z.detach().clone().clamp_(0, 1)
torch.sum(z, 1)
torch.logical_and(z > 0, z < 1)
z.lt(0.5)
z.eq(1)
z.masked_select(z > 0)
z.nonzero()
z.diag()
z.diagonal()
z.trace()
torch.tril(z)
z.lerp(z, 0.5)
torch.addcmul(z, z, z)
torch.baddbmm(torch.rand(2, 4, 5), torch.rand(2, 4, 3), torch.rand(2, 3, 5))
z.index_add(0, torch.tensor([0]), z[:1])
z.scatter_add(1, torch.zeros(4, 1, dtype=torch.long), z)
torch.stack([z, z], 1)
torch.cat([z, z], dim=-1)
z.unbind(1)
torch.chunk(z, 3, 1)
torch.atan2(z, z)
torch.fmod(z, 2)
""".strip().splitlines()


def logged(torch: Any, mode: Any, call: str) -> list[str]:
    """Return what a mode is told of a call, a line each. mode: the module's TorchDispatchMode."""
    lines: list[str] = []

    class Logging(mode):  # type: ignore[misc]  # of either module
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            lines.append(f"{func} {shown(args)} {shown(kwargs or {})} {shown(result)}")
            return result

    def shown(x: Any) -> Any:
        if isinstance(x, torch.Tensor):
            return f"{str(x.dtype)[6:]}{list(x.shape)}"
        if isinstance(x, dict):
            return {name: shown(value) for name, value in x.items()}
        return [shown(each) for each in x] if isinstance(x, (list, tuple)) else x

    torch.manual_seed(0)
    x, y = torch.rand(4, 3), torch.rand(4, 3)
    w, b = torch.rand(5, 3, requires_grad=True), torch.rand(5)
    z, v = torch.rand(4, 3, requires_grad=True), torch.rand(2, 3, 4, 5)
    places = torch.tensor([0, 1, 2, 0])
    known = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn, "x": x, "y": y, "w": w, "b": b, "z": z, "v": v}
    with Logging():
        eval(call, known | {"places": places})
    return lines
