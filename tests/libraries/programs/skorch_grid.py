"""skorch: classifiers in sklearn's pipelines and grid searches; callbacks, checkpoints, pickles and a regressor."""

import pickle
import tempfile

import numpy as np
import torch
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor
from skorch.callbacks import Checkpoint, EarlyStopping, EpochScoring, Freezer, GradientNormClipping, LRScheduler
from skorch.dataset import ValidSplit
from skorch.helper import predefined_split
from torch import nn

torch.manual_seed(0)
X, y = make_classification(160, 10, n_informative=6, n_classes=3, random_state=0)
X, y = X.astype(np.float32), y.astype(np.int64)


class Net(nn.Module):
    def __init__(self, width: int = 16, dropout: float = 0.0) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(10, width), nn.Linear(width, 3)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.dropout(self.first(x).relu()))


def shown(net: NeuralNetClassifier) -> None:
    for row in net.history:
        print({k: round(v, 4) for k, v in row.items() if isinstance(v, float) and k != "dur"}, row["train_batch_count"])


with tempfile.TemporaryDirectory() as folder:
    net = NeuralNetClassifier(
        Net, module__width=24, criterion=nn.CrossEntropyLoss, optimizer=torch.optim.Adam, lr=0.02, batch_size=32,
        max_epochs=6, train_split=ValidSplit(4, stratified=True), verbose=0,
        iterator_train__shuffle=True,
        callbacks=[
            ("f1", EpochScoring("f1_macro", lower_is_better=False)), ("clip", GradientNormClipping(1.0)),
            ("rate", LRScheduler(torch.optim.lr_scheduler.StepLR, step_size=2, gamma=0.5)),
            ("stop", EarlyStopping(patience=3)), ("keep", Checkpoint(dirname=folder, monitor="valid_loss_best")),
        ],
    )  # fmt: skip
    net.fit(X, y)
    shown(net)
    print(net.history[-1]["event_lr"], net.predict(X[:8]), net.predict_proba(X[:2]), accuracy_score(y, net.predict(X)))
    again = NeuralNetClassifier(Net, module__width=24, criterion=nn.CrossEntropyLoss, optimizer=torch.optim.Adam)
    again.initialize().load_params(checkpoint=Checkpoint(dirname=folder))
    print("loaded", f"{again.score(X, y):.4f}", len(again.history))
    copy = pickle.loads(pickle.dumps(net))
    print("pickled", np.array_equal(copy.predict(X), net.predict(X)))
    copy.set_params(max_epochs=1, lr=0.001).partial_fit(X, y)
    print(
        "more",
        len(copy.history),
        f"{copy.history[-1, 'train_loss']:.4f}",
        copy.history[-1, "batches", :2, "train_loss"],
    )

searched = NeuralNetClassifier(
    Net,
    criterion=nn.CrossEntropyLoss,
    max_epochs=3,
    batch_size=32,
    train_split=None,
    verbose=0,
    optimizer__momentum=0.9,
)
steps = Pipeline([("scale", StandardScaler()), ("net", searched)])
search = GridSearchCV(
    steps, {"net__lr": [0.01, 0.1], "net__module__width": [8, 16]}, cv=2, scoring="accuracy", refit=True
)
torch.manual_seed(1)
search.fit(X, y)
print(search.best_params_, search.cv_results_["mean_test_score"].round(4), f"{search.score(X, y):.4f}")
torch.manual_seed(2)
print("crossed", cross_val_score(steps, X, y, cv=3).round(4))

Z, t = make_regression(120, 10, n_targets=3, random_state=0)
Z, t = Z.astype(np.float32), (t / t.std()).astype(np.float32)
known = torch.utils.data.TensorDataset(torch.from_numpy(Z[80:]), torch.from_numpy(t[80:]))
regressor = NeuralNetRegressor(
    Net, lr=0.05, max_epochs=4, batch_size=20, verbose=0, train_split=predefined_split(known),
    optimizer__weight_decay=1e-3,
    callbacks=[("freeze", Freezer("first.bias"))],
)  # fmt: skip
regressor.fit(torch.from_numpy(Z[:80]), torch.from_numpy(t[:80]))
shown(regressor)
print(f"r2 {regressor.score(Z[80:], t[80:]):.4f}", regressor.module_.first.bias.requires_grad)
print(type(regressor.forward(Z[:4])).__name__)
regressor.module_.zero_grad()
print(regressor)
