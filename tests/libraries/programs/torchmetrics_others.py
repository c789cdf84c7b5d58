"""torchmetrics: regression, retrieval, text, image and sound metrics; wrappers, a tracker, a metric of one's own."""

import warnings

import torch
import torchmetrics
from torch import nn
from torchmetrics import MeanMetric, Metric, MetricCollection, MetricTracker, MinMaxMetric, classification
from torchmetrics import functional as F
from torchmetrics.audio import ScaleInvariantSignalDistortionRatio, SignalNoiseRatio
from torchmetrics.clustering import MutualInfoScore, RandScore
from torchmetrics.image import PeakSignalNoiseRatio, StructuralSimilarityIndexMeasure, TotalVariation
from torchmetrics.nominal import CramersV
from torchmetrics.regression import KLDivergence, MeanSquaredError, PearsonCorrCoef, R2Score, SpearmanCorrCoef
from torchmetrics.retrieval import RetrievalMAP, RetrievalMRR, RetrievalNormalizedDCG
from torchmetrics.text import BLEUScore, CharErrorRate, EditDistance, Perplexity, WordErrorRate
from torchmetrics.wrappers import BootStrapper, ClasswiseWrapper, MultioutputWrapper

warnings.filterwarnings("ignore")
torch.manual_seed(0)


class Furthest(Metric):
    """A metric of one's own: the largest absolute error, and the values that led to it."""

    def __init__(self) -> None:
        super().__init__()
        self.add_state("worst", torch.tensor(0.0), dist_reduce_fx="max")
        self.add_state("seen", [], dist_reduce_fx="cat")

    def update(self, preds: torch.Tensor, target: torch.Tensor) -> None:
        errors = (preds - target).abs()
        self.worst = torch.maximum(self.worst, errors.max())
        self.seen.append(errors)

    def compute(self) -> torch.Tensor:
        return torch.stack([self.worst, torchmetrics.utilities.dim_zero_cat(self.seen).median()])


def show(name: str, value: object) -> None:
    if isinstance(value, dict):
        for key, part in value.items():
            show(f"{name} {key}", part)
    elif isinstance(value, (tuple, list)):
        for place, part in enumerate(value):
            show(f"{name} {place}", part)
    else:
        print(name, value)


x, y = torch.randn(30, 2), torch.randn(30, 2)
errors = MetricCollection([MeanSquaredError(num_outputs=2), R2Score(), PearsonCorrCoef(2), SpearmanCorrCoef(2)])
show("regression", errors(x, x + 0.3 * y))
show("per output", MultioutputWrapper(MeanSquaredError(), 2)(x, y))
show("kl", KLDivergence()(x.softmax(-1), y.softmax(-1)))
show("cosine", F.pairwise_cosine_similarity(x[:3], y[:2]))

queries = torch.arange(30) // 6
found, relevant = torch.rand(30), torch.randint(0, 2, (30,))
for metric in (RetrievalMAP(), RetrievalMRR(), RetrievalNormalizedDCG(top_k=3)):
    show(type(metric).__name__, metric(found, relevant, indexes=queries))

said, meant = ["the cat sat on a mat", "hello world"], ["the cat sat on the mat", "hello there world"]
for metric in (WordErrorRate(), CharErrorRate(), EditDistance()):
    show(type(metric).__name__, metric(said, meant))
show("bleu", BLEUScore(2)(said, [[line] for line in meant]))
show("perplexity", Perplexity(ignore_index=-1)(torch.randn(2, 5, 7), torch.randint(0, 7, (2, 5))))

image = torch.rand(2, 3, 24, 24)
noisy = (image + 0.1 * torch.randn_like(image)).clamp(0, 1)
for metric in (PeakSignalNoiseRatio(data_range=1.0), StructuralSimilarityIndexMeasure(data_range=1.0)):
    show(type(metric).__name__, metric(noisy, image))
show("variation", TotalVariation()(image))
sound = torch.randn(2, 100)
show("sound", [SignalNoiseRatio()(sound + 0.1, sound), ScaleInvariantSignalDistortionRatio()(sound + 0.1, sound)])
groups, others = torch.randint(0, 3, (30,)), torch.randint(0, 3, (30,))
show("clusters", [MutualInfoScore()(groups, others), RandScore()(groups, others), CramersV(3)(groups, others)])

named = ClasswiseWrapper(classification.MulticlassRecall(3, average=None), labels=["a", "b", "c"])
show("named", named(torch.rand(10, 3), torch.randint(0, 3, (10,))))
spread = BootStrapper(MeanSquaredError(), num_bootstraps=4)
spread.update(x, y)
print("bootstrap", sorted(spread.compute()))
tracker = MetricTracker(MeanSquaredError(), maximize=False)
for scale in (1.0, 0.2, 0.5):
    tracker.increment()
    tracker.update(x, x + scale)
print("best", tracker.best_metric(return_step=True), tracker.compute_all())
show("min and max", MinMaxMetric(MeanMetric())(torch.tensor([1.0, 3.0])))

model, own = nn.Linear(2, 2), Furthest()
total = own + MeanMetric()
model.own = own
for _ in range(2):
    print("own", model.own(model(x), y))
own.persistent(True)
print(list(model.state_dict()), own.compute(), own.update_count, own)
F.mean_squared_error(model(x), y).backward()
print(model.weight.grad, own.to(torch.float64).set_dtype(torch.float64).worst.dtype)
own.reset()
print(own.worst, own.seen, total)
