"""tntorch, tensorly: tensors as trains, Tucker and CP parts, completed and learnt by descent."""

import tensorly
import tntorch
import torch
from tensorly.decomposition import non_negative_parafac, parafac, tensor_train, tucker

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
x, y, z = torch.meshgrid(*[torch.linspace(0, 1, 12)] * 3, indexing="ij")
full = torch.sin(x + 2 * y) * torch.exp(-z) + x * z
train = tntorch.Tensor(full, ranks_tt=4)
print(train.ranks_tt, train.numcoef(), tntorch.relative_error(full, train) < 1e-8)
print(tntorch.mean(train), tntorch.var(train), tntorch.norm(train), train[3, :, 2].torch()[:4])
both = train * train + 2 * train
print(both.ranks_tt)
both.round_tt(eps=1e-8)
print(both.ranks_tt, tntorch.dist(both, tntorch.Tensor(full * full + 2 * full)) < 1e-5)
print(f"{tntorch.sobol(train, tntorch.only(tntorch.symbols(3)[0])).item():.6f}")
crossed = tntorch.cross(function=lambda a, b: 1 / (1 + a + b), tensors=tntorch.meshgrid([12, 12]), verbose=False)
print(crossed.shape, crossed.torch()[2, 3])

known = torch.rand(12, 12, 12) < 0.5
guess = tntorch.rand([12] * 3, ranks_tt=3, requires_grad=True)
optimizer = torch.optim.Adam(guess.cores, lr=0.05)
for _ in range(30):
    loss = ((guess.torch() - full)[known] ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.5f}")

tensorly.set_backend("pytorch")
weights, factors = parafac(full, rank=2, init="svd", n_iter_max=20, normalize_factors=True)
print([tuple(factor.shape) for factor in factors], weights)
print(tensorly.norm(tensorly.cp_to_tensor((weights, factors)) - full) / tensorly.norm(full) < 0.2)
core, factors = tucker(full, rank=[3, 3, 2], init="svd", n_iter_max=5)
print(core.shape, tensorly.norm(core), tensorly.norm(tensorly.tucker_to_tensor((core, factors)) - full) < 0.2)
print([tuple(part.shape) for part in tensor_train(full, rank=[1, 3, 3, 1])])
weights, factors = non_negative_parafac(full, rank=2, init="svd", n_iter_max=10)
print(all(bool((factor >= 0).all()) for factor in factors), weights)
core, factors = (full[:3, :3, :3].clone().requires_grad_(), [torch.randn(12, 3, requires_grad=True) for _ in range(3)])
loss = (tensorly.tucker_to_tensor((core, factors)) - full).square().sum()
loss.backward()
print(loss, core.grad[0, 0], factors[1].grad[0], tensorly.unfold(full, 1).shape)
