"""pytorch-tabnet: tables classified, regressed and completed by attention to columns; what mattered, and files."""

import io

import numpy as np
import torch
from pytorch_tabnet.pretraining import TabNetPretrainer
from pytorch_tabnet.tab_model import TabNetClassifier, TabNetRegressor

rng = np.random.default_rng(0)
table = rng.normal(size=(192, 5)).astype(np.float32)
table[:, 4] = rng.integers(0, 3, 192)
kinds = (table[:, 0] + (table[:, 4] == 1) > 0).astype(int)
amounts = (2 * table[:, 1] - table[:, 2]).reshape(-1, 1)
common = {"n_d": 4, "n_a": 4, "n_steps": 2, "seed": 3, "verbose": 0, "device_name": "cpu"}
embedded = {"cat_idxs": [4], "cat_dims": [3], "cat_emb_dim": 2}
loop = {"max_epochs": 2, "batch_size": 64, "virtual_batch_size": 32, "num_workers": 0, "drop_last": False}

pretrainer = TabNetPretrainer(**common, **embedded)
pretrainer.fit(table[:128], eval_set=[table[128:]], pretraining_ratio=0.5, **loop)
print("pretraining", [round(float(value), 4) for value in pretrainer.history["loss"]])

classifier = TabNetClassifier(**common, **embedded, optimizer_params={"lr": 0.02})
classifier.fit(
    table[:128], kinds[:128], eval_set=[(table[128:], kinds[128:])], eval_metric=["accuracy", "logloss"],
    from_unsupervised=pretrainer, **loop,
)  # fmt: skip
for name, values in sorted(classifier.history.history.items()):
    print("classifier", name, [round(float(value), 4) for value in values])
print(classifier.feature_importances_.round(4), classifier.predict_proba(table[:3]).round(4))
explained, masks = classifier.explain(table[:8])
print(explained.shape, sorted(masks), f"{explained.sum():.4f}")

regressor = TabNetRegressor(**common)
regressor.fit(table[:128], amounts[:128], eval_set=[(table[128:], amounts[128:])], eval_metric=["rmse"], **loop)
print("regressor", [round(float(value), 4) for value in regressor.history["val_0_rmse"]])
file = io.BytesIO()
torch.save(regressor.network.state_dict(), file)
print(len(torch.load(io.BytesIO(file.getvalue()))), regressor.predict(table[:2]).round(4).tolist())
