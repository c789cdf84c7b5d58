"""gluonts: a DeepAR model trained on series with features, sampled from, and distributions of outputs."""

import torch
from gluonts.torch.distributions import NegativeBinomialOutput, StudentTOutput
from gluonts.torch.model.deepar.module import DeepARModel

torch.manual_seed(0)
model = DeepARModel(
    "h", context_length=8, prediction_length=4, num_feat_dynamic_real=1, num_feat_static_real=1, num_feat_static_cat=1,
    cardinality=[3], num_layers=1, hidden_size=6, lags_seq=[1, 2, 3],
)  # fmt: skip
past = model._past_length
known = {
    "feat_static_cat": torch.tensor([[0], [2]]), "feat_static_real": torch.zeros(2, 1),
    "past_time_feat": torch.randn(2, past, 1), "past_target": torch.randn(2, past),
    "past_observed_values": torch.ones(2, past), "future_time_feat": torch.randn(2, 4, 1),
}  # fmt: skip
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for step in range(4):
    loss = model.loss(**known, future_target=torch.ones(2, 4), future_observed_values=torch.ones(2, 4)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
forecast = model(**known, num_parallel_samples=5)
print(forecast.shape, f"{forecast.mean().item():.4f}")
for output in (NegativeBinomialOutput(), StudentTOutput()):
    distribution = output.distribution(output.get_args_proj(6)(torch.randn(3, 6)))
    print(type(distribution).__name__, distribution.log_prob(torch.ones(3)).tolist(), distribution.sample())
