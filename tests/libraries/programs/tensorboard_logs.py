"""tensorboard, tensorboardX: scalars, histograms, text, images and graphs written, then read back by TensorBoard."""

import tempfile
import warnings

import numpy as np
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util
from tensorboardX import SummaryWriter as OtherWriter
from torch import nn
from torch.utils.tensorboard import SummaryWriter

warnings.filterwarnings("ignore")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(0, 2, (16,))


def written(writer: SummaryWriter | OtherWriter) -> None:
    for step in range(4):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        writer.add_scalar("loss", loss, step, walltime=float(step))
        writer.add_scalar("half", loss.detach().half().item(), step)
        for name, parameter in model.named_parameters():
            writer.add_histogram(name, parameter, step)
            writer.add_histogram(f"grad/{name}", parameter.grad, step, bins="auto")
    writer.add_scalars("parts", {"a": 1.0, "b": torch.tensor(2.0)}, 0)
    writer.add_text("words", "a **bold** word", 1)
    writer.add_image("picture", torch.rand(3, 6, 5), 0)
    writer.add_images("pictures", torch.rand(2, 1, 4, 4), 0)
    writer.add_pr_curve("curve", y, model(x).softmax(-1)[:, 1], 0, num_thresholds=5)
    writer.add_embedding(x, metadata=[str(label) for label in y.tolist()])
    writer.flush()
    writer.close()


def read(folder: str) -> None:
    found = EventAccumulator(folder, size_guidance={"histograms": 0, "images": 0, "tensors": 0}).Reload()
    tags = found.Tags()
    print({kind: sorted(names) for kind, names in tags.items() if isinstance(names, list) and names})
    print([(event.step, round(event.value, 4)) for event in found.Scalars("loss")])
    for name in tags["histograms"][:2]:
        histogram = found.Histograms(name)[-1].histogram_value
        print(name, histogram.num, round(histogram.sum, 4), round(histogram.min, 4), len(histogram.bucket))
    for name in tags["images"]:
        print(name, [(image.width, image.height, len(image.encoded_image_string) > 60) for image in found.Images(name)])
    for name in tags["tensors"]:
        value = tensor_util.make_ndarray(found.Tensors(name)[0].tensor_proto)
        print(name, value.shape, value.astype(np.float32).sum().round(3) if value.dtype.kind == "f" else value)


for kind in (SummaryWriter, OtherWriter):
    with tempfile.TemporaryDirectory() as folder:
        written(kind(folder))
        read(folder)
