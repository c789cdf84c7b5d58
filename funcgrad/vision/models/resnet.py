"""ResNet, ResNeXt and wide ResNet. Sources: https://arxiv.org/abs/1512.03385, 1611.05431 and 1605.07146."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad import nn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.vision.models.initial import kaiming
from funcgrad.vision.models.weights import model, weights_of

Norm = Callable[[int], nn.Module]

ResNet18_Weights, ResNet34_Weights = weights_of("ResNet18"), weights_of("ResNet34")
ResNet50_Weights, ResNet101_Weights = weights_of("ResNet50"), weights_of("ResNet101")
ResNet152_Weights = weights_of("ResNet152")
ResNeXt50_32X4D_Weights = weights_of("ResNeXt50_32X4D")
ResNeXt101_32X8D_Weights = weights_of("ResNeXt101_32X8D")
ResNeXt101_64X4D_Weights = weights_of("ResNeXt101_64X4D")
Wide_ResNet50_2_Weights = weights_of("Wide_ResNet50_2")
Wide_ResNet101_2_Weights = weights_of("Wide_ResNet101_2")


def conv3x3(in_planes: int, out_planes: int, stride: int = 1, groups: int = 1, dilation: int = 1) -> nn.Conv2d:
    """Return a 3 x 3 convolution that keeps the size at stride 1."""
    return nn.Conv2d(
        in_planes, out_planes, 3, stride=stride, padding=dilation, groups=groups, bias=False, dilation=dilation
    )


def conv1x1(in_planes: int, out_planes: int, stride: int = 1) -> nn.Conv2d:
    """Return a 1 x 1 convolution."""
    return nn.Conv2d(in_planes, out_planes, 1, stride=stride, bias=False)


class BasicBlock(nn.Module):
    """Two 3 x 3 convolutions and what goes past them."""

    expansion = 1

    def __init__(
        self, inplanes: int, planes: int, stride: int = 1, downsample: nn.Module | None = None, groups: int = 1,
        base_width: int = 64, dilation: int = 1, norm_layer: Norm | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        norm = norm_layer or nn.BatchNorm2d
        if groups != 1 or base_width != 64 or dilation != 1:
            raise ValueError("BasicBlock only supports groups=1, base_width=64 and dilation=1")
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """Return relu(x + convolutions(x))."""
        past = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(out)) + past)


class Bottleneck(nn.Module):
    """A 3 x 3 convolution between two of 1 x 1 that narrow and widen, and what goes past them."""

    expansion = 4

    def __init__(
        self, inplanes: int, planes: int, stride: int = 1, downsample: nn.Module | None = None, groups: int = 1,
        base_width: int = 64, dilation: int = 1, norm_layer: Norm | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        norm = norm_layer or nn.BatchNorm2d
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = norm(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """Return relu(x + convolutions(x))."""
        past = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        return self.relu(self.bn3(self.conv3(out)) + past)


class ResNet(nn.Module):
    """Four rows of blocks between a wide convolution and a linear layer. Shape: (N, 3, H, W) to (N, num_classes)."""

    def __init__(
        self, block: type[BasicBlock] | type[Bottleneck], layers: Sequence[int], num_classes: int = 1000,
        zero_init_residual: bool = False, groups: int = 1, width_per_group: int = 64,
        replace_stride_with_dilation: Sequence[bool] | None = None, norm_layer: Norm | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._norm_layer: Norm = norm_layer or nn.BatchNorm2d
        self.inplanes, self.dilation = 64, 1
        self.groups, self.base_width = groups, width_per_group
        dilate = replace_stride_with_dilation or (False, False, False)
        if len(dilate) != 3:
            raise ValueError(f"replace_stride_with_dilation should be None or a 3-element tuple, got {dilate}")
        self.conv1 = nn.Conv2d(3, self.inplanes, 7, stride=2, padding=3, bias=False)
        self.bn1 = self._norm_layer(self.inplanes)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, 64, layers[0])
        self.layer2 = self._make_layer(block, 128, layers[1], 2, dilate[0])
        self.layer3 = self._make_layer(block, 256, layers[2], 2, dilate[1])
        self.layer4 = self._make_layer(block, 512, layers[3], 2, dilate[2])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        kaiming(self)
        if zero_init_residual:
            for module in self.modules():
                if isinstance(module, (BasicBlock, Bottleneck)):
                    last: Any = module.bn3 if isinstance(module, Bottleneck) else module.bn2
                    nn.init.zeros_(last.weight)

    def _make_layer(self, block: Any, planes: int, blocks: int, stride: int = 1, dilate: bool = False) -> nn.Sequential:
        norm, before = self._norm_layer, self.dilation
        if dilate:
            self.dilation *= stride
            stride = 1
        downsample = None
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(
                conv1x1(self.inplanes, planes * block.expansion, stride), norm(planes * block.expansion)
            )
        same = (self.groups, self.base_width)
        made = [block(self.inplanes, planes, stride, downsample, *same, before, norm)]
        self.inplanes = planes * block.expansion
        for _ in range(1, blocks):
            made.append(block(self.inplanes, planes, 1, None, *same, self.dilation, norm))
        return nn.Sequential(*made)

    def forward(self, x: Tensor) -> Tensor:
        """Return the classes' scores."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(fg.flatten(self.avgpool(x), 1))


@model(ResNet18_Weights)
def resnet18(**options: Any) -> ResNet:
    """Return a ResNet with 18 layers."""
    return ResNet(BasicBlock, [2, 2, 2, 2], **options)


@model(ResNet34_Weights)
def resnet34(**options: Any) -> ResNet:
    """Return a ResNet with 34 layers."""
    return ResNet(BasicBlock, [3, 4, 6, 3], **options)


@model(ResNet50_Weights)
def resnet50(**options: Any) -> ResNet:
    """Return a ResNet with 50 layers."""
    return ResNet(Bottleneck, [3, 4, 6, 3], **options)


@model(ResNet101_Weights)
def resnet101(**options: Any) -> ResNet:
    """Return a ResNet with 101 layers."""
    return ResNet(Bottleneck, [3, 4, 23, 3], **options)


@model(ResNet152_Weights)
def resnet152(**options: Any) -> ResNet:
    """Return a ResNet with 152 layers."""
    return ResNet(Bottleneck, [3, 8, 36, 3], **options)


@model(ResNeXt50_32X4D_Weights)
def resnext50_32x4d(**options: Any) -> ResNet:
    """Return a ResNeXt with 50 layers and 32 groups."""
    return ResNet(Bottleneck, [3, 4, 6, 3], groups=32, width_per_group=4, **options)


@model(ResNeXt101_32X8D_Weights)
def resnext101_32x8d(**options: Any) -> ResNet:
    """Return a ResNeXt with 101 layers and 32 groups."""
    return ResNet(Bottleneck, [3, 4, 23, 3], groups=32, width_per_group=8, **options)


@model(ResNeXt101_64X4D_Weights)
def resnext101_64x4d(**options: Any) -> ResNet:
    """Return a ResNeXt with 101 layers and 64 groups."""
    return ResNet(Bottleneck, [3, 4, 23, 3], groups=64, width_per_group=4, **options)


@model(Wide_ResNet50_2_Weights)
def wide_resnet50_2(**options: Any) -> ResNet:
    """Return a ResNet with 50 layers, twice as wide inside its blocks."""
    return ResNet(Bottleneck, [3, 4, 6, 3], width_per_group=128, **options)


@model(Wide_ResNet101_2_Weights)
def wide_resnet101_2(**options: Any) -> ResNet:
    """Return a ResNet with 101 layers, twice as wide inside its blocks."""
    return ResNet(Bottleneck, [3, 4, 23, 3], width_per_group=128, **options)
