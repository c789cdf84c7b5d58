"""torcheval: metrics updated over batches, merged, saved and loaded, and their functional forms."""

import torch
from torcheval import metrics
from torcheval.metrics import functional as F
from torcheval.metrics.toolkit import clone_metric, reset_metrics

torch.manual_seed(0)
scores, classes = torch.rand(40, 4), torch.randint(0, 4, (40,))
chance, truth = torch.rand(40), torch.randint(0, 2, (40,))
for metric in (
    metrics.MulticlassAccuracy(average="macro", num_classes=4), metrics.MulticlassF1Score(num_classes=4, average=None),
    metrics.MulticlassConfusionMatrix(4), metrics.MulticlassAUPRC(num_classes=4),
    metrics.MulticlassAUROC(num_classes=4), metrics.MulticlassPrecision(num_classes=4, average="weighted"),
    metrics.TopKMultilabelAccuracy(k=2),
):  # fmt: skip
    for begin in (0, 15):
        labels = (
            torch.nn.functional.one_hot(classes, 4) if isinstance(metric, metrics.TopKMultilabelAccuracy) else classes
        )
        metric.update(scores[begin : begin + 15], labels[begin : begin + 15])
    other = clone_metric(metric)
    other.reset()
    other.update(scores[30:], labels[30:])
    print(type(metric).__name__, metric.merge_state([other]).compute())
for metric in (
    metrics.BinaryAUROC(),
    metrics.BinaryAUPRC(),
    metrics.BinaryNormalizedEntropy(),
    metrics.BinaryAccuracy(threshold=0.4),
):
    metric.update(
        chance.double() if "Entropy" in type(metric).__name__ else chance,
        truth.double() if "Entropy" in type(metric).__name__ else truth,
    )
    restored = type(metric)()
    restored.load_state_dict(metric.state_dict())
    print(type(metric).__name__, restored.compute())
print(
    F.binary_precision_recall_curve(chance[:6], truth[:6]),
    F.multiclass_binned_auprc(scores, classes, num_classes=4, threshold=5),
)
print(F.r2_score(scores, scores.flip(0), multioutput="raw_values"), F.mean_squared_error(chance, truth.float()))
print(
    F.bleu_score(
        ["the squirrel is eating the nut"],
        [["a squirrel is eating a nut", "the squirrel is eating a tasty nut"]],
        n_gram=4,
    )
)
print(
    F.word_error_rate(["hello world", "hi"], ["hello there world", "hi"]),
    F.perplexity(scores[None].log(), classes[None]),
)
print(F.peak_signal_noise_ratio(scores, scores.flip(1)), F.retrieval_precision(chance[:8], truth[:8], k=3))
print(F.click_through_rate(truth), F.hit_rate(scores, classes, k=2)[:5], F.reciprocal_rank(scores, classes)[:5])
window = metrics.WindowedMeanSquaredError(max_num_updates=2)
for begin in range(0, 40, 10):
    window.update(chance[begin : begin + 10], truth[begin : begin + 10].float())
print(window.compute())
mean, spread = metrics.Mean(), metrics.Throughput()
mean.update(chance, weight=truth.float())
print(
    mean.compute(),
    metrics.Cat().update(chance[:2]).update(chance[2:3]).compute(),
    metrics.Max().update(chance).compute(),
)
reset_metrics([mean])
