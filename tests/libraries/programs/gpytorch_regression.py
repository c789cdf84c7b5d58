"""gpytorch, linear_operator: exact regression with composed kernels, a sparse variational classifier."""

import math

import gpytorch
import torch
from gpytorch.kernels import LinearKernel, MaternKernel, PeriodicKernel, RBFKernel, ScaleKernel
from linear_operator import to_linear_operator
from linear_operator.operators import DiagLinearOperator, KroneckerProductLinearOperator, ToeplitzLinearOperator

torch.manual_seed(0)


def show(name, *numbers):
    print(name, *(f"{float(number):.4f}" for number in numbers))


class Exact(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood, kernel):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = ScaleKernel(kernel)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


x = torch.linspace(0, 1, 60)
y = torch.sin(x * 2 * math.pi) + 0.2 * torch.randn(60)
test = torch.linspace(0.05, 1.2, 7)


def regression(name, kernel, steps=15):
    likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=gpytorch.constraints.GreaterThan(1e-3))
    model = Exact(x, y, likelihood, kernel)
    model.train(), likelihood.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    for step in range(steps):
        optimizer.zero_grad()
        loss = -marginal(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            show(f"{name} {step}", loss.item(), likelihood.noise.item(), model.covar_module.outputscale.item())
    model.eval(), likelihood.eval()
    with torch.no_grad(), gpytorch.settings.fast_pred_var():
        seen = likelihood(model(test))
        low, high = seen.confidence_region()
    show(f"{name} mean", *seen.mean)
    show(f"{name} low", *low)
    show(f"{name} high", *high)
    return model, likelihood


rbf, likelihood = regression("rbf", RBFKernel())
regression("matern", MaternKernel(nu=2.5))
regression("sum", PeriodicKernel() + LinearKernel() * RBFKernel())
with gpytorch.settings.max_cholesky_size(10), gpytorch.settings.cg_tolerance(1e-3):
    regression("cg", RBFKernel(), steps=6)
print(sorted(rbf.state_dict()))
for name, parameter, constraint in rbf.named_parameters_and_constraints():
    print(name, tuple(parameter.shape), constraint)

# Samples and leave-one-out.
with torch.no_grad():
    posterior = rbf(test)
    show("sample", *posterior.rsample(torch.Size([2]), base_samples=torch.ones(2, 7)).flatten())
    show("log prob", likelihood(posterior).log_prob(torch.zeros(7)))


class Sparse(gpytorch.models.ApproximateGP):
    def __init__(self, points):
        distribution = gpytorch.variational.CholeskyVariationalDistribution(points.size(0))
        super().__init__(gpytorch.variational.VariationalStrategy(self, points, distribution))
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = ScaleKernel(RBFKernel(lengthscale_prior=gpytorch.priors.GammaPrior(3.0, 6.0)))

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


labels = (y > 0).float()
sparse, bernoulli = Sparse(x[::6, None].clone()), gpytorch.likelihoods.BernoulliLikelihood()
sparse.covar_module.base_kernel.lengthscale = 0.1
optimizer = torch.optim.Adam([*sparse.parameters(), *bernoulli.parameters()], lr=0.05)
elbo = gpytorch.mlls.VariationalELBO(bernoulli, sparse, num_data=60)
for step in range(11):
    optimizer.zero_grad()
    loss = -elbo(sparse(x[:, None]), labels)
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        show(f"sparse {step}", loss.item())
sparse.eval()
with torch.no_grad():
    show("classes", *bernoulli(sparse(test[:, None])).mean)

# Linear operators.
root = torch.randn(4, 4)
positive = to_linear_operator(root @ root.T + 4 * torch.eye(4))
show("solve", *positive.solve(torch.ones(4, 1)).flatten())
show("logdet", positive.logdet(), *positive.inv_quad_logdet(torch.ones(4, 1), logdet=True))
product = KroneckerProductLinearOperator(positive, DiagLinearOperator(torch.tensor([1.0, 2.0, 3.0])))
print(type(product + product).__name__, tuple(product.shape))
show("kronecker", *(product @ torch.ones(12, 1)).flatten(), product.logdet())
toeplitz = ToeplitzLinearOperator(torch.tensor([4.0, 1.0, 0.5, 0.0]))
show("toeplitz", *(toeplitz @ torch.arange(4.0)), *toeplitz.diagonal())
