"""geoopt: points on spheres, Stiefel manifolds and in hyperbolic space, found by Riemannian SGD and Adam."""

import geoopt
import torch
from torch import nn

torch.manual_seed(0)


def show(name, tensor):
    print(name, [round(number, 4) for number in tensor.detach().flatten().tolist()[:8]])


def draw(manifold, shape):
    return getattr(manifold, "random_normal" if isinstance(manifold, geoopt.Lorentz) else "random")(*shape)


manifolds = {
    "sphere": (geoopt.Sphere(), (4,)),
    "exact sphere": (geoopt.SphereExact(), (4,)),
    "stiefel": (geoopt.Stiefel(), (5, 2)),
    "euclidean stiefel": (geoopt.EuclideanStiefel(), (5, 2)),
    "canonical": (geoopt.CanonicalStiefel(), (5, 2)),
    "ball": (geoopt.PoincareBall(c=1.0), (4,)),
    "projection": (geoopt.SphereProjection(k=1.0), (4,)),
    "lorentz": (geoopt.Lorentz(), (5,)),
    "spd": (geoopt.SymmetricPositiveDefinite(), (3, 3)),
}
for manifold, shape in manifolds.values():
    torch.manual_seed(1)
    target = draw(manifold, shape)
    start = draw(manifold, shape)
    print(manifold, manifold.check_point_on_manifold(start, atol=1e-4))
    for make in (geoopt.optim.RiemannianSGD, geoopt.optim.RiemannianAdam):
        point = geoopt.ManifoldParameter(start.clone(), manifold=manifold)
        optimizer = make([point], lr=0.05)
        for _ in range(5):
            optimizer.zero_grad()
            loss = (point - target).square().sum()
            loss.backward()
            optimizer.step()
        print(f"  {make.__name__} {loss.item():.5f}", type(point).__name__)
    tangent = manifold.proju(point, torch.ones_like(point))
    show("  tangent", tangent)
    show("  moved", manifold.retr(point.detach(), 0.1 * tangent))

ball = geoopt.PoincareBall(c=0.7)
x, y = ball.random(3, 4), ball.random(3, 4)
show("dist", ball.dist(x, y))
show("mobius", ball.mobius_add(x, y))
show("log", ball.logmap(x, y))
show("exp", ball.expmap(x, ball.logmap(x, y)) - y)
show("transport", ball.transp(x, y, torch.ones(3, 4)))
show("matvec", ball.mobius_matvec(torch.randn(2, 4), x))
print(ball)


class MobiusLinear(nn.Linear):
    """A linear layer of hyperbolic space."""

    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        self.ball = geoopt.PoincareBall(c=1.0)
        self.bias = geoopt.ManifoldParameter(torch.zeros(outputs), manifold=self.ball)

    def forward(self, x):
        return self.ball.mobius_add(self.ball.mobius_matvec(self.weight, self.ball.expmap0(x)), self.bias)


torch.manual_seed(2)
model = nn.Sequential(MobiusLinear(6, 4), nn.Flatten())
points, labels = torch.randn(20, 6), torch.randint(0, 3, (20,))
centres = geoopt.ManifoldParameter(0.1 * torch.randn(3, 4), manifold=geoopt.PoincareBall(c=1.0))
optimizer = geoopt.optim.RiemannianAdam([*model.parameters(), centres], lr=1e-2, stabilize=4)
for step in range(8):
    optimizer.zero_grad()
    distances = centres.manifold.dist(model(points)[:, None], centres[None])
    loss = nn.functional.cross_entropy(-distances, labels)
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        print(f"step {step} {loss.item():.5f}")
print(model)
print(centres)

product = geoopt.ProductManifold((geoopt.Sphere(), 3), (geoopt.Euclidean(1), 2))
point = product.random(4, 5)
show("product", product.take_submanifold_value(point, 0).norm(dim=-1))
