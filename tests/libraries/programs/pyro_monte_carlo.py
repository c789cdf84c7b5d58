"""pyro-ppl: enumerated mixtures and their decoding, handlers, HMC and NUTS."""

import pyro
import pyro.distributions as dist
import pyro.poutine as poutine
import torch
from pyro.infer import HMC, MCMC, NUTS, SVI, TraceEnum_ELBO, config_enumerate, infer_discrete
from pyro.infer.autoguide import AutoDelta

pyro.set_rng_seed(0)


def show(name, numbers):
    print(name, *(f"{number:.4f}" for number in torch.as_tensor(numbers).detach().flatten().tolist()))


flips = torch.tensor([1.0] * 6 + [0.0] * 4)


def coin(data):
    fairness = pyro.sample("fairness", dist.Beta(10.0, 10.0))
    with pyro.plate("flips", len(data), subsample_size=5) as index:
        pyro.sample("flip", dist.Bernoulli(fairness), obs=data[index])


# A mixture, its classes summed over.
data = torch.tensor([0.0, 1.0, 10.0, 11.0, 12.0])


@config_enumerate
def mixture(data):
    weights = pyro.sample("weights", dist.Dirichlet(0.5 * torch.ones(2)))
    with pyro.plate("components", 2):
        locs = pyro.sample("locs", dist.Normal(0.0, 10.0))
    with pyro.plate("data", len(data)):
        which = pyro.sample("which", dist.Categorical(weights))
        pyro.sample("obs", dist.Normal(locs[which], 1.0), obs=data)


pyro.clear_param_store()
pyro.set_rng_seed(2)
guide = AutoDelta(poutine.block(mixture, expose=["weights", "locs"]))
svi = SVI(mixture, guide, pyro.optim.Adam({"lr": 0.1}), TraceEnum_ELBO(max_plate_nesting=1))
for step in range(5):
    print("mixture", step, f"{svi.step(data):.3f}")
trained = poutine.replay(mixture, trace=poutine.trace(guide).get_trace(data))
decoded = infer_discrete(trained, temperature=0, first_available_dim=-2)
print(poutine.trace(decoded).get_trace(data).nodes["which"]["value"])

# Handlers.
trace = poutine.trace(poutine.condition(coin, data={"fairness": torch.tensor(0.3)})).get_trace(flips)
trace.compute_log_prob()
print(trace.format_shapes())
show("log prob", trace.log_prob_sum())
scaled = poutine.trace(poutine.scale(poutine.uncondition(coin), 2.0)).get_trace(flips)
print(scaled.nodes["flip"]["is_observed"], scaled.nodes["flip"]["scale"])
print(list(poutine.trace(poutine.do(coin, data={"fairness": 0.1})).get_trace(flips).nodes))


# Monte Carlo.
def schools(sigma, y=None):
    mu = pyro.sample("mu", dist.Normal(0.0, 5.0))
    tau = pyro.sample("tau", dist.HalfCauchy(5.0))
    with pyro.plate("schools", 4):
        theta = pyro.sample("theta", dist.Normal(mu, tau))
        pyro.sample("y", dist.Normal(theta, sigma), obs=y)


sigma, y = torch.tensor([15.0, 10.0, 16.0, 11.0]), torch.tensor([28.0, 8.0, -3.0, 7.0])
for kernel in (HMC(schools, step_size=0.5, num_steps=3), NUTS(schools, max_tree_depth=3, step_size=0.5)):
    pyro.set_rng_seed(3)
    mcmc = MCMC(kernel, num_samples=4, warmup_steps=2, disable_progbar=True)
    mcmc.run(sigma, y)
    for name, values in sorted(mcmc.get_samples().items()):
        show(f"{type(kernel).__name__} {name}", values.double().mean(0))
