"""deepctr-torch: models of clicks with embedded columns, fitted and scored: DeepFM, DCN, AutoInt and xDeepFM."""

import numpy as np
import torch
from deepctr_torch.inputs import DenseFeat, SparseFeat, get_feature_names
from deepctr_torch.models import DCN, AutoInt, DeepFM, xDeepFM

rng = np.random.default_rng(0)
rows, kinds = 256, {"user": 12, "item": 20, "hour": 6}
columns = [SparseFeat(name, size, embedding_dim=4) for name, size in kinds.items()] + [DenseFeat("price", 1)]
data = {name: rng.integers(0, size, rows) for name, size in kinds.items()}
data["price"] = rng.random(rows).astype(np.float32)
clicked = ((data["user"] + data["item"]) % 3 == 0).astype(np.float32)
print(get_feature_names(columns))

for kind in (DeepFM, DCN, AutoInt, xDeepFM):
    model = kind(columns, columns, dnn_hidden_units=(16, 8), task="binary", seed=1, device="cpu")
    model.compile("adam", "binary_crossentropy", metrics=["binary_crossentropy", "auc"])
    torch.manual_seed(0)
    history = model.fit(data, clicked, batch_size=64, epochs=3, verbose=0, validation_split=0.25, shuffle=False)
    for name, values in sorted(history.history.items()):
        print(kind.__name__, name, [round(float(value), 4) for value in values])
    answers = model.predict(data, batch_size=128)
    print(
        answers.shape,
        answers.dtype,
        f"{answers.mean():.4f}",
        {n: round(float(v), 4) for n, v in model.evaluate(data, clicked).items()},
    )
