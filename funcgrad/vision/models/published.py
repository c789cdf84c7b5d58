"""The weights that torchvision publishes: the files' names, and how pictures are prepared for them."""

from __future__ import annotations

from typing import Any

# Model -> a name, a file, the sizes resized to and cropped to; where they are not bilinear and ImageNet's, how pictures
# are resized, their mean and deviation. As torchvision 0.29 lists them.
PUBLISHED: dict[str, tuple[tuple[Any, ...], ...]] = {
    "AlexNet": (("IMAGENET1K_V1", "alexnet-owt-7be5be79", 256, 224),),
    "ConvNeXt_Base": (("IMAGENET1K_V1", "convnext_base-6075fbad", 232, 224),),
    "ConvNeXt_Large": (("IMAGENET1K_V1", "convnext_large-ea097f82", 232, 224),),
    "ConvNeXt_Small": (("IMAGENET1K_V1", "convnext_small-0c510722", 230, 224),),
    "ConvNeXt_Tiny": (("IMAGENET1K_V1", "convnext_tiny-983f1562", 236, 224),),
    "DenseNet121": (("IMAGENET1K_V1", "densenet121-a639ec97", 256, 224),),
    "DenseNet161": (("IMAGENET1K_V1", "densenet161-8d451a50", 256, 224),),
    "DenseNet169": (("IMAGENET1K_V1", "densenet169-b2777c0a", 256, 224),),
    "DenseNet201": (("IMAGENET1K_V1", "densenet201-c1103571", 256, 224),),
    "EfficientNet_B0": (("IMAGENET1K_V1", "efficientnet_b0_rwightman-7f5810bc", 256, 224, "bicubic"),),
    "EfficientNet_B1": (
        ("IMAGENET1K_V1", "efficientnet_b1_rwightman-bac287d4", 256, 240, "bicubic"),
        ("IMAGENET1K_V2", "efficientnet_b1-c27df63c", 255, 240),
    ),
    "EfficientNet_B2": (("IMAGENET1K_V1", "efficientnet_b2_rwightman-c35c1473", 288, 288, "bicubic"),),
    "EfficientNet_B3": (("IMAGENET1K_V1", "efficientnet_b3_rwightman-b3899882", 320, 300, "bicubic"),),
    "EfficientNet_B4": (("IMAGENET1K_V1", "efficientnet_b4_rwightman-23ab8bcd", 384, 380, "bicubic"),),
    "EfficientNet_B5": (("IMAGENET1K_V1", "efficientnet_b5_lukemelas-1a07897c", 456, 456, "bicubic"),),
    "EfficientNet_B6": (("IMAGENET1K_V1", "efficientnet_b6_lukemelas-24a108a5", 528, 528, "bicubic"),),
    "EfficientNet_B7": (("IMAGENET1K_V1", "efficientnet_b7_lukemelas-c5b4e57e", 600, 600, "bicubic"),),
    "EfficientNet_V2_L": (
        ("IMAGENET1K_V1", "efficientnet_v2_l-59c71312", 480, 480, "bicubic", (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
    ),
    "EfficientNet_V2_M": (("IMAGENET1K_V1", "efficientnet_v2_m-dc08266a", 480, 480),),
    "EfficientNet_V2_S": (("IMAGENET1K_V1", "efficientnet_v2_s-dd5fe13b", 384, 384),),
    "GoogLeNet": (("IMAGENET1K_V1", "googlenet-1378be20", 256, 224),),
    "Inception_V3": (("IMAGENET1K_V1", "inception_v3_google-0cc3c7bd", 342, 299),),
    "MobileNet_V2": (
        ("IMAGENET1K_V1", "mobilenet_v2-b0353104", 256, 224),
        ("IMAGENET1K_V2", "mobilenet_v2-7ebf99e0", 232, 224),
    ),
    "MobileNet_V3_Large": (
        ("IMAGENET1K_V1", "mobilenet_v3_large-8738ca79", 256, 224),
        ("IMAGENET1K_V2", "mobilenet_v3_large-5c1a4163", 232, 224),
    ),
    "MobileNet_V3_Small": (("IMAGENET1K_V1", "mobilenet_v3_small-047dcff4", 256, 224),),
    "ResNet101": (
        ("IMAGENET1K_V1", "resnet101-63fe2227", 256, 224),
        ("IMAGENET1K_V2", "resnet101-cd907fc2", 232, 224),
    ),
    "ResNet152": (
        ("IMAGENET1K_V1", "resnet152-394f9c45", 256, 224),
        ("IMAGENET1K_V2", "resnet152-f82ba261", 232, 224),
    ),
    "ResNet18": (("IMAGENET1K_V1", "resnet18-f37072fd", 256, 224),),
    "ResNet34": (("IMAGENET1K_V1", "resnet34-b627a593", 256, 224),),
    "ResNet50": (("IMAGENET1K_V1", "resnet50-0676ba61", 256, 224), ("IMAGENET1K_V2", "resnet50-11ad3fa6", 232, 224),),
    "ResNeXt101_32X8D": (
        ("IMAGENET1K_V1", "resnext101_32x8d-8ba56ff5", 256, 224),
        ("IMAGENET1K_V2", "resnext101_32x8d-110c445d", 232, 224),
    ),
    "ResNeXt101_64X4D": (("IMAGENET1K_V1", "resnext101_64x4d-173b62eb", 232, 224),),
    "ResNeXt50_32X4D": (
        ("IMAGENET1K_V1", "resnext50_32x4d-7cdf4587", 256, 224),
        ("IMAGENET1K_V2", "resnext50_32x4d-1a0047aa", 232, 224),
    ),
    "SqueezeNet1_0": (("IMAGENET1K_V1", "squeezenet1_0-b66bff10", 256, 224),),
    "SqueezeNet1_1": (("IMAGENET1K_V1", "squeezenet1_1-b8a52dc0", 256, 224),),
    "Swin_B": (("IMAGENET1K_V1", "swin_b-68c6b09e", 238, 224, "bicubic"),),
    "Swin_S": (("IMAGENET1K_V1", "swin_s-5e29d889", 246, 224, "bicubic"),),
    "Swin_T": (("IMAGENET1K_V1", "swin_t-704ceda3", 232, 224, "bicubic"),),
    "VGG11": (("IMAGENET1K_V1", "vgg11-8a719046", 256, 224),),
    "VGG11_BN": (("IMAGENET1K_V1", "vgg11_bn-6002323d", 256, 224),),
    "VGG13": (("IMAGENET1K_V1", "vgg13-19584684", 256, 224),),
    "VGG13_BN": (("IMAGENET1K_V1", "vgg13_bn-abd245e5", 256, 224),),
    "VGG16": (("IMAGENET1K_V1", "vgg16-397923af", 256, 224),),
    "VGG16_BN": (("IMAGENET1K_V1", "vgg16_bn-6c64b313", 256, 224),),
    "VGG19": (("IMAGENET1K_V1", "vgg19-dcbb9e9d", 256, 224),),
    "VGG19_BN": (("IMAGENET1K_V1", "vgg19_bn-c79401a0", 256, 224),),
    "ViT_B_16": (
        ("IMAGENET1K_V1", "vit_b_16-c867db91", 256, 224),
        ("IMAGENET1K_SWAG_E2E_V1", "vit_b_16_swag-9ac1b537", 384, 384, "bicubic"),
        ("IMAGENET1K_SWAG_LINEAR_V1", "vit_b_16_lc_swag-4e70ced5", 224, 224, "bicubic"),
    ),
    "ViT_B_32": (("IMAGENET1K_V1", "vit_b_32-d86f8d99", 256, 224),),
    "ViT_H_14": (
        ("IMAGENET1K_SWAG_E2E_V1", "vit_h_14_swag-80465313", 518, 518, "bicubic"),
        ("IMAGENET1K_SWAG_LINEAR_V1", "vit_h_14_lc_swag-c1eb923e", 224, 224, "bicubic"),
    ),
    "ViT_L_16": (
        ("IMAGENET1K_V1", "vit_l_16-852ce7e3", 242, 224),
        ("IMAGENET1K_SWAG_E2E_V1", "vit_l_16_swag-4f3808c9", 512, 512, "bicubic"),
        ("IMAGENET1K_SWAG_LINEAR_V1", "vit_l_16_lc_swag-4d563306", 224, 224, "bicubic"),
    ),
    "ViT_L_32": (("IMAGENET1K_V1", "vit_l_32-c7638314", 256, 224),),
    "Wide_ResNet101_2": (
        ("IMAGENET1K_V1", "wide_resnet101_2-32ee1156", 256, 224),
        ("IMAGENET1K_V2", "wide_resnet101_2-d733dc28", 232, 224),
    ),
    "Wide_ResNet50_2": (
        ("IMAGENET1K_V1", "wide_resnet50_2-95faca4d", 256, 224),
        ("IMAGENET1K_V2", "wide_resnet50_2-9ba9bcbe", 232, 224),
    ),
}  # fmt: skip
