"""Arguments that do not fit are told with the name that torch gives the layer's function."""

from __future__ import annotations

from typing import Any

import pytest

from funcgrad import nn


@pytest.mark.parametrize(
    ("layer", "args", "kwargs", "message"),
    [
        (nn.Conv2d, (3,), {}, "Conv2d.__init__() missing 2 required positional arguments: 'out_channels' and 'kernel"),
        (nn.MaxPool2d, (), {}, "_MaxPoolNd.__init__() missing 1 required positional argument: 'kernel_size'"),
        (nn.BCELoss, (), {"foo": 1}, "_WeightedLoss.__init__() got an unexpected keyword argument 'foo'"),
        (nn.BatchNorm2d, (), {}, "_BatchNorm.__init__() missing 1 required positional argument: 'num_features'"),
        (nn.LazyBatchNorm1d, (1, 2, 3, 4, 5, 6, 7, 8), {}, "_LazyNormBase.__init__() takes from 1 to 7 positional"),
        (nn.Dropout2d, (), {"foo": 1}, "_DropoutNd.__init__() got an unexpected keyword argument 'foo'"),
        (nn.CELU, (1, 2, 3), {}, "CELU.__init__() takes from 1 to 3 positional arguments but 4 were given"),
        (nn.ReLU, (), {"foo": 1}, "ReLU.__init__() got an unexpected keyword argument 'foo'"),
    ],
)
def test_the_layer_names_itself(layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        layer(*args, **kwargs)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (nn.Conv2d(3, 2, 3), "Conv2d.forward() missing 1 required positional argument: 'input'"),
        (nn.LSTM(3, 4), "LSTM.forward() missing 1 required positional argument: 'input'"),
        (nn.BatchNorm2d(3), "_BatchNorm.forward() missing 1 required positional argument: 'input'"),
        (nn.ReflectionPad2d(1), "_ReflectionPadNd.forward() missing 1 required positional argument: 'input'"),
        (nn.ReLU6(), "Hardtanh.forward() missing 1 required positional argument: 'input'"),
    ],
)
def test_a_call_without_an_input_names_the_forward_function(layer: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        layer()
    assert str(caught.value) == message


def test_a_layer_of_the_user_inherits_the_name() -> None:
    class Mine(nn.Conv1d):
        pass

    with pytest.raises(TypeError, match=r"^Conv1d\.__init__\(\) missing"):
        Mine(3)  # pyright: ignore[reportCallIssue]
