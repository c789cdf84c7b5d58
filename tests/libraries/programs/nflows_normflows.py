"""nflows, normflows: coupling, autoregressive and spline flows, trained, inverted and sampled from."""

import nflows.flows
import nflows.transforms
import normflows
import torch
from nflows.distributions import ConditionalDiagonalNormal, StandardNormal
from nflows.nn.nets import ResidualNet
from torch import nn

torch.manual_seed(0)


def show(name, numbers):
    print(name, *(f"{number:.4f}" for number in torch.as_tensor(numbers).detach().flatten().tolist()))


def coupling(make):
    def net(inputs, outputs):
        return ResidualNet(inputs, outputs, hidden_features=8, num_blocks=1, use_batch_norm=True)

    return make(mask=torch.tensor([1, 0, 1]), transform_net_create_fn=net)


T = nflows.transforms
pieces = {
    "maf": lambda: T.MaskedAffineAutoregressiveTransform(3, hidden_features=8, num_blocks=1),
    "maf-rqs": lambda: T.MaskedPiecewiseRationalQuadraticAutoregressiveTransform(
        3, hidden_features=8, tails="linear", tail_bound=3.0, num_bins=5
    ),
    "affine": lambda: coupling(T.AffineCouplingTransform),
    "rqs": lambda: coupling(lambda **o: T.PiecewiseRationalQuadraticCouplingTransform(tails="linear", num_bins=4, **o)),
    "lu": lambda: T.LULinear(3),
    "qr": lambda: T.QRLinear(3, num_householder=2),
    "svd": lambda: T.SVDLinear(3, num_householder=2),
    "norm": lambda: T.ActNorm(3),
    "batch norm": lambda: T.BatchNorm(3),
    "permuted": lambda: T.CompositeTransform([T.RandomPermutation(3), T.LeakyReLU(), T.ReversePermutation(3)]),
}
x = torch.randn(32, 3) * torch.tensor([1.0, 0.5, 2.0]) + 0.3
for name, make in pieces.items():
    torch.manual_seed(1)
    flow = nflows.flows.Flow(T.CompositeTransform([make(), T.LULinear(3)]), StandardNormal([3]))
    optimizer = torch.optim.SGD(flow.parameters(), lr=1e-2)
    for _ in range(3):
        optimizer.zero_grad()
        loss = -flow.log_prob(inputs=x).mean()
        loss.backward()
        optimizer.step()
    print(name, f"{loss.item():.4f}")
    flow.eval()
    with torch.no_grad():
        noise = flow.transform_to_noise(x[:2])
        show(f"{name} noise", noise)
        show(f"{name} back", flow._transform.inverse(noise)[0])
        show(f"{name} sample", flow.sample(2))

conditional = nflows.flows.MaskedAutoregressiveFlow(3, 8, num_layers=2, num_blocks_per_layer=1)
show("maf", conditional.log_prob(x[:3]))
given = ConditionalDiagonalNormal([3], context_encoder=nn.Linear(2, 6))
show("given", given.log_prob(x[:3], context=torch.ones(3, 2)))
show("samples", given.sample(2, context=torch.ones(1, 2)))


def realnvp():
    layers = []
    for _ in range(4):
        net = normflows.nets.MLP([1, 16, 2], init_zeros=True)
        layers += [normflows.flows.AffineCouplingBlock(net), normflows.flows.Permute(2, mode="swap")]
    return normflows.NormalizingFlow(normflows.distributions.DiagGaussian(2), layers)


def spline():
    layers = [
        normflows.flows.AutoregressiveRationalQuadraticSpline(2, 1, 8), normflows.flows.LULinearPermute(2),
        normflows.flows.CoupledRationalQuadraticSpline(2, 1, 8),
    ]  # fmt: skip
    return normflows.NormalizingFlow(normflows.distributions.DiagGaussian(2, trainable=False), layers)


def residual():
    net = normflows.nets.LipschitzMLP([2, 8, 8, 2], init_zeros=True, lipschitz_const=0.9)
    layers = [normflows.flows.Residual(net, reduce_memory=False), normflows.flows.ActNorm(2)]
    return normflows.NormalizingFlow(normflows.distributions.DiagGaussian(2), layers)


target = normflows.distributions.TwoMoons()
for name, make in {"realnvp": realnvp, "spline": spline, "residual": residual}.items():
    torch.manual_seed(2)
    model = make()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-5)
    for step in range(4):
        optimizer.zero_grad()
        loss = model.forward_kld(target.sample(64)) if name == "residual" else model.forward_kld(x[:, :2] + step / 10)
        loss.backward()
        optimizer.step()
        print(name, step, f"{loss.item():.4f}")
    if name != "residual":
        z, log_q = model.sample(3)
        show(f"{name} sample", z)
        show(f"{name} log q", log_q)
planar = normflows.NormalizingFlow(
    normflows.distributions.DiagGaussian(2), [normflows.flows.Planar((2,)), normflows.flows.Radial((2,))], target
)
loss = planar.reverse_kld(num_samples=16)
loss.backward()
show("reverse", loss)
