"""The models have torchvision's parameters: their number, names, shapes, and what a picture gives."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import hub
from funcgrad.vision import models, ops
from funcgrad.vision.models import vision_transformer

# As torchvision's documentation lists them
PARAMETERS = {
    "alexnet": 61100840, "convnext_tiny": 28589128, "convnext_small": 50223688, "convnext_base": 88591464,
    "convnext_large": 197767336, "efficientnet_v2_s": 21458488, "efficientnet_v2_m": 54139356,
    "efficientnet_v2_l": 118515272, "densenet121": 7978856, "densenet161": 28681000, "densenet169": 14149480,
    "densenet201": 20013928, "efficientnet_b0": 5288548, "efficientnet_b1": 7794184, "efficientnet_b3": 12233232,
    "efficientnet_b7": 66347960, "mobilenet_v2": 3504872, "mobilenet_v3_large": 5483032,
    "mobilenet_v3_small": 2542856, "resnet101": 44549160, "resnet152": 60192808, "resnet18": 11689512,
    "resnet34": 21797672, "resnet50": 25557032, "resnext101_32x8d": 88791336, "resnext50_32x4d": 25028904,
    "squeezenet1_0": 1248424, "squeezenet1_1": 1235496, "swin_b": 87768224, "swin_s": 49606258, "swin_t": 28288354,
    "vgg11": 132863336, "vgg11_bn": 132868840,
    "vgg13": 133047848, "vgg16": 138357544, "vgg16_bn": 138365992, "vgg19": 143667240, "vit_b_16": 86567656,
    "vit_b_32": 88224232, "vit_l_16": 304326632, "wide_resnet101_2": 126886696, "wide_resnet50_2": 68883240,
}  # fmt: skip
KEYS = {
    "alexnet": ["features.0.weight", "features.10.bias", "classifier.1.weight", "classifier.6.bias"],
    "densenet121": [
        "features.conv0.weight", "features.denseblock1.denselayer1.norm1.weight",
        "features.denseblock4.denselayer16.conv2.weight", "features.transition3.conv.weight",
        "features.norm5.running_var", "classifier.weight",
    ],
    "efficientnet_b0": [
        "features.0.0.weight", "features.1.0.block.1.fc1.weight", "features.2.0.block.3.0.weight",
        "features.8.1.num_batches_tracked", "classifier.1.weight",
    ],
    "efficientnet_v2_s": [
        "features.1.0.block.0.0.weight", "features.2.0.block.1.1.bias", "features.4.0.block.2.fc1.weight",
        "features.7.1.running_mean", "classifier.1.bias",
    ],
    "convnext_tiny": [
        "features.0.0.bias", "features.0.1.weight", "features.1.0.layer_scale", "features.1.0.block.3.weight",
        "features.2.1.weight", "features.7.2.block.5.bias", "classifier.0.weight", "classifier.2.bias",
    ],
    "googlenet": ["conv1.conv.weight", "inception3a.branch2.1.bn.weight", "aux1.fc2.bias", "fc.weight"],
    "mobilenet_v2": [
        "features.0.0.weight", "features.1.conv.0.0.weight", "features.1.conv.1.weight", "features.17.conv.3.bias",
        "features.18.1.running_mean", "classifier.1.weight",
    ],
    "mobilenet_v3_small": ["features.1.block.1.fc2.bias", "features.12.0.weight", "classifier.3.bias"],
    "resnet50": [
        "conv1.weight", "bn1.running_mean", "layer1.0.downsample.0.weight", "layer1.0.downsample.1.num_batches_tracked",
        "layer3.5.conv3.weight", "layer4.2.bn3.bias", "fc.bias",
    ],
    "squeezenet1_1": ["features.3.squeeze.weight", "features.12.expand3x3.bias", "classifier.1.weight"],
    "swin_t": [
        "features.0.0.weight", "features.0.2.weight", "features.1.0.attn.relative_position_bias_table",
        "features.1.1.attn.relative_position_index", "features.2.reduction.weight", "features.5.5.mlp.3.bias",
        "features.7.1.norm2.weight", "norm.weight", "head.bias",
    ],
    "vgg16_bn": ["features.0.weight", "features.1.running_mean", "features.41.running_var", "classifier.6.bias"],
    "vit_b_16": [
        "class_token", "conv_proj.weight", "encoder.pos_embedding", "encoder.layers.encoder_layer_0.ln_1.weight",
        "encoder.layers.encoder_layer_11.self_attention.in_proj_weight",
        "encoder.layers.encoder_layer_3.self_attention.out_proj.bias", "encoder.layers.encoder_layer_0.mlp.0.weight",
        "encoder.layers.encoder_layer_0.mlp.3.bias", "encoder.ln.bias", "heads.head.weight",
    ],
}  # fmt: skip


def without_numbers(name: str, **options: Any) -> Any:
    with torch.device("meta"):
        return models.get_model(name, **options)


@pytest.mark.parametrize(("name", "count"), PARAMETERS.items())
def test_the_number_of_parameters_is_the_known_one(name: str, count: int) -> None:
    assert sum(parameter.numel() for parameter in without_numbers(name).parameters()) == count


def test_googlenet_has_its_two_helpers_or_not() -> None:
    counts = [sum(p.numel() for p in without_numbers("googlenet", aux_logits=a).parameters()) for a in (False, True)]
    assert counts == [6624904, 13004888]


@pytest.mark.parametrize(("name", "keys"), KEYS.items())
def test_the_state_has_torchvisions_keys(name: str, keys: list[str]) -> None:
    assert set(keys) <= set(without_numbers(name).state_dict())


@pytest.mark.parametrize("name", ["resnet18", "squeezenet1_1", "mobilenet_v3_small"])
def test_a_small_picture_gives_scores(name: str) -> None:
    model = models.get_model(name, num_classes=7).eval()
    with torch.no_grad():
        assert model(torch.randn(2, 3, 64, 64)).shape == (2, 7)


def test_shapes_of_the_larger_ones_fit() -> None:
    for name in ("alexnet", "vgg11", "densenet121", "vit_b_32", "efficientnet_b0", "resnext50_32x4d"):
        model = without_numbers(name, num_classes=5).eval()
        assert model(torch.empty(1, 3, 224, 224, device="meta")).shape == (1, 5)
    training = without_numbers("googlenet", num_classes=5).train()
    assert [x.shape[1] for x in training(torch.empty(1, 3, 224, 224, device="meta"))] == [5, 5, 5]


def test_windows_shift_and_pictures_are_filled_up_to_whole_windows() -> None:
    model = models.SwinTransformer([4, 4], 8, (2, 1), (2, 2), [2, 2], num_classes=3, stochastic_depth_prob=0.0)
    picture = torch.zeros(1, 3, 20, 24, requires_grad=True)
    model(picture).square().sum().backward()
    table = model.features[1][1].attn.relative_position_bias_table
    assert table.shape == (9, 2) and table.grad is not None and table.grad.shape == (9, 2)


def test_a_vision_transformer_may_begin_with_convolutions() -> None:
    stem = [vision_transformer.ConvStemConfig(8, 3, 2), vision_transformer.ConvStemConfig(16, 3, 2)]
    model = vision_transformer.VisionTransformer(16, 4, 1, 2, 12, 24, num_classes=3, conv_stem_configs=stem)
    names = [name for name, _ in model.conv_proj.named_parameters()]
    assert names[0] == "conv_bn_relu_0.0.weight" and names[-2:] == ["conv_last.weight", "conv_last.bias"]
    assert (model.mlp_dim, model._process_input(torch.zeros(2, 3, 16, 16)).shape) == (24, (2, 16, 12))
    assert model(torch.zeros(2, 3, 16, 16)).shape == (2, 3)
    encoder = vision_transformer.Encoder(seq_length=5, num_layers=1, num_heads=2, hidden_dim=8, mlp_dim=8, dropout=0.0,
                                         attention_dropout=0.0)  # fmt: skip
    assert encoder(torch.zeros(1, 5, 8)).shape == (1, 5, 8)


def test_inception_has_its_helper_or_not() -> None:
    counts = [sum(p.numel() for p in without_numbers("inception_v3", aux_logits=a).parameters()) for a in (False, True)]
    assert counts[1] == 27161264
    model = without_numbers("inception_v3", num_classes=5).train()
    assert [x.shape for x in model(torch.empty(2, 3, 299, 299, device="meta"))] == [(2, 5), (2, 5)]


def test_results_from_the_middle_come_by_name() -> None:
    model = without_numbers("resnet18")
    x = torch.empty(1, 3, 64, 64, device="meta")
    getter = models.feature_extraction.IntermediateLayerGetter(model, {"layer1": "low", "layer3": "high"})
    assert {name: value.shape for name, value in getter(x).items()} == {"low": (1, 64, 16, 16), "high": (1, 256, 4, 4)}
    assert "layer4" not in getter
    extract = models.feature_extraction.create_feature_extractor(model, {"layer2.0.conv1": "inside", "fc": "scores"})
    assert {name: value.shape for name, value in extract(x).items()} == {"inside": (1, 128, 8, 8), "scores": (1, 1000)}
    with pytest.raises(ValueError, match="layer9"):
        models.feature_extraction.create_feature_extractor(model, ["layer9"])


def test_a_frozen_normalisation_loads_what_batch_norm_saved_and_learns_nothing() -> None:
    usual = torch.nn.BatchNorm2d(3)
    usual.running_mean, usual.running_var = torch.tensor([0.5, -1.0, 2.0]), torch.tensor([4.0, 0.25, 1.0])
    frozen = ops.FrozenBatchNorm2d(3)
    assert str(frozen.load_state_dict(usual.state_dict())) == "<All keys matched successfully>"
    assert (repr(frozen), list(frozen.parameters())) == ("FrozenBatchNorm2d(3, eps=1e-05)", [])
    pictures = torch.arange(24.0).reshape(2, 3, 2, 2)
    torch.testing.assert_close(frozen.train()(pictures), usual.eval()(pictures))
    assert frozen.running_mean.tolist() == [0.5, -1.0, 2.0]


def test_initial_values_have_the_known_spread() -> None:
    model = models.resnet18(num_classes=3)
    assert model.conv1.weight.std().item() == pytest.approx((2.0 / (64 * 49)) ** 0.5, rel=0.02)  # He et al., fan out
    assert model.bn1.weight.sum().item() == 64
    assert models.resnet18(num_classes=3, zero_init_residual=True).layer1[0].bn2.weight.abs().sum().item() == 0


def test_weights_are_read_from_the_hubs_folder(tmp_path: Path) -> None:
    hub.set_dir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"squeezenet1_1-b8a52dc0\.pth"):
        models.squeezenet1_1(weights="DEFAULT")
    (tmp_path / "checkpoints").mkdir()
    given = models.squeezenet1_1()
    torch.save(given.state_dict(), tmp_path / "checkpoints" / "squeezenet1_1-b8a52dc0.pth")
    for chosen in (
        {"weights": models.SqueezeNet1_1_Weights.IMAGENET1K_V1},
        {"weights": "DEFAULT"},
        {"pretrained": True},
    ):
        loaded = models.squeezenet1_1(**chosen)
        assert torch.equal(loaded.features[0].weight, given.features[0].weight)
    with pytest.raises(TypeError, match="SqueezeNet1_1_Weights"):
        models.squeezenet1_1(weights=models.ResNet18_Weights.DEFAULT)


def test_each_name_of_weights_is_a_file_with_a_preprocessing_of_its_own() -> None:
    first, second = models.ResNet50_Weights.IMAGENET1K_V1, models.ResNet50_Weights.IMAGENET1K_V2
    assert models.ResNet50_Weights.DEFAULT is second
    assert (first.url[-12:], first.transforms().resize_size) == ("0676ba61.pth", [256])
    assert (second.url[-12:], second.transforms().resize_size) == ("11ad3fa6.pth", [232])
    cubic, whole = models.Swin_T_Weights.DEFAULT.transforms(), models.EfficientNet_V2_L_Weights.DEFAULT.transforms()
    assert cubic.interpolation.value == whole.interpolation.value == "bicubic"
    assert (whole.mean, whole.std) == ([0.5] * 3, [0.5] * 3)
    assert [weights.name for weights in models.ViT_H_14_Weights] == [
        "IMAGENET1K_SWAG_E2E_V1", "IMAGENET1K_SWAG_LINEAR_V1"
    ]  # fmt: skip


def test_new_networks_give_scores_and_refuse_what_is_no_stage() -> None:
    stages = [
        models.efficientnet.FusedMBConvConfig(2, 3, 2, 8, 8, 2),
        models.efficientnet.MBConvConfig(2, 3, 1, 8, 16, 1),
    ]
    model = models.EfficientNet(stages, 0.1, num_classes=3, last_channel=24).eval()
    assert model(torch.zeros(2, 3, 16, 16)).shape == (2, 3)
    blocks = [models.convnext.CNBlockConfig(8, 16, 1), models.convnext.CNBlockConfig(16, None, 2)]
    assert repr(blocks[1]) == "CNBlockConfig(input_channels=16, out_channels=None, num_layers=2)"
    assert models.ConvNeXt(blocks, num_classes=3).eval()(torch.zeros(2, 3, 16, 16)).shape == (2, 3)
    for network, message in ((models.EfficientNet, "List.MBConvConfig."), (models.ConvNeXt, "List.CNBlockConfig.")):
        with pytest.raises(TypeError, match=message):
            network([1], 0.1)
        with pytest.raises(ValueError, match="should not be empty"):
            network([], 0.1)


def test_weights_know_their_preprocessing() -> None:
    weights = models.EfficientNet_B3_Weights.DEFAULT
    assert models.get_weight("EfficientNet_B3_Weights.IMAGENET1K_V1") is weights
    assert models.get_model_weights("efficientnet_b3") is models.EfficientNet_B3_Weights
    assert pickle.loads(pickle.dumps(weights)) is weights
    assert weights.transforms()(torch.zeros(3, 400, 330, dtype=torch.uint8)).shape == (3, 300, 300)
    with pytest.raises(ValueError, match="Unknown model"):
        models.get_model("resnet19")
