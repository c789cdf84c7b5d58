"""torchmetrics: classification: collections with compute groups, curves, many labels, top k, sums over batches."""

import warnings

import torch
from torchmetrics import MetricCollection, classification
from torchmetrics import functional as F

warnings.filterwarnings("ignore")
torch.manual_seed(0)


def show(name: str, value: object) -> None:
    if isinstance(value, dict):
        for key, part in value.items():
            show(f"{name} {key}", part)
    elif isinstance(value, (tuple, list)):
        for place, part in enumerate(value):
            show(f"{name} {place}", part)
    else:
        print(name, value)


classes = MetricCollection(
    {
        "accuracy": classification.MulticlassAccuracy(4, average="micro"),
        "f1": classification.MulticlassF1Score(4),
        "auroc": classification.MulticlassAUROC(4),
        "average precision": classification.MulticlassAveragePrecision(4, average=None, thresholds=20),
        "kappa": classification.MulticlassCohenKappa(4),
        "matthews": classification.MulticlassMatthewsCorrCoef(4),
        "calibration": classification.MulticlassCalibrationError(4, n_bins=5),
        "confusion": classification.MulticlassConfusionMatrix(4, normalize="true"),
        "jaccard": classification.MulticlassJaccardIndex(4),
        "top2": classification.MulticlassAccuracy(4, top_k=2, average=None),
    }
)
trained = classes.clone(prefix="train/")
for _ in range(3):
    scores, labels = torch.randn(20, 4).softmax(-1), torch.randint(0, 4, (20,))
    step = classes(scores, labels)
    trained.update(scores, labels)
    print("batch", {name: round(step[name].item(), 4) for name in ("accuracy", "f1", "auroc", "kappa")})
show("all", classes.compute())
show("train", {k: v for k, v in trained.compute().items() if v.ndim == 0})
print({leader: list(group) for leader, group in trained.compute_groups.items()})
classes.reset()

guesses, truths = torch.rand(40), torch.randint(0, 2, (40,))
show("roc", F.classification.binary_roc(guesses, truths, thresholds=5))
show("curve", F.precision_recall_curve(guesses[:12], truths[:12], task="binary"))
show("stat", F.stat_scores(guesses, truths, task="binary"))
show("specificity", classification.BinaryRecallAtFixedPrecision(min_precision=0.5)(guesses, truths))
many, present = torch.rand(16, 3), torch.randint(0, 2, (16, 3))
show("labels", F.classification.multilabel_ranking_average_precision(many, present, 3))
show("exact", F.exact_match(many, present, task="multilabel", num_labels=3))
