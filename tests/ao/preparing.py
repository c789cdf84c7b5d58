"""What fused, watched and rounded models say, recorded in torch and compared in funcgrad."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tests.ao.models import numbers
from tests.ao.watching import told

BACKENDS = (("x86", 1), ("qnnpack", 1), ("fbgemm", 0), ("onednn", 1))
GROUPS = [["conv", "bn", "relu"], ["conv2", "bn2"], ["fc", "relu3"]]
FUSED = (
    "default_fused_act_fake_quant", "default_fused_wt_fake_quant", "default_fused_per_channel_wt_fake_quant",
    "fused_wt_fake_quant_range_neg_127_to_127", "fused_per_channel_wt_fake_quant_range_neg_127_to_127",
)  # fmt: skip


def network(torch: Any) -> Any:
    """Return a small network of images, with weights that are said."""
    nn, quantization = torch.nn, torch.ao.quantization

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
            self.conv, self.bn, self.relu = nn.Conv2d(2, 3, 3, padding=1, bias=False), nn.BatchNorm2d(3), nn.ReLU()
            self.conv2, self.bn2, self.drop = nn.Conv2d(3, 2, 3), nn.BatchNorm2d(2), nn.Dropout(0.0)
            self.sigmoid, self.sum = nn.Sigmoid(), torch.ao.nn.quantized.FloatFunctional()
            self.fc, self.relu3, self.head = nn.Linear(32, 5), nn.ReLU(), nn.Linear(5, 2)

        def forward(self, x: Any) -> Any:
            x = self.bn2(self.conv2(self.relu(self.bn(self.conv(self.quant(x))))))
            x = self.sigmoid(self.drop(self.sum.add(x, x)))
            return self.dequant(self.head(self.relu3(self.fc(x.flatten(1)))))

    made = Network()
    with torch.no_grad():
        for seed, parameter in enumerate(made.parameters()):
            parameter.copy_(numbers(torch, seed, *parameter.shape) * 0.3 + (0.5 if parameter.ndim == 1 else 0))
    for _ in range(3):
        made(pictures(torch))
    return made.eval()


def pictures(torch: Any) -> Any:
    """Return a batch of four. Shape: (4, 2, 6, 6)."""
    return numbers(torch, 50, 4, 2, 6, 6)


def outcomes(torch: Any) -> dict[str, Any]:
    """Return by name what each part says."""
    asked: dict[str, Callable[[], Any]] = {
        "fused": lambda: _fused(torch),
        **{f"watched {name}": lambda name=name: _watched(torch, name) for name, _ in BACKENDS},
        **{f"trained {one}": lambda one=one: _trained(torch, *one) for one in BACKENDS},
        **{name: lambda name=name: _rounded(torch, name) for name in FUSED},
        **{f"histogram {bins}": lambda bins=bins: _counted(torch, bins) for bins in (2048, 128)},
        **{f"layer {name}": lambda make=make: repr(make()) for name, make in _layers(torch).items()},
        **{name: lambda make=make: repr(make()) for name, make in _refused(torch).items()},
    }
    return {name: told(ask) for name, ask in asked.items()}


def _listed(*tensors: Any) -> list[list[float]]:
    return [x.detach().double().flatten().tolist() for x in tensors]


def _fused(torch: Any) -> list[Any]:
    model, quantization = network(torch), torch.ao.quantization
    fused, trained = quantization.fuse_modules(model, GROUPS), quantization.fuse_modules_qat(model, GROUPS)
    x = pictures(torch)
    return [repr(fused), repr(trained), *_listed(model(x), fused(x), trained(x))]


def _watched(torch: Any, backend: str) -> list[Any]:
    quantization = torch.ao.quantization
    model = quantization.fuse_modules(network(torch), GROUPS)
    model.qconfig = quantization.get_default_qconfig(backend)
    model = quantization.prepare(model)
    shown = repr(model)
    for factor in (1, 2, 3):
        model(pictures(torch) * factor)
    watching = [module for module in model.modules() if isinstance(module, quantization.HistogramObserver)]
    scales = [numbers for module in watching for numbers in _listed(*module.calculate_qparams())]
    return [shown, len(watching), sorted(model.state_dict()), *scales]


def _trained(torch: Any, backend: str, version: int) -> list[Any]:
    quantization, x = torch.ao.quantization, pictures(torch)
    model = quantization.fuse_modules_qat(network(torch).train(), GROUPS)
    model.qconfig = quantization.get_default_qat_qconfig(backend, version)
    model = quantization.prepare_qat(model)
    found: list[Any] = [repr(model), sorted(model.state_dict())]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for factor in (1, 2, 3):
        optimizer.zero_grad()
        loss = model(x * factor).pow(2).mean()
        loss.backward()
        optimizer.step()
        found += _listed(loss)
    model.apply(quantization.disable_observer)
    model.apply(torch.ao.nn.intrinsic.qat.freeze_bn_stats)
    found += _listed(model(x), model.eval()(x), model.conv.weight_fake_quant.scale, model.conv.to_float()(x))
    found += [repr(part.to_float()) for part in (model.conv, model.conv2, model.fc, model.head)]
    model.conv._enable_slow_path_for_better_numerical_stability = True
    found += _listed(model(x))
    model.train().apply(torch.ao.nn.intrinsic.qat.update_bn_stats)
    return [*found, *_listed(model(x), model.conv.bn.running_mean)]


def _rounded(torch: Any, name: str) -> list[Any]:
    found: list[Any] = []
    rounding = getattr(torch.ao.quantization.fake_quantize, name)()
    for factor, shift in ((1, 0), (3, 1), (0.001, -0.002), (1, 5), (1, -5), (0, 0)):
        x = (numbers(torch, 7, 3, 8) * factor + shift).requires_grad_()
        rounded = rounding(x)
        rounded.sum().backward()
        found += _listed(rounded, rounding.scale, rounding.zero_point, x.grad)
    return found


def _counted(torch: Any, bins: int) -> list[Any]:
    found: list[Any] = []
    kinds = [
        (getattr(torch, f"per_tensor_{kind}"), dtype)
        for kind in ("affine", "symmetric")
        for dtype in ("qint8", "quint8")
    ]
    for seed, (scheme, dtype) in enumerate(kinds):
        watching = torch.ao.quantization.HistogramObserver(bins, dtype=getattr(torch, dtype), qscheme=scheme)
        found += _listed(*watching.calculate_qparams())
        wide, ones = numbers(torch, seed, 500), torch.ones(4)
        wide[0], ones[1] = 20.0, float("inf")
        for x in (wide, wide * 0.5, numbers(torch, seed + 9, 300) * 40 - 5, ones, torch.ones(0)):
            watching(x)
            found += _listed(*watching.calculate_qparams(), watching.histogram.sum(), watching.max_val)
        copied = torch.ao.quantization.HistogramObserver(bins)
        copied.load_state_dict(copy.deepcopy(watching.state_dict()))
        found += _listed(copied.min_val, copied.histogram)
    return found


def _layers(torch: Any) -> dict[str, Callable[[], Any]]:
    nn, quantization, qat = torch.nn, torch.ao.quantization, torch.ao.nn.qat
    rows = quantization.default_embedding_qat_qconfig
    pair = {"qconfig": quantization.default_qat_qconfig}
    table = nn.EmbeddingBag(3, 2, mode="sum")
    table.qconfig = rows
    wrapped = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    wrapped[0].qconfig = quantization.default_qconfig
    intrinsic = torch.ao.nn.intrinsic
    return {
        "Embedding": lambda: qat.Embedding(3, 2, qconfig=rows).to_float(),
        "EmbeddingBag": lambda: qat.EmbeddingBag.from_float(table).to_float(),
        "LinearBn1d": lambda: intrinsic.qat.LinearBn1d(3, 2, **pair),
        "ConvBnReLU1d": lambda: intrinsic.qat.ConvBnReLU1d(3, 2, 3, bias=True, **pair),
        "LinearReLU": lambda: intrinsic.qat.LinearReLU(3, 2, **pair).to_float(),
        "add": lambda: quantization.add_quant_dequant(wrapped),
        "transposed": lambda: quantization.fuse_modules(
            nn.Sequential(nn.ConvTranspose2d(1, 1, 1), nn.BatchNorm2d(1)).eval(), ["0", "1"]
        ),
    }


def _refused(torch: Any) -> dict[str, Callable[[], Any]]:
    nn, quantization = torch.nn, torch.ao.quantization
    qat, intrinsic = torch.ao.nn.qat, torch.ao.nn.intrinsic
    trained, default = quantization.fuse_modules_qat, quantization.default_qconfig
    plain = nn.BatchNorm2d(1, affine=False)
    return {
        "other kinds": lambda: intrinsic.ConvReLU2d(nn.Conv1d(1, 1, 1), nn.ReLU()),
        "three other kinds": lambda: intrinsic.ConvBnReLU2d(nn.Conv1d(1, 1, 1), nn.ReLU(), nn.ReLU()),
        "training": lambda: quantization.fuse_modules(nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1)), ["0", "1"]),
        "sizes": lambda: trained(nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(2)), ["0", "1"]),
        "affine": lambda: trained(nn.Sequential(nn.Conv2d(1, 1, 1), plain, nn.ReLU()), ["0", "1", "2"]),
        "evaluation": lambda: quantization.prepare_qat(nn.Linear(1, 1).eval()),
        "backend": lambda: quantization.get_default_qconfig("a"),
        "version": lambda: quantization.get_default_qconfig("x86", 2),
        "version of training": lambda: quantization.get_default_qat_qconfig("x86", 2),
        "no makers": lambda: qat.Linear(1, 1),
        "no makers of a convolution": lambda: intrinsic.qat.ConvBn2d(1, 1, 1),
        "from another layer": lambda: qat.Linear.from_float(nn.Conv2d(1, 1, 1)),
        "from one without": lambda: qat.Linear.from_float(nn.Linear(1, 1)),
        "from what is not fused": lambda: intrinsic.qat.ConvBn2d.from_float(nn.Linear(1, 1)),
        "whole tables": lambda: qat.Embedding(3, 2, qconfig=default),
        "forward": lambda: torch.ao.nn.quantized.FloatFunctional()(1),
        "dynamic": lambda: quantization.HistogramObserver(is_dynamic=True),
        "channels": lambda: quantization.HistogramObserver(qscheme=torch.per_channel_affine),
    }
