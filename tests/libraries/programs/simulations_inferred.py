"""sbi: what parameters a simulation had, from what it gave: posteriors, likelihoods and ratios learnt, then sampled."""

import torch
from sbi.inference import NLE, NPE, NRE, simulate_for_sbi
from sbi.utils import BoxUniform
from sbi.utils.user_input_checks import process_prior, process_simulator

torch.manual_seed(0)
prior, _, gives_numpy = process_prior(BoxUniform(low=-2 * torch.ones(2), high=2 * torch.ones(2)))


def simulated(parameters: torch.Tensor) -> torch.Tensor:
    return 1.0 + parameters + 0.3 * torch.randn_like(parameters)


simulator = process_simulator(simulated, prior, gives_numpy)
parameters, seen = simulate_for_sbi(simulator, prior, num_simulations=200)
print(parameters.shape, seen.shape, f"{seen.mean().item():.4f}")
observed = torch.tensor([1.8, 0.6])

for kind, options in ((NPE, {"density_estimator": "maf"}), (NLE, {"density_estimator": "nsf"}), (NRE, {})):
    torch.manual_seed(1)
    inference = kind(prior, **options, show_progress_bars=False)
    estimator = inference.append_simulations(parameters, seen).train(training_batch_size=50, max_num_epochs=4)
    losses = inference.summary["validation_loss"]
    print(kind.__name__, type(estimator).__name__, [round(float(loss), 4) for loss in losses])
    if kind is NPE:
        posterior = inference.build_posterior(estimator)
        samples = posterior.sample((200,), x=observed, show_progress_bars=False)
        print(samples.shape, [round(value, 3) for value in samples.mean(0).tolist()])
        print([round(value, 3) for value in posterior.log_prob(samples[:4], x=observed).tolist()])
    else:
        potential = inference.build_posterior(estimator, sample_with="rejection")
        samples = potential.sample((20,), x=observed, show_progress_bars=False)
        print(samples.shape, [round(value, 2) for value in samples.mean(0).tolist()])
