"""What TensorBoard's page of hyperparameters reads. Source: tensorboard/plugins/hparams/plugin_data.proto."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.utils.tensorboard.event_file import content, double, integer, plugin

_TEXT, _TRUTH, _NUMBER = 1, 2, 3


def hparam_values(hparams: Mapping[str, Any], metrics: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the three summary values that announce a run with its hyperparameters (those not None) and metrics."""
    given = {k: v.item() if isinstance(v, Tensor) else v for k, v in hparams.items() if v is not None}
    infos = b"".join(content(4, content(1, name) + integer(4, _kind(value))) for name, value in given.items())
    wanted = b"".join(content(5, content(1, content(2, name))) for name in metrics)
    entries = (content(1, content(1, name) + content(2, _value(value))) for name, value in given.items())
    yield _value_of("experiment", content(2, infos + wanted))
    yield _value_of("session_start_info", content(3, b"".join(entries) + double(5, time.time())))
    yield _value_of("session_end_info", content(4, integer(1, 1)))


def _value_of(part: str, data: bytes) -> bytes:
    return content(1, f"_hparams_/{part}") + plugin("hparams", data)


def _kind(value: Any) -> int:
    if isinstance(value, bool):
        return _TRUTH
    return _NUMBER if isinstance(value, (int, float)) else _TEXT


def _value(value: Any) -> bytes:
    kind = _kind(value)
    if kind == _TRUTH:
        return integer(4, int(value))
    return double(2, float(value)) if kind == _NUMBER else content(3, str(value))
