"""captum: integrated gradients, DeepLift, occlusion, Shapley values, attributions to layers and neurons."""

import warnings

import numpy as np
import torch
from captum.attr import (
    LRP,
    DeepLift,
    DeepLiftShap,
    FeatureAblation,
    FeaturePermutation,
    GradientShap,
    GuidedBackprop,
    GuidedGradCam,
    InputXGradient,
    IntegratedGradients,
    InternalInfluence,
    KernelShap,
    LayerActivation,
    LayerConductance,
    LayerDeepLift,
    LayerGradCam,
    LayerIntegratedGradients,
    NeuronConductance,
    NeuronGradient,
    NoiseTunnel,
    Occlusion,
    Saliency,
    ShapleyValueSampling,
)
from captum.concept import CAV  # noqa: F401 - imported as users do
from captum.metrics import infidelity, sensitivity_max
from captum.robust import FGSM, PGD
from torch import nn

warnings.filterwarnings("ignore")
torch.manual_seed(0)
np.random.seed(0)


class Pictures(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.relu1 = nn.Conv2d(1, 4, 3, padding=1), nn.ReLU()
        self.pool1 = nn.MaxPool2d(2)
        self.conv2, self.relu2 = nn.Conv2d(4, 6, 3), nn.ReLU()
        self.fc = nn.Linear(6 * 9, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool1(self.relu1(self.conv1(x)))
        return self.fc(self.relu2(self.conv2(x)).flatten(1))


class Words(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.lstm, self.out = nn.Embedding(20, 6), nn.LSTM(6, 8, batch_first=True), nn.Linear(8, 2)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.out(self.lstm(self.embedding(words))[0][:, -1])


def show(name: str, values: torch.Tensor) -> None:
    flat = values.detach().flatten()
    print(f"{name}: {tuple(values.shape)} sum {flat.sum():.4f} size {flat.abs().sum():.4f}", flat[:4])


model, x, target = Pictures().eval(), torch.rand(3, 1, 10, 10), torch.tensor([0, 2, 1])
x.requires_grad_()
integrated = IntegratedGradients(model)
values, delta = integrated.attribute(x, target=target, n_steps=12, return_convergence_delta=True)
show("integrated", values)
show("delta", delta)
show("in parts", integrated.attribute(x, target=target, n_steps=12, internal_batch_size=9, method="riemann_trapezoid"))
show("saliency", Saliency(model).attribute(x, target=target))
show("input x gradient", InputXGradient(model).attribute(x, target=target))
lifted, delta = DeepLift(model).attribute(x, x * 0.1, target=target, return_convergence_delta=True)
show("deep lift", lifted)
show("its delta", delta)
show("deep lift shap", DeepLiftShap(model).attribute(x, torch.rand(2, 1, 10, 10), target=target))
show(
    "gradient shap",
    GradientShap(model).attribute(x, torch.zeros(2, 1, 10, 10), n_samples=4, stdevs=0.05, target=target),
)
show("guided", GuidedBackprop(model).attribute(x, target=target))
show("guided grad cam", GuidedGradCam(model, model.conv2).attribute(x, target=target))
show("occlusion", Occlusion(model).attribute(x, (1, 4, 4), strides=(1, 3, 3), target=target, baselines=0.5))
squares = (torch.arange(100).view(10, 10) // 50 * 2 + torch.arange(10) // 5)[None, None]
show("ablation", FeatureAblation(model).attribute(x, feature_mask=squares, target=target))
show("permutation", FeaturePermutation(model).attribute(x, feature_mask=squares, target=target))
show("shapley", ShapleyValueSampling(model).attribute(x, feature_mask=squares, target=target, n_samples=3))
show("kernel shap", KernelShap(model).attribute(x[:1], feature_mask=squares, target=0, n_samples=12))
show(
    "noise", NoiseTunnel(Saliency(model)).attribute(x, nt_samples=3, stdevs=0.1, nt_type="smoothgrad_sq", target=target)
)
relevance = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
show("relevance", LRP(relevance).attribute(torch.rand(2, 6), target=1))

cam = LayerGradCam(model, model.conv2).attribute(x, target=target)
show("grad cam", LayerGradCam.interpolate(cam, (10, 10), "bilinear"))
show("activation", LayerActivation(model, model.relu1).attribute(x))
show("conductance", LayerConductance(model, model.conv1).attribute(x, target=target, n_steps=6))
show("influence", InternalInfluence(model, model.pool1).attribute(x, target=target, n_steps=6))
show("layer deep lift", LayerDeepLift(model, model.fc).attribute(x, target=target, attribute_to_layer_input=True))
show("neuron", NeuronGradient(model, model.conv2).attribute(x, (2, 1, 1)))
show("neuron conductance", NeuronConductance(model, model.conv1).attribute(x, (1, 3, 3), target=target, n_steps=6))


def perturbed(inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    noise = 0.05 * torch.randn_like(inputs)
    return noise, inputs - noise


show("infidelity", infidelity(model, perturbed, x, values, target=target, n_perturb_samples=3))
show("sensitivity", sensitivity_max(Saliency(model).attribute, x, target=target, n_perturb_samples=3))
show("attack", FGSM(model, lower_bound=0, upper_bound=1).perturb(x, 0.05, target=target))
show("projected", PGD(model, nn.CrossEntropyLoss(reduction="none")).perturb(x, 0.1, 0.05, 3, target=target))

reader, words = Words().eval(), torch.randint(1, 20, (2, 5))
layers = LayerIntegratedGradients(reader, reader.embedding)
show("words", layers.attribute(words, words * 0, target=1, n_steps=6).sum(-1))
