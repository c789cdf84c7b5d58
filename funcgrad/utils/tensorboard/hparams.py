"""What TensorBoard's page of hyperparameters reads. Source: tensorboard/plugins/hparams/plugin_data.proto."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.utils.tensorboard.event_file import content, double, integer, plugin

_TEXT, _NUMBER = 1, 3


def hparam_values(
    hparams: Mapping[str, Any], metrics: Mapping[str, Any], domains: Mapping[str, Any] | None = None
) -> Iterator[bytes]:
    """Return the three summary values that announce a run with its hyperparameters (those not None) and metrics.

    domains: the values that hyperparameters may have, as lists. TypeError for what are no dictionaries, and for values
    of another type; ValueError for hyperparameters that are no number, truth value, text or tensor of one element.
    """
    for name, found in (("hparam_dict", hparams), ("metric_dict", metrics), ("hparam_domain_discrete", domains or {})):
        if not isinstance(found, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    for name, listed in (domains or {}).items():
        if name not in hparams or not isinstance(listed, list) or not all(
            isinstance(one, type(hparams[name])) for one in listed
        ):  # fmt: skip
            raise TypeError(
                f"parameter: hparam_domain_discrete[{name}] should be a list of same type as hparam_dict[{name}]."
            )
    given = {k: v.item() if isinstance(v, Tensor) else v for k, v in hparams.items() if v is not None}
    if not all(isinstance(value, (int, float, str)) for value in given.values()):
        raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
    infos = b"".join(_info(name, value, (domains or {}).get(name)) for name, value in given.items())
    wanted = b"".join(content(5, content(1, content(2, name))) for name in metrics)
    entries = (content(1, content(1, name) + content(2, _value(value))) for name, value in given.items())
    return iter(
        (
            _value_of("experiment", content(2, infos + wanted)),
            _value_of("session_start_info", content(3, b"".join(entries))),
            _value_of("session_end_info", content(4, integer(1, 1))),
        )
    )


def _info(name: str, value: Any, domain: Sequence[Any] | None) -> bytes:
    listed = b"" if domain is None else content(5, b"".join(content(1, _value(one)) for one in domain))
    return content(4, content(1, name) + integer(4, _kind(value)) + listed)


def _value_of(part: str, data: bytes) -> bytes:
    return content(1, f"_hparams_/{part}") + plugin("hparams", data)


def _kind(value: Any) -> int:
    return _TEXT if isinstance(value, str) else _NUMBER


def _value(value: Any) -> bytes:
    return content(3, value) if isinstance(value, str) else double(2, float(value))
