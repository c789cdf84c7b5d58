"""torchsurv, torchtuples, pycox: losses and scores of survival, and several kinds of models of it."""

import numpy as np
import torch
import torchtuples as tt
from pycox.models import PMF, CoxPH, DeepHitSingle, LogisticHazard
from torch import nn
from torchsurv.loss import cox
from torchsurv.metrics.auc import Auc
from torchsurv.metrics.cindex import ConcordanceIndex
from torchsurv.stats.kaplan_meier import KaplanMeierEstimator

np.random.seed(1)
torch.manual_seed(1)
x = torch.randn(64, 8)
time = torch.exp(x[:, 0] * 0.5 + torch.randn(64) * 0.3).clamp(0.05) * 10
event = torch.rand(64) > 0.3
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
for ties in ("efron", "breslow"):
    for _ in range(8):
        optimizer.zero_grad()
        loss = cox.neg_partial_log_likelihood(net(x), event, time, ties_method=ties)
        loss.backward()
        optimizer.step()
    print(ties, f"{loss.item():.5f}")
hazard = net(x).detach()
concordance, auc, estimator = ConcordanceIndex(), Auc(), KaplanMeierEstimator()
print(f"{concordance(hazard, event, time).item():.5f}", concordance.confidence_interval(), concordance.p_value())
print(auc(hazard, event, time)[:5], auc.integral())
estimator(event, time)
print(estimator.km_est[:6], estimator.predict(time[:3]))

rows = np.random.randn(300, 5).astype("float32")
durations = np.exp(rows[:, 0] * 0.5 + np.random.randn(300) * 0.3).astype("float32") * 5
events = (np.random.rand(300) > 0.3).astype("float32")
held_out = rows[:50], (durations[:50], events[:50])
model = CoxPH(tt.practical.MLPVanilla(5, [16, 16], 1, True, 0.1, output_bias=False), tt.optim.Adam(0.01))
stops = [tt.callbacks.EarlyStopping()]
log = model.fit(rows, (durations, events), 64, 4, stops, verbose=False, val_data=held_out)
print(log.to_pandas().round(4).to_string())
model.compute_baseline_hazards()
print(model.predict_surv_df(rows[:5]).iloc[::40].round(4).to_string())
for kind in (LogisticHazard, DeepHitSingle, PMF):
    cuts = kind.label_transform(8)
    targets = cuts.fit_transform(durations, events)
    layers = tt.practical.MLPVanilla(5, [16], cuts.out_features, True, 0.1)
    model = kind(layers, tt.optim.AdamWR(0.01), duration_index=cuts.cuts)
    log = model.fit(rows, targets, 64, 3, verbose=False)
    print(kind.__name__, log.to_pandas().round(4).to_numpy().ravel().tolist())
    print(model.interpolate(3).predict_surv_df(rows[:3]).iloc[::6].round(3).to_string())
