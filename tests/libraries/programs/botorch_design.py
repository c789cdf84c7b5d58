"""botorch, gpytorch: models fitted to a toy function, batches of points proposed by expected improvement."""

import warnings

import torch
from botorch import fit_gpytorch_mll
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound, qExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from botorch.test_functions import Branin
from botorch.utils.sampling import draw_sobol_samples
from botorch.utils.transforms import unnormalize
from gpytorch.mlls import ExactMarginalLogLikelihood

torch.manual_seed(0)
warnings.simplefilter("ignore")


def show(name, numbers):
    print(name, *(f"{number:.2f}" for number in torch.as_tensor(numbers).detach().flatten().tolist()))


branin = Branin(negate=True).double()
unit = torch.stack([torch.zeros(2), torch.ones(2)]).double()
x = draw_sobol_samples(unit, n=10, q=1, seed=1).squeeze(1).double()
y = branin(unnormalize(x, branin.bounds))[:, None]
show("sobol", x[:3])
show("branin", y[:4])


def fitted():
    model = SingleTaskGP(x, y, input_transform=Normalize(2), outcome_transform=Standardize(1))
    marginal = ExactMarginalLogLikelihood(model.likelihood, model)
    fit_gpytorch_mll(marginal, optimizer_kwargs={"options": {"maxiter": 10}})
    return model


model = fitted()
posterior = model.posterior(torch.full((1, 2), 0.5).double())
show("mean", posterior.mean)
show("variance", posterior.variance.sqrt())
for acquisition in (LogExpectedImprovement(model, y.max()), UpperConfidenceBound(model, beta=0.2)):
    show(type(acquisition).__name__, acquisition(x[:2, None] + 0.05))
sampler = SobolQMCNormalSampler(torch.Size([32]), seed=2)
improvement = qExpectedImprovement(model, best_f=y.max(), sampler=sampler)
show("together", improvement(torch.stack([x[:2] + 0.1, x[2:4] + 0.1])))
torch.manual_seed(3)
points, value = optimize_acqf(
    improvement, bounds=unit, q=2, num_restarts=2, raw_samples=8, options={"maxiter": 5, "seed": 4, "batch_limit": 2}
)
print(tuple(points.shape), bool((points >= 0).all() and (points <= 1).all()), bool(value > 0))
