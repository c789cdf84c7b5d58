"""pyro-ppl: a variational autoencoder whose networks `pyro.module` registers, ClippedAdam, and saving."""

import io

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import SVI, Trace_ELBO, TraceMeanField_ELBO
from pyro.optim import ClippedAdam
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 16), nn.Softplus(), nn.Linear(16, 4))
        self.decoder = nn.Sequential(nn.Linear(2, 16), nn.Softplus(), nn.Linear(16, 12))

    def model(self, x):
        pyro.module("decoder", self.decoder)
        with pyro.plate("data", x.shape[0]):
            z = pyro.sample("z", dist.Normal(x.new_zeros(x.shape[0], 2), x.new_ones(x.shape[0], 2)).to_event(1))
            pyro.sample("x", dist.Bernoulli(logits=self.decoder(z)).to_event(1), obs=x)

    def guide(self, x):
        pyro.module("encoder", self.encoder)
        with pyro.plate("data", x.shape[0]):
            mean, scale = self.encoder(x).chunk(2, -1)
            pyro.sample("z", dist.Normal(mean, scale.exp()).to_event(1))


pyro.set_rng_seed(3)
data = (torch.rand(64, 12) > torch.linspace(0.1, 0.9, 12)).float()
for elbo in (Trace_ELBO(), TraceMeanField_ELBO()):
    pyro.clear_param_store()
    net = Autoencoder()
    svi = SVI(net.model, net.guide, ClippedAdam({"lr": 0.02, "clip_norm": 5.0}), loss=elbo)
    losses = [sum(svi.step(batch) for batch in data.split(32)) / len(data) for _ in range(5)]
    print(type(elbo).__name__, [round(loss, 3) for loss in losses])
print(sorted(pyro.get_param_store().keys())[:2])
file = io.BytesIO()
torch.save(net.state_dict(), file)
file.seek(0)
other = Autoencoder()
other.load_state_dict(torch.load(file))
print(torch.equal(other.decoder[0].weight, net.decoder[0].weight))
