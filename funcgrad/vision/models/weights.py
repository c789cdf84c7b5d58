"""Pretrained weights: their names, the preprocessing that they were trained with, and where their files must lie."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from enum import Enum
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, TypeVar

from funcgrad import hub, serialization
from funcgrad.vision.models.published import PUBLISHED
from funcgrad.vision.transforms.geometry import InterpolationMode
from funcgrad.vision.transforms.presets import ImageClassification

Builder = TypeVar("Builder", bound=Callable[..., Any])
BUILDERS: dict[str, Callable[..., Any]] = {}
ENUMS: dict[str, type[WeightsEnum]] = {}


class WeightsEnum(Enum):
    """The weights of one model. Value: the file, and what `ImageClassification` is made of."""

    @property
    def transforms(self) -> Callable[..., ImageClassification]:
        """What makes an input of a picture."""
        _, resized, cropped, *others = self.value
        options = dict(zip(("interpolation", "mean", "std"), others, strict=False))
        if "interpolation" in options:
            options["interpolation"] = InterpolationMode(options["interpolation"])
        return functools.partial(ImageClassification, crop_size=cropped, resize_size=resized, **options)

    @property
    def url(self) -> str:
        """Where torchvision gets the file."""
        return f"https://download.pytorch.org/models/{self.value[0]}.pth"

    @property
    def meta(self) -> dict[str, Any]:
        """What is known of the weights; the names of ImageNet's classes are not among it."""
        return {"num_classes": 1000, "min_size": (1, 1)}

    def get_state_dict(self, progress: bool = True, check_hash: bool = False) -> Any:
        """Load the file from the hub's folder; FileNotFoundError, with the place, where it is not.

        check_hash: RuntimeError where the file's SHA-256 does not begin with the hash in its name.
        """
        path = Path(hub.get_dir()) / "checkpoints" / f"{self.value[0]}.pth"
        if not path.exists():
            raise FileNotFoundError(
                f"weights {self}: there is no file {path}. Nothing is downloaded: get it from {self.url}, or pass "
                "weights=None."
            )
        if check_hash:
            hub.check_named_hash(path)
        return serialization.load(path, weights_only=True)


Weights = WeightsEnum


def weights_of(model: str) -> type[WeightsEnum]:
    """Return (and list) the enumeration of one model's weights, called like torchvision's."""
    name = f"{model}_Weights"
    members: list[tuple[str, Any]] = [(member, value) for member, *value in PUBLISHED[model]]
    members = [(member, tuple(value)) for member, value in members]
    plain = [value for member, value in members if "SWAG" not in member]
    members.append(("DEFAULT", plain[-1] if plain else members[0][1]))  # another name of one of them
    home = __package__  # it has them all: where pickle looks
    ENUMS[name] = WeightsEnum(name, members, module=home)  # type: ignore[assignment,arg-type] - functional form
    return ENUMS[name]


def model(enum: type[WeightsEnum] | None = None) -> Callable[[Builder], Builder]:
    """List a builder, and let it take torchvision's `weights`, `progress` and the older `pretrained`."""

    def listed(build: Builder) -> Builder:
        @functools.wraps(build)
        def builder(*, weights: Any = None, progress: bool = True, pretrained: bool = False, **options: Any) -> Any:
            chosen = _chosen(enum, weights if weights is not None else pretrained)
            if chosen is not None and "image_size" in inspect.signature(build).parameters:
                options.setdefault("image_size", chosen.value[2])
            made = build(**options)
            if chosen is not None:
                made.load_state_dict(chosen.get_state_dict(progress))
            return made

        def positional(*old: Any, **options: Any) -> Any:
            return builder(**dict(zip(("weights", "progress"), old, strict=False)), **options)

        named: Any = functools.wraps(build)(positional)  # a Builder by its name and its result
        BUILDERS[build.__name__] = named
        return named

    return listed


def _chosen(enum: Any, weights: Any) -> Any:
    if weights is None or weights is False:
        return None
    if enum is None:
        raise ValueError("no pretrained weights were published for this model: pass weights=None")
    if weights is True:
        return next(iter(enum))  # what there was before weights had names
    if isinstance(weights, str):
        return enum[weights.rpartition(".")[2]]
    if not isinstance(weights, enum):
        raise TypeError(
            f"Invalid Weight class provided; expected {enum.__name__} but received {type(weights).__name__}."
        )
    return weights


def list_models(
    module: Any = None, include: str | Iterable[str] | None = None, exclude: str | Iterable[str] | None = None
) -> list[str]:
    """Return the names of models: those of a module, that match one of `include` and none of `exclude` ("resnet*")."""
    room = "models" if module is None else module.__name__.rpartition(".")[2]
    names = [name for name, build in BUILDERS.items() if room in build.__module__.split(".")]
    if include is not None:
        names = [name for name in names if _matches(name, include)]
    return sorted(name for name in names if exclude is None or not _matches(name, exclude))


def _matches(name: str, patterns: str | Iterable[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in ([patterns] if isinstance(patterns, str) else patterns))


def get_model_builder(name: str) -> Callable[..., Any]:
    """Return the function that makes a model; ValueError for a name that there is not."""
    if name.lower() not in BUILDERS:
        raise ValueError(f"Unknown model {name}")
    return BUILDERS[name.lower()]


def get_model(name: str, **config: Any) -> Any:
    """Return a new model by its name."""
    return get_model_builder(name)(**config)


def get_weight(name: str) -> WeightsEnum:
    """Return weights by their full name, "ResNet50_Weights.IMAGENET1K_V1"."""
    enum, _, member = name.partition(".")
    return ENUMS[enum][member]


def get_model_weights(name: Any) -> Any:
    """Return the enumeration of a model's weights."""
    wanted = (name if isinstance(name, str) else name.__name__).replace("_", "").lower()
    return next(enum for key, enum in ENUMS.items() if key.removesuffix("_Weights").replace("_", "").lower() == wanted)
