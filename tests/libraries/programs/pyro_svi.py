"""pyro-ppl: SVI with hand-written and automatic guides, a Bayesian layer, predictions, the parameter store."""

import tempfile

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import SVI, Predictive, Trace_ELBO, TraceMeanField_ELBO
from pyro.infer.autoguide import AutoDelta, AutoDiagonalNormal, AutoLowRankMultivariateNormal, AutoMultivariateNormal
from pyro.nn import PyroModule, PyroSample
from torch import nn
from torch.distributions import constraints

pyro.set_rng_seed(0)
pyro.enable_validation(True)


def show(name, numbers):
    print(name, *(f"{number:.4f}" for number in torch.as_tensor(numbers).detach().flatten().tolist()))


# A coin, with a guide of its own.
flips = torch.tensor([1.0] * 6 + [0.0] * 4)


def coin(data):
    fairness = pyro.sample("fairness", dist.Beta(10.0, 10.0))
    with pyro.plate("flips", len(data), subsample_size=5) as index:
        pyro.sample("flip", dist.Bernoulli(fairness), obs=data[index])


def guide(data):
    alpha = pyro.param("alpha", torch.tensor(15.0), constraint=constraints.positive)
    beta = pyro.param("beta", lambda: torch.tensor(15.0), constraint=constraints.positive)
    with pyro.plate("flips", len(data), subsample_size=5):
        pass
    pyro.sample("fairness", dist.Beta(alpha, beta))


svi = SVI(coin, guide, pyro.optim.Adam({"lr": 0.01, "betas": (0.9, 0.999)}), loss=Trace_ELBO())
for step in range(6):
    print("coin", step, f"{svi.step(flips):.4f}")
print({name: round(value.item(), 3) for name, value in pyro.get_param_store().items()})
with tempfile.NamedTemporaryFile() as file:
    pyro.get_param_store().save(file.name)
    pyro.clear_param_store()
    print(len(pyro.get_param_store().keys()))
    pyro.get_param_store().load(file.name)
print(sorted(pyro.get_param_store().keys()), pyro.param("alpha").shape)


class Regression(PyroModule):
    def __init__(self):
        super().__init__()
        self.linear = PyroModule[nn.Linear](2, 1)
        self.linear.weight = PyroSample(dist.Normal(0.0, 1.0).expand([1, 2]).to_event(2))
        self.linear.bias = PyroSample(dist.Normal(0.0, 10.0).expand([1]).to_event(1))

    def forward(self, x, y=None):
        sigma = pyro.sample("sigma", dist.Uniform(0.0, 10.0))
        mean = self.linear(x).squeeze(-1)
        with pyro.plate("data", x.shape[0]):
            pyro.sample("obs", dist.Normal(mean, sigma), obs=y)
        return mean


x = torch.randn(30, 2)
y = x @ torch.tensor([1.0, -2.0]) + 0.5 + 0.1 * torch.randn(30)
for make in (AutoDiagonalNormal, AutoMultivariateNormal, AutoLowRankMultivariateNormal, AutoDelta):
    pyro.clear_param_store()
    pyro.set_rng_seed(1)
    model = Regression()
    automatic = make(model)
    loss = TraceMeanField_ELBO() if make is AutoDiagonalNormal else Trace_ELBO(num_particles=2)
    svi = SVI(model, automatic, pyro.optim.ClippedAdam({"lr": 0.03, "lrd": 0.99}), loss)
    for step in range(4):
        print(make.__name__, step, f"{svi.step(x, y):.3f}")
    samples = Predictive(model, guide=automatic, num_samples=5, return_sites=("linear.weight", "obs", "_RETURN"))(x[:2])
    print({name: tuple(value.shape) for name, value in samples.items()})
    show(make.__name__, samples["linear.weight"].mean(0))
