"""torchvision.models: the classic networks, with torchvision's names, parameters and initial values."""

from __future__ import annotations

from funcgrad.vision.models import (
    convnext,
    densenet,
    efficientnet,
    feature_extraction,
    inception,
    mobilenet,
    resnet,
    squeezenet,
    swin_transformer,
    vgg,
    vision_transformer,
)
from funcgrad.vision.models.alexnet import AlexNet
from funcgrad.vision.models.convnext import ConvNeXt
from funcgrad.vision.models.densenet import DenseNet
from funcgrad.vision.models.efficientnet import EfficientNet
from funcgrad.vision.models.googlenet import GoogLeNet, GoogLeNetOutputs
from funcgrad.vision.models.inception import Inception3, InceptionOutputs
from funcgrad.vision.models.mobilenet import MobileNetV2, MobileNetV3
from funcgrad.vision.models.resnet import ResNet
from funcgrad.vision.models.squeezenet import SqueezeNet
from funcgrad.vision.models.swin_transformer import SwinTransformer
from funcgrad.vision.models.vgg import VGG
from funcgrad.vision.models.vision_transformer import VisionTransformer
from funcgrad.vision.models.weights import (
    BUILDERS,
    ENUMS,
    Weights,
    WeightsEnum,
    get_model,
    get_model_builder,
    get_model_weights,
    get_weight,
    list_models,
)

globals().update(BUILDERS)
globals().update(ENUMS)

__all__ = [
    "VGG", "AlexNet", "ConvNeXt", "DenseNet", "EfficientNet", "GoogLeNet", "GoogLeNetOutputs", "Inception3",
    "InceptionOutputs",
    "MobileNetV2", "MobileNetV3", "ResNet", "SqueezeNet", "SwinTransformer", "VisionTransformer", "Weights",
    "WeightsEnum", "convnext", "densenet", "efficientnet", "feature_extraction", "get_model", "get_model_builder",
    "get_model_weights", "get_weight", "inception", "list_models", "mobilenet", "resnet", "squeezenet",
    "swin_transformer", "vgg", "vision_transformer",
]  # fmt: skip
__all__ += [*BUILDERS, *ENUMS]
