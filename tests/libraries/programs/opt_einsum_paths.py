"""opt-einsum: paths found, then contracted with torch's functions; expressions, constants, gradients and sharing."""

import opt_einsum
import torch
from opt_einsum import contract, contract_expression, contract_path, shared_intermediates

torch.manual_seed(0)
a, b, c, d = torch.randn(4, 5), torch.randn(5, 6, 3), torch.randn(6, 7), torch.randn(7, 3, 2)
print(torch.backends.opt_einsum.is_available(), torch.backends.opt_einsum.strategy)
for optimize in ("auto", "greedy", "optimal", "dp", "random-greedy", False):
    path, found = contract_path("ij,jkl,km,mln->in", a, b, c, d, optimize=optimize)
    print(optimize, path, found.opt_cost, contract("ij,jkl,km,mln->in", a, b, c, d, optimize=optimize).sum())
print(contract_path("ij,jkl,km,mln->in", a, b, c, d)[1])
print(torch.einsum("ij,jkl,km,mln->in", a, b, c, d)[0])
expression = contract_expression("ij,jkl,km,mln->in", (4, 5), b, (6, 7), d, constants=[1, 3])
for tensor in (a, c):
    tensor.requires_grad_()
result = expression(a, c)
result.square().sum().backward()
print(result, a.grad[0], c.grad.norm())
print(
    contract("bij,bjk,bk->i", torch.ones(2, 3, 4), torch.ones(2, 4, 5), torch.arange(10.0).view(2, 5), backend="torch")
)
print(contract(a, [0, 1], b, [1, 2, 3], [0, 2, 3]).shape, contract("ii->i", torch.arange(9.0).view(3, 3)))
print(contract("...ij,...jk->...ik", torch.ones(2, 1, 3, 4), torch.ones(5, 4, 2)).shape, contract("ab,cd", a, a).shape)
with shared_intermediates() as cache:
    first = contract("ij,jkl,km->iml", a, b, c)
    second = contract("ij,jkl,km->ilm", a, b, c)
    print(torch.equal(first.mT, second), len(cache) > 0)
print(contract("ij,jk->ik", a.detach().half(), b[:, :, 0].half()).dtype, opt_einsum.backends.has_tensordot("torch"))
print(contract("ij,jk,kl->il", *(torch.randn(3, 3, dtype=torch.complex64) for _ in range(3))).abs().sum() > 0)
try:
    contract("ij,jk->ik", a, c)
except (ValueError, RuntimeError) as error:
    print(type(error).__name__, error)
with torch.no_grad():
    graph = [torch.randn(3, 3, 3) for _ in range(6)]
    print(contract("abc,cde,efg,ghi,ijk,kla->bdfhjl", *graph).norm())
